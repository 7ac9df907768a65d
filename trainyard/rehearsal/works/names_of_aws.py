"""Names of things on AWS that nearly are another thing's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainyard.problems import nearest

_SLIP: Final = 0.9
"""How like another a name is that has a letter wrong; sisters (`train-a`, `train-b`) are told apart by a whole word."""


def slip(name: str, known: Iterable[str]) -> str:
    """`did you mean x?` for a name with a letter wrong; empty for a sister with a short word or a number of its own."""
    hint = nearest(name, known, cutoff=_SLIP)
    if not hint:
        return ""
    other = hint.removeprefix("did you mean ").removesuffix("?")
    longer, shorter = sorted((name, other), key=len, reverse=True)
    if re.match(r"[-_./:]", longer.removeprefix(shorter)) and longer.startswith(shorter):
        return ""  # of one name and a word more
    mine, theirs = (re.split(r"[-_./:]", text) for text in (name, other))
    if len(mine) == len(theirs):
        apart = [(one, two) for one, two in zip(mine, theirs, strict=True) if one != two]
        if all(min(len(one), len(two)) <= 2 or one.isdigit() or two.isdigit() for one, two in apart):
            return ""
        if all(re.sub(r"\d+$", "", one) == re.sub(r"\d+$", "", two) for one, two in apart):
            return ""
    return hint
