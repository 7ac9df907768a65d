"""The entry: every room plays its part of the recorded environment and notes what would not work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import UnreadableInput
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.charts import check as charts
from trainyard.rehearsal.works.flows import check as flows
from trainyard.rehearsal.works.machines import check as machines
from trainyard.rehearsal.works.paths import check as paths
from trainyard.rehearsal.works.placement import check as placement
from trainyard.rehearsal.works.queues import check as queues
from trainyard.rehearsal.works.references import check as references
from trainyard.rehearsal.works.rights import check as rights

Room = Callable[[Stack], None]
"""Looks at a whole recording and notes its findings at the resources that they are about. What is unknown, or made by
somebody else for all that is recorded, is no mistake; what cannot be read at all raises `UnreadableInput`."""

ROOMS: Final[Mapping[str, Room]] = {
    "placement": placement.check,
    "queues": queues.check,
    "references": references.check,
    "rights": rights.check,
    "paths": paths.check,
    "flows": flows.check,
    "machines": machines.check,
    "charts": charts.check,
}
"""By what a room plays, in the order in which the rooms speak."""


def check_works(resources: Sequence[RecordedResource], context: ValueContext) -> list[Finding]:
    """What would be accepted and not work.

    Args:
        resources: a whole recording; best the run with known outputs.
        context: the planned Kubernetes version and the region.
    """
    stack = Stack(resources, context)
    unread = []
    for name, room in ROOMS.items():
        try:
            room(stack)
        except UnreadableInput as unreadable:
            unread.append(Finding("warning", "works-unread", f"{name} could not be judged: {unreadable}"))
    return [*dict.fromkeys(stack.findings), *unread]
