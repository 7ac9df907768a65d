"""What is wrong with a stack's settings, said so that its author can mend it without reading the source."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the key as the stack file spells it, what it got, and what it may be."""

    key: str  # gpuPools.train.spot.maxNodes
    got: str
    allowed: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.key}: got {self.got}; {self.allowed}"
        return f"{text} ({self.hint})" if self.hint else text


class SettingsError(Exception):
    """All that is wrong with the settings, at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean x?` for a near miss, else an empty text."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {found[0]}?" if found else ""
