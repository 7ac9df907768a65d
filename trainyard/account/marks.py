"""By what an environment's things are known in an account that has others' too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MARKS: Final = ("client", "environment")
"""Keys of the tags, on Google Cloud labels, that name an environment together."""


def marks_of(tags: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those of a plan's tags by which what is a stack's is told from what is not."""
    return {key: value for key, value in tags if key in MARKS}
