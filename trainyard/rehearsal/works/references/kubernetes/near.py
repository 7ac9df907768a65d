"""Names that are nearly another one: a letter off, another separator, a word left out. `web-1` and `web-2` are two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

_CLOSE: Final = 0.8
_CLOSE_BESIDE_OTHERS: Final = 0.55
_SHORT: Final = 3  # letters of a word
_DIGITS: Final = re.compile(r"\d+")
_SEPARATORS: Final = re.compile(r"[-_./]")


def is_near(one: str, other: str, cutoff: float = _CLOSE) -> bool:
    """Whether one text was probably meant for the other."""
    if one == other or _DIGITS.sub("#", one) == _DIGITS.sub("#", other):
        return False
    if _SEPARATORS.sub("", one).lower() == _SEPARATORS.sub("", other).lower():
        return True
    if _differs_in_a_short_word(one, other):
        return False
    if other == f"{one}s" or one == f"{other}s":
        return True
    matcher = SequenceMatcher(None, one, other)
    return matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff


def _differs_in_a_short_word(one: str, other: str) -> bool:
    """Short words that differ are two things: `gpu` and `cpu`, `efs` and `fsx`."""
    words, others = _SEPARATORS.split(one), _SEPARATORS.split(other)
    wrong = [(word, by) for word, by in zip(words, others, strict=False) if word != by]
    return (
        len(words) == len(others)
        and len(words) > 1
        and any(sorted(word) != sorted(by) and max(len(word), len(by)) <= _SHORT for word, by in wrong)
    )


def nearest_of(name: str, known: Iterable[str], cutoff: float = _CLOSE) -> str:
    """The known name that was probably meant; empty where none was."""
    found = [other for other in known if is_near(name, other, cutoff)]
    return max(found, key=lambda other: SequenceMatcher(None, name, other).ratio(), default="")


def missed(wanted: Mapping[str, Any], labels: Mapping[str, Any]) -> tuple[str, str]:
    """What a selector says and what the labels say, where they differ in one pair that is nearly the same; empty texts
    where they are alike, or simply others."""
    wrong = [(key, value) for key, value in wanted.items() if labels.get(key) != value]
    if len(wrong) != 1:
        return "", ""
    key, value = wrong[0]
    cutoff = _CLOSE if len(wanted) == 1 else _CLOSE_BESIDE_OTHERS
    said, given = f"{key}: {value}", labels.get(key)
    if isinstance(given, str) and is_near(str(value), given, cutoff):
        return said, f"{key}: {given}"
    for other, found in labels.items():
        if found == value and isinstance(found, str) and other not in wanted and is_near(key, other, cutoff):
            return said, f"{other}: {found}"
    return "", ""
