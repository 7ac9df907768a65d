"""What the rules find in a recorded stack: what a cloud would refuse, and what would be accepted and not work.

This imports all rules, which is as long as recording a small stack: whoever only records does without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import Finding
from trainyard.rehearsal.context import Case, Refused
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works, in_turn


def judged_by_rules(
    case: Case, refused: Callable[[], Refused], beside: Beside | None = None
) -> tuple[list[Finding], Mapping[str, float]]:
    """Everything that the clouds would refuse or that would not work, and the seconds that each of both took.

    Of what is of a wrong kind nothing is known, and what the schema says of a place is not said again. Where that is
    not known from the beginning, as in another process, all is looked at meanwhile as if it were nothing, which it
    nearly always is; else it is looked at once more.

    Args:
        case: what was recorded.
        refused: gives what is refused of it before, once that is known.
        beside: who may play rooms meanwhile.
    """
    early = None
    if beside is not None:
        with suppress(Exception):  # of a value of a wrong kind, which is told; any other comes up again below
            early = _judged(case, Refused([], []), beside)
    before = refused()
    if early is None or without_wrong_kinds(case.resources, [*before.engine, *before.schema]) is not case.resources:
        early = _judged(case, before)
    values, works, seconds = early
    return [*_besides(values, before), *works], seconds


def _judged(
    case: Case, before: Refused, beside: Beside | None = None
) -> tuple[list[Finding], list[Finding], Mapping[str, float]]:
    """What is refused, what would not work, and the seconds of both."""
    started = time.perf_counter()
    values = check_values(without_wrong_kinds(case.resources, before.schema), case.context)
    between = time.perf_counter()
    works = broken(case, [*before.engine, *before.schema, *_besides(values, before)], beside)
    return values, works, {"refusals": between - started, "works": time.perf_counter() - between}


def broken(case: Case, refused: Sequence[Finding], beside: Beside | None = None) -> list[Finding]:
    """Everything that would be accepted and not work. Of what is refused as being of a wrong kind nothing is known, and
    whoever plays beside knows nothing of that."""
    readable = without_wrong_kinds(case.resources, refused)
    if beside is None or readable is not case.resources:
        return check_works(readable, case.context)
    share = _Share(beside.take)
    found = check_works(case.resources, case.context, plays=share)
    theirs = beside.found()
    return found + (check_works(case.resources, case.context, plays=share.leaves) if theirs is None else theirs)


def broken_beside(case: Case, take: Callable[[], int | None]) -> list[Finding]:
    """The share of `broken` that another process finds, where nothing is of a wrong kind; `take` as of `Beside`."""
    return check_works(case.resources, case.context, plays=_Share(take))


class Beside(Protocol):
    """Another process that may play rooms."""

    def take(self) -> int | None:
        """The number of the next room that nobody has begun to play, which this process plays; None where none is."""

    def found(self) -> list[Finding] | None:
        """What it found in the rooms that it took; None where it took none, or did not come to an end."""


class _Share:
    """The rooms that one of two processes plays: always the next that neither has begun to play."""

    def __init__(self, take: Callable[[], int | None]) -> None:
        self._take = take
        self._taken: int | None = -1
        self._plays: dict[str, bool] = {}

    def __call__(self, room: str) -> bool:
        """Whether it plays a room. It is asked of each when it would be its turn, and says of each the same again."""
        if room not in self._plays:
            number = in_turn().index(room)
            if self._taken is not None and self._taken < number:
                self._taken = self._take()
            self._plays[room] = self._taken == number
        return self._plays[room]

    def leaves(self, room: str) -> bool:
        """Whether a room is left to the other process."""
        return not self(room)


def _besides(values: Sequence[Finding], before: Refused) -> list[Finding]:
    """What is found in values, without what the schema says of the same place."""
    return [finding for finding in values if not any(_about_the_same(finding, other) for other in before.schema)]


def _about_the_same(value: Finding, schema: Finding) -> bool:
    """Whether a finding on a value only repeats what the schema says of the same place, or of one around or in it."""
    if value.urn != schema.urn or schema.level != "error":
        return False
    inner, outer = sorted((value.path, schema.path), key=len, reverse=True)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))
