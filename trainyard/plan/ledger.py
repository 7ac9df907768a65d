"""Collects, while a plan is made, why each value is what it is and what is wrong with the request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from trainyard.plan.parts import Decision
from trainyard.problems import LONGEST_VALUE, Problem, kind_of

T = TypeVar("T")


class Ledger:
    """Decisions and problems of one plan, in the order in which they were met."""

    def __init__(self, region_known: bool = True) -> None:
        self.region_known = region_known
        self.decisions: list[Decision] = []
        self.problems: list[Problem] = []

    def decide(self, key: str, value: T, source: str) -> T:
        """Records where a value comes from, and hands it back."""
        self.decisions.append(Decision(key, spell(value), source))
        return value

    def problem(self, key: str, got: object, allowed: str, hint: str = "") -> None:
        """Records a mistake of the settings."""
        self.problems.append(Problem(key, spell(_bounded(got)), allowed, hint))

    def regional(self, key: str, got: object, allowed: str, hint: str = "") -> None:
        """Records a mistake that depends on the region; without a known region there is nothing to compare with."""
        if self.region_known:
            self.problem(key, got, allowed, hint)


MOST_ITEMS = 20
"""How many entries of a list a message quotes."""


def _bounded(value: object) -> object:
    """The value with the kind of every long text in place of the text, which may be a password at a wrong place."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else kind_of(value)
    if isinstance(value, Iterable):
        items = [_bounded(item) for item in value]
        more = [f"and {len(items) - MOST_ITEMS} more"] if len(items) > MOST_ITEMS else []
        return [*items[:MOST_ITEMS], *more]
    return value


def spell(value: object) -> str:
    """A value as a person would write it in a stack file."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return ", ".join(spell(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
