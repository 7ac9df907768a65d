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
from trainyard.rehearsal.works.check import LAST, check_works


def judged_by_rules(
    case: Case, refused: Callable[[], Refused], beside: Beside | None = None
) -> tuple[list[Finding], Mapping[str, float]]:
    """Everything that the clouds would refuse or that would not work, and the seconds that each of both took.

    Of what is of a wrong kind nothing is known, and what the schema says of a place is not said again. Where that is
    not known from the beginning, as in another process, the values are looked at meanwhile as if it were nothing, which
    it nearly always is; else they are looked at once more.

    Args:
        case: what was recorded.
        refused: gives what is refused of it before, once that is known.
        beside: who may play the room `LAST` meanwhile.
    """
    started = time.perf_counter()
    values = None
    if beside is not None:
        with suppress(Exception):  # of a value of a wrong kind, which is told; any other comes up again below
            values = check_values(case.resources, case.context)
    before = refused()
    readable = without_wrong_kinds(case.resources, before.schema)
    if values is None or readable is not case.resources:
        values = check_values(readable, case.context)
    found = [finding for finding in values if not any(_about_the_same(finding, other) for other in before.schema)]
    between = time.perf_counter()
    found += broken(case, [*before.engine, *before.schema, *found], beside)
    return found, {"refusals": between - started, "works": time.perf_counter() - between}


def broken(case: Case, refused: Sequence[Finding], beside: Beside | None = None) -> list[Finding]:
    """Everything that would be accepted and not work. Of what is refused as being of a wrong kind nothing is known, and
    whoever plays `LAST` beside knows nothing of that."""
    readable = without_wrong_kinds(case.resources, refused)
    if beside is None or readable is not case.resources:
        return check_works(readable, case.context)
    found = check_works(readable, case.context, plays=lambda room: room != LAST or not beside.took_it())
    if beside.took_it():
        theirs = beside.found()
        found += theirs if theirs is not None else last_broken(case)
    return found


def last_broken(case: Case) -> list[Finding]:
    """The share of `broken` that may be found beside, where nothing is of a wrong kind."""
    return check_works(case.resources, case.context, plays=LAST.__eq__)


class Beside(Protocol):
    """Another process that may play the room `LAST`."""

    def took_it(self) -> bool:
        """Whether it plays it. If not yet, it never will."""

    def found(self) -> list[Finding] | None:
        """What it found, once it has played; None where it did not come to an end."""


def _about_the_same(value: Finding, schema: Finding) -> bool:
    """Whether a finding on a value only repeats what the schema says of the same place, or of one around or in it."""
    if value.urn != schema.urn or schema.level != "error":
        return False
    inner, outer = sorted((value.path, schema.path), key=len, reverse=True)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))
