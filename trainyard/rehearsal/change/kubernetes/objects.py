"""Objects of a cluster: what its API server refuses to change, and what goes with a namespace."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import cards
from trainyard.recorded.model import Finding
from trainyard.recorded.types import NAMESPACE
from trainyard.rehearsal.change.model import Change, Operation, Step, within, without_indices
from trainyard.rehearsal.change.words import shown, verb


def check(change: Change) -> Iterator[Finding]:
    """Changes that the API server refuses, and namespaces that go."""
    for step in change.steps:
        if not step.type.startswith("kubernetes:"):
            continue
        if step.operation is Operation.UPDATE:
            yield from _refused(step)
        elif step.goes and step.type == NAMESPACE and step.was is not None and not step.was.protect:
            yield Finding.of(
                step.resource,
                "change-empties-namespace",
                f"would be {verb(step)}: everything in it goes, also what people put there: jobs, claims, logins",
                path=step.forced_by[0] if step.forced_by else "",
                hint="let what runs there end, and copy what is to stay; nothing can be renamed",
                level="warning",
            )


def _refused(step: Step) -> Iterator[Finding]:
    card = cards.of(step.type)
    for path in (*card.refused, *card.unchangeable):
        found = next((each for each in step.differences if within(without_indices(each.path), path)), None)
        # Setting what was not set may be what the server set by default.
        if found is not None and found.before is not None and found.path not in step.forced_by:
            yield Finding.of(
                step.resource,
                "change-immutable",
                f"{shown(found)}: the API server refuses to change it, and nothing replaces the object",
                path=found.path,
                hint=f"replaceOnChanges with {path} makes a new one; or give the new one another name",
            )
