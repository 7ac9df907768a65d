"""Whose jobs run on the nodes of a group: those of the queues whose quota is of its flavors.

Which jobs run when a change is made only the cluster knows (`trainyard upgrade STACK --from REF --run` asks it, and
waits for them); whose they can be is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainyard.conventions import SMOKE_LOCAL_QUEUE
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import node_group
from trainyard.recorded.node_words import MOVED, emptied
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.works.queues.kubernetes.read import read

_MOST_QUEUES: Final = 6


@dataclass(frozen=True, slots=True)
class Occupants:
    """Flavors that stand for the nodes of a group, and the queues of people whose jobs may run on them, in order."""

    flavors: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()  # "namespace/name" of LocalQueues, without those of smoke jobs

    @property
    def words(self) -> str:
        """`, those of team-language/default and 2 more (flavor train-spot)`; empty where there are none."""
        if not self.queues:
            return ""
        more = f" and {len(self.queues) - _MOST_QUEUES} more" if len(self.queues) > _MOST_QUEUES else ""
        return f", those of {', '.join(self.queues[:_MOST_QUEUES])}{more} (flavor {', '.join(self.flavors)})"


def standing(step: Step, change: Change) -> Occupants:
    """Whose jobs run on the nodes that are there before a change."""
    return occupants(step.was or step.resource, (change.before if step.was is not None else change.after).values())


def leaves(step: Step, change: Change) -> str:
    """How a node group is emptied before its nodes go or become others, without a full stop."""
    group = step.was or step.resource
    if step.operation is Operation.DELETE or not standing(step, change).queues:
        return emptied(group)
    return f"{MOVED}; or first a pool beside it, then {emptied(group)}"


def occupants(group: RecordedResource, recorded: Iterable[RecordedResource]) -> Occupants:
    """Whose jobs run on a node group, in the recording that it is of. What is not known yet is nobody's."""
    resources = Resources(recorded)
    try:
        labels = node_group(group, resources).labels
    except UnreadableInput:
        return Occupants()
    found = read(resources).configuration
    flavors = {
        flavor.name
        for flavor in found.flavors.values()
        if flavor.node_labels and all(labels.get(name) == value for name, value in flavor.node_labels.items())
    }
    queues = {queue.name for queue in found.queues.values() if flavors & {flavor for flavor, _ in queue.quotas}}
    locals_ = (
        f"{each.namespace}/{each.name}"
        for each in found.locals.values()
        if each.cluster_queue in queues and each.name != SMOKE_LOCAL_QUEUE
    )
    return Occupants(tuple(sorted(flavors)), tuple(sorted(locals_)))
