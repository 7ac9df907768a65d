"""What is wrong with a stack's settings, said so that its author can mend it without reading the source."""

from __future__ import annotations

import difflib
import json
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

LONGEST_VALUE = 60
"""Characters of a value that a message quotes."""

MOST_NAMES = 20
"""Names of a user's own, teams for instance, that a message lists."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the key as the stack file spells it, what it got, and what it may be."""

    key: str  # gpuPools.train.spot.maxNodes
    got: str
    allowed: str
    hint: str = ""

    def __post_init__(self) -> None:
        """Escapes what a terminal would obey or hide: a stack file may come from whoever opened a pull request."""
        if not self.got.strip():
            object.__setattr__(self, "got", json.dumps(self.got))  # an empty text is seen too
        for field in ("key", "got", "allowed", "hint"):
            object.__setattr__(self, field, _printable(getattr(self, field)))

    def __str__(self) -> str:
        text = f"{self.key}: got {self.got}; {self.allowed}"
        return f"{text} ({self.hint})" if self.hint else text


class SettingsError(Exception):
    """All that is wrong with the settings, at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def _printable(text: str) -> str:
    """The text with escapes for control characters, line breaks and marks of direction."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def some_of(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a row for a message: the first of many, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {rest} more"


def count(number: float, noun: str, nouns: str = "") -> str:
    """`1 error`, `2 errors`, `1,024 nodes`, `0.5 hours`; `nouns` where its plural is not the noun and an `s`."""
    said = f"{number:,.0f}" if number % 1 == 0 else f"{number:,.10g}"
    return f"{said} {noun if number == 1 else nouns or f'{noun}s'}"


def in_one_line(error: BaseException) -> str:
    """An exception in one line: what it is, and the innermost line that raised it."""
    text = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{f': {text}' if text else ''}{place}"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`did you mean x?` for a near miss, else an empty text; `cutoff` (0 to 1) says how near."""
    found = nearest_word(word, known, cutoff)
    return f"did you mean {found}?" if found else ""


def nearest_word(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The word itself that `nearest` asks about, where it goes into another text."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), "")


def kind_of(value: Any) -> str:
    """What a value is, without the value: it may be a secret at a wrong place, and messages reach the logs of CI."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return f"a text of {len(value)} character{'s' if len(value) != 1 else ''}"
    if isinstance(value, Mapping):
        return f"a mapping of {len(value)} key{'s' if len(value) != 1 else ''}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "a date" if hasattr(value, "year") else "a value"


def shown(value: Any) -> str:
    """A value of a key that is known to hold no secret, as a message quotes it: a short one itself, else its kind."""
    if value is None or isinstance(value, Mapping | list | tuple):
        return kind_of(value)
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else kind_of(value)


def spell_path(path: Iterable[str | int]) -> str:
    """A place in a stack file as its author would say it: teams[0].name."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        name = step if len(step) <= LONGEST_VALUE else f"{step[: LONGEST_VALUE - 1]}…"
        name = name or '""'  # an empty key is seen too
        text += f".{name}" if text else name
    return text
