"""Two recordings compared, for the tests: an example and what a hand makes of it, or small stacks of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.rehearsal.change.compare import compare
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.change.judge import judged
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.rehearse import Rehearsal

Changed = Callable[[Sequence[RecordedResource]], list[RecordedResource]]


def changed(rehearsal: Rehearsal, *changes: Changed, of_what_is: bool = False, deployed: bool = False) -> Change:
    """The change of a recorded stack that a hand makes: of what will be, or of what is there."""
    known = list(rehearsal.known.resources)
    other = known
    for one in changes:
        other = one(other)
    before, after = (other, known) if of_what_is else (known, other)
    return compare(Earlier("before", tuple(before), deployed), after, rehearsal.preview.resources)


def between(before: Iterable[RecordedResource], after: Sequence[RecordedResource], **options: Any) -> Change:
    """The change between two small stacks of which everything is known."""
    return compare(Earlier("before", tuple(before), **options), after, after)


def told(change: Change) -> dict[str, str]:
    """What was found of a change, level by rule."""
    return {finding.rule: finding.level for finding in judged(change)}


def findings(change: Change, rule: str) -> list[Finding]:
    """What a rule found."""
    return [finding for finding in judged(change) if finding.rule == rule]


def step(change: Change, name: str, type_: str = "") -> Step:
    """The one step of a resource."""
    (found,) = (each for each in change.steps if each.resource.name == name and type_ in each.type)
    return found


def operations(change: Change) -> dict[str, Operation]:
    """What is done, by the resources' names; without those that stay."""
    return {each.resource.name: each.operation for each in change.steps if each.operation is not Operation.SAME}


def option(name: str, **options: Any) -> Changed:
    """Sets options of the resource of a name: `protect`, `retain_on_delete`, …"""

    def change(resources: Sequence[RecordedResource]) -> list[RecordedResource]:
        found = [replace(each, **options) if each.name == name else each for each in resources]
        assert found != list(resources), f"no {name}"
        return found

    return change
