"""A leg of an upgrade, told line by line."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.change.words import minutes
from trainyard.upgrade.legs import Leg


def lines(leg: Leg) -> Iterator[tuple[str, str]]:
    """Style and text of each line: what is installed, whom it interrupts, what is replaced, what is wrong."""
    if leg.was.kubernetes == leg.now.kubernetes:
        yield "bold", f"nodes {leg.was.node_release} -> {leg.now.node_release}: {leg.change.summary}"
    else:
        yield "bold", f"Kubernetes {leg.was.kubernetes} -> {leg.now.kubernetes}: {leg.change.summary}"
        yield "dim", f"  {leg.support}"
    for pin in leg.pins:
        yield "", f"  {pin.what}: {pin.was or 'none'} -> {pin.now or 'none'}"
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
