"""A change of the stack file by which nodes of pools become others: another machine, image, disk, zone.

The rehearsal of change says which node groups are rolled or made anew; here it becomes the steps that let nobody's job
end by it: queues held, jobs on those nodes waited for, `pulumi up`, queues let go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from trainyard.recorded.node_groups import NODE_GROUP_TYPES
from trainyard.recorded.node_words import pool_name
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.change.occupants import standing
from trainyard.review.change.review import ChangeReview

_MOVES: Final = ("change-ends-jobs", "change-rolls-nodes")
"""Rules of the rehearsal of change: the jobs on a node group are ended, or moved one node after the other."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A node group whose nodes go, or become others."""

    pool: str  # "pool train (spot)"
    happens: str  # what the rehearsal of change says of it
    flavors: tuple[str, ...]
    queues: tuple[str, ...]  # whose jobs may run there; none: nobody's jobs come there by a queue

    def as_json(self) -> dict[str, Any]:
        """All fields, in plain values."""
        return asdict(self)


def moved(review: ChangeReview) -> Iterator[Moved]:
    """The node groups whose nodes a change takes, in the order of its findings. None where nothing was compared."""
    change = review.change
    if change is None:
        return
    for finding in review.findings:
        step = change.step_of(finding.urn) if finding.rule in _MOVES else None
        if step is None or step.type not in NODE_GROUP_TYPES:
            continue
        there = standing(step, change)
        group = step.was or step.resource
        resources = Resources((change.before if step.was is not None else change.after).values())
        yield Moved(pool_name(group, resources), finding.message, there.flavors, there.queues)


def not_told(told: Sequence[Moved], deployed: ChangeReview) -> list[Moved]:
    """The node groups that a change takes from what is deployed, and whose jobs nobody was told of."""
    known = set(flavors_of(told))
    return [each for each in moved(deployed) if each.queues and not known.issuperset(each.flavors)]


def flavors_of(found: Sequence[Moved]) -> list[str]:
    """The flavors whose jobs are waited for: those to which people's queues send jobs."""
    return sorted({name for each in found if each.queues for name in each.flavors})
