"""Names of things on AWS that nearly are another thing's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.near import is_near

_SLIP: Final = 0.9
"""How like another a name is that has a letter wrong; long sisters are as like, and a word tells them apart."""
_SEPARATORS: Final = re.compile(r"[-_./:]")


def slip(name: str, known: Iterable[str]) -> str:
    """`did you mean x?` for a name with a letter wrong; empty for a sister: one with a word or a number of its own.

    `models-us-west-2` and `models-us-east-1` are two, `pretraining` and `posttraining` too.
    """
    hint = nearest(name, known, cutoff=_SLIP)
    if not hint:
        return ""
    other = hint.removeprefix("did you mean ").removesuffix("?")
    longer, shorter = sorted((name, other), key=len, reverse=True)
    if _SEPARATORS.match(longer.removeprefix(shorter)) and longer.startswith(shorter):
        return ""  # of one name and a word more
    mine, theirs = (_SEPARATORS.split(text) for text in (name, other))
    if len(mine) != len(theirs):
        return hint if is_near(name, other) else ""
    apart = [(one, two) for one, two in zip(mine, theirs, strict=True) if one != two]
    return hint if all(is_near(one, two) and not _are_numbered(one, two) for one, two in apart) else ""


def _are_numbered(one: str, other: str) -> bool:
    return re.sub(r"\d+$", "", one) == re.sub(r"\d+$", "", other)
