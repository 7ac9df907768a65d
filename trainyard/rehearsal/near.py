"""Names that are nearly another one: a letter off, another separator, two letters turned round.

Where others may make objects only a slip of the pen is a mistake. `networking.gke.io` is not `networking.k8s.io`;
`web-1` and `web-2` are two, `gpu` and `cpu` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

_LETTERS_A_SLIP: Final = 6  # of the shorter name, for each slip beyond the first
_MOST_SLIPS: Final = 2
_ALIKE: Final = 0.7
"""How much two values have in common that stand beside labels which are equal (a ratio of difflib)."""
_SHORT: Final = 3  # letters of a word
_DIGITS: Final = re.compile(r"\d+")
_SEPARATORS: Final = re.compile(r"[-_./:]")


def is_near(one: str, other: str) -> bool:
    """Whether one text was probably meant for the other."""
    if one == other or _are_two(one, other):
        return False
    if _SEPARATORS.sub("", one).lower() == _SEPARATORS.sub("", other).lower():
        return True
    shorter = min(len(one), len(other))
    most = min(_MOST_SLIPS, 1 + shorter // (2 * _LETTERS_A_SLIP)) if shorter >= _SHORT else 0
    return abs(len(one) - len(other)) <= most and _slips(one, other, most) <= most


def _are_two(one: str, other: str) -> bool:
    """Numbered things, and short words that differ, are things of their own."""
    if _DIGITS.sub("#", one) == _DIGITS.sub("#", other):
        return True
    words, others = _SEPARATORS.split(one), _SEPARATORS.split(other)
    wrong = [(word, by) for word, by in zip(words, others, strict=False) if word != by]
    return len(words) == len(others) and any(
        sorted(word) != sorted(by) and max(len(word), len(by)) <= _SHORT for word, by in wrong
    )


def _slips(one: str, other: str, most: int) -> int:
    """Letters left out, put in, changed or turned round with the next one; more than `most` is not counted on."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one, 1):
        found = [index]
        for place, by in enumerate(other, 1):
            best = min(row[place] + 1, found[-1] + 1, row[place - 1] + (letter != by))
            if index > 1 and place > 1 and letter == other[place - 2] and one[index - 2] == by:
                best = min(best, before[place - 2] + 1)
            found.append(best)
        if min(found) > most:
            return most + 1
        before, row = row, found
    return row[-1]


def nearest_of(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant; empty where none was."""
    return min(
        (other for other in known if is_near(name, other)),
        key=lambda other: _slips(name, other, max(len(name), len(other))),
        default="",
    )


def missed(wanted: Mapping[str, Any], labels: Mapping[str, Any]) -> tuple[str, str]:
    """What a selector says and what the labels say, where they differ in one pair that is nearly the same; empty texts
    where they are alike, or simply others."""
    wrong = [(key, value) for key, value in wanted.items() if labels.get(key) != value]
    if len(wrong) != 1:
        return "", ""
    key, value = wrong[0]
    said, given = f"{key}: {value}", labels.get(key)
    if isinstance(given, str) and (is_near(str(value), given) or (len(wanted) > 1 and _are_alike(str(value), given))):
        return said, f"{key}: {given}"
    for other, found in labels.items():
        if found == value and isinstance(found, str) and other not in wanted and is_near(key, other):
            return said, f"{other}: {found}"
    return "", ""


def _are_alike(one: str, other: str) -> bool:
    return not _are_two(one, other) and SequenceMatcher(None, one, other).ratio() >= _ALIKE
