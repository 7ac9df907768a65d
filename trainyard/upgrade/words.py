"""A leg of an upgrade, told line by line."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.problems import count
from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.change.words import minutes
from trainyard.upgrade.legs import Leg, Standing


def standing_lines(there: Standing) -> Iterator[tuple[str, str]]:
    """Style and text of each line of what stands before an upgrade."""
    found = f"rehearsed with {count(there.errors, 'error')}" if there.errors else "rehearsed: nothing would be refused"
    yield "bold", f"Kubernetes {there.versions.kubernetes}, nodes {there.versions.node_release}: {found}"
    yield "dim", f"  {there.support}"
    for pin in there.pins:
        yield "", f"  {pin.what}: {pin.now}"


def lines(leg: Leg) -> Iterator[tuple[str, str]]:
    """Style and text of each line: what is installed, whom it interrupts, what is replaced, what is wrong."""
    if leg.before.versions.kubernetes == leg.now.kubernetes:
        yield "bold", f"nodes {leg.before.versions.node_release} -> {leg.now.node_release}: {leg.change.summary}"
    else:
        yield "bold", f"Kubernetes {leg.before.versions.kubernetes} -> {leg.now.kubernetes}: {leg.change.summary}"
        yield "dim", f"  {leg.support}"
    for pin in leg.pins:
        yield "", f"  {pin.what}: {pin.was or 'none'} -> {pin.now or 'none'}"
    if leg.in_place:
        yield "", f"  in place: {leg.in_place}"
    for number, stage in enumerate(leg.stages, 1):
        yield "", f"  in order, {number}: {', '.join(stage)}"
    for names, happens, seconds in leg.change.all_interrupted:
        long = f" ({minutes(seconds)} at least)" if seconds else ""
        yield "yellow", f"  interrupts {', '.join(names)}: {happens}{long}"
    for done, operation in (("replaced", Operation.REPLACE), ("deleted", Operation.DELETE)):
        gone: dict[str, list[str]] = {}
        for step in leg.change.steps:
            if step.operation is operation:
                gone.setdefault(step.type.rsplit(":", 1)[1], []).append(step.resource.name)
        for type_, which in gone.items():
            yield "", f"  {done} {type_}: {', '.join(sorted(which))}"
    for finding in leg.change.findings:
        if finding.level == "error":
            yield "red", f"  error {finding.rule} {finding.name}: {finding.message}"
    if not leg.verdict.state.deployable:
        yield "red", f"  {leg.verdict.headline}"
