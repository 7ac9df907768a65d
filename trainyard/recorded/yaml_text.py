"""YAML that lies as a text among recorded inputs: a chart's configuration, a node's."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import yaml

from trainyard.safe_yaml import SAFE_LOADER

_OPENING: Final = ("[", "{", "- ", "? ")
"""What one more level of a text begins with; one by indentation alone takes as many blanks as there are levels."""
_DEEPEST: Final = 10_000
"""Levels that the C loader bears; of more than these Python's own says that they are too many."""


@lru_cache(maxsize=256)
def read_yaml(text: str) -> Any:
    """What a text of YAML says, read once a process: several rooms ask for the same one, and so do stacks alike.

    Nobody changes what is returned. Raises `yaml.YAMLError`, and `RecursionError` for what is nested too deep.
    """
    may_be_deep = sum(map(text.count, _OPENING)) > _DEEPEST
    return yaml.load(text, Loader=yaml.SafeLoader if may_be_deep else SAFE_LOADER)  # noqa: S506 (both are safe)
