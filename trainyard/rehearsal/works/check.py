"""The entry: every room plays its part of the recorded environment and notes what would not work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import UnreadableInput
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.charts import check as charts
from trainyard.rehearsal.works.clusters import by_cluster
from trainyard.rehearsal.works.flows import check as flows
from trainyard.rehearsal.works.machines import check as machines
from trainyard.rehearsal.works.managed import check as managed
from trainyard.rehearsal.works.paths import check as paths
from trainyard.rehearsal.works.placement import check as placement
from trainyard.rehearsal.works.programs import check as programs
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
    "programs": programs.check,
    "rights": rights.check,
    "paths": paths.check,
    "flows": flows.check,
    "machines": machines.check,
    "charts": charts.check,
    "managed": managed.check,
}
"""By what a room plays, in the order in which the rooms speak."""

_FIRST: Final = ("references", "programs", "rights", "flows")
"""The rooms that take longest: where two processes play, they are to be done at the same time."""


def _every(_: str) -> bool:
    return True


def in_turn() -> list[str]:
    """The rooms by name, in the order in which they are played."""
    return [*filter(ROOMS.__contains__, _FIRST), *(room for room in ROOMS if room not in _FIRST)]


def check_works(
    resources: Sequence[RecordedResource], context: ValueContext, *, plays: Callable[[str], bool] = _every
) -> list[Finding]:
    """What would be accepted and not work.

    A stack of several clusters is played once for each of them: objects of the same name are not the same there. What
    is told of a resource that several clusters share has to be so with each of them.

    Args:
        resources: a whole recording; best the run with known outputs.
        context: the planned Kubernetes version and the region.
        plays: whether a room is to be played, asked when it is its turn: all are, unless another process plays some.
    """
    parts = by_cluster(resources)
    played = [_played(part, context, plays) for part in parts]
    if len(parts) == 1:
        return played[0]
    places = Counter(resource.urn for part in parts for resource in part)
    told = Counter(finding for found in played for finding in set(found))
    every = dict.fromkeys(finding for found in played for finding in found)
    return [finding for finding in every if told[finding] == places.get(finding.urn, len(parts))]


def _played(
    resources: Sequence[RecordedResource], context: ValueContext, plays: Callable[[str], bool]
) -> list[Finding]:
    stack = Stack(resources, context)
    unread = []
    for name in filter(plays, in_turn()):
        try:
            ROOMS[name](stack)
        except UnreadableInput as unreadable:
            unread.append(Finding("warning", "works-unread", f"{name} could not be judged: {unreadable}"))
    noted = stack.findings
    stack.let_go()
    if not noted and not unread:
        return []
    hidden = secrets_hidden(resources, names_shown(resources))
    return [
        replace(found, message=hidden(found.message), allowed=hidden(found.allowed), hint=hidden(found.hint))
        for found in dict.fromkeys([*noted, *unread])
    ]
