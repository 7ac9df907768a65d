"""The critical path: the chain of resources that decides how long the first `pulumi up` takes.

Creation times are published or measured ones (on the types' cards, each with source and date). The path assumes
that the engine makes everything at once that waits for nothing; it makes four operations a core, and clouds have bad
days, so the sum is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from trainyard import cards
from trainyard.conventions import SMOKE_COMPONENT_PREFIX
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import JOB

_SKIP_AWAIT = "pulumi.com/skipAwait"
_TAKEN_AT_ONCE = cards.of("kubernetes:*").seconds.value


@dataclass(frozen=True, slots=True)
class Step:
    """One resource of the critical path: how long it takes, and when it is done, in seconds from the start."""

    urn: str
    type: str
    name: str
    component: str
    seconds: float
    finish: float

    def as_json(self) -> dict[str, str | float]:
        """The step as the JSON of a rehearsal has it."""
        return asdict(self)


def seconds_to_create(resource: RecordedResource) -> float:
    """How long one resource takes. Components and what is only read take nothing."""
    if not resource.custom or resource.read or resource.is_provider:
        return 0.0
    if resource.inputs.get("metadata", {}).get("annotations", {}).get(_SKIP_AWAIT) == "true":
        return _TAKEN_AT_ONCE
    card = cards.of(resource.type)
    if card.seconds_in_smoke_job is not None and resource.component.startswith(SMOKE_COMPONENT_PREFIX):
        return card.seconds_in_smoke_job.value
    return card.seconds.value


PROOFS = (JOB, "command:local:Command")
"""What a smoke job is in the program: on a cluster, and of managed training."""


def proves(step: Step) -> bool:
    """Whether a step is a smoke job: it makes nothing that others wait for, it proves what was made."""
    return step.type in PROOFS and step.component.startswith(SMOKE_COMPONENT_PREFIX)


def critical_path(resources: Iterable[RecordedResource]) -> tuple[Step, ...]:
    """The longest chain of creations, first to last: each waits for what it is registered after (`waits_on`)."""
    by_urn = {resource.urn: resource for resource in resources}
    waits = {
        urn: {other for other in resource.waits_on if other in by_urn and other != urn}
        for urn, resource in by_urn.items()
    }
    finish: dict[str, float] = {}
    after: dict[str, str] = {}
    for urn in _in_order(waits):
        last = max(sorted(waits[urn]), key=lambda other: finish[other], default=None)
        finish[urn] = seconds_to_create(by_urn[urn]) + (finish[last] if last is not None else 0.0)
        if last is not None:
            after[urn] = last
    current = max(sorted(finish), key=lambda urn: finish[urn], default=None)
    steps: list[Step] = []
    while current is not None:
        resource = by_urn[current]
        seconds = seconds_to_create(resource)
        if seconds > 0:
            steps.append(Step(current, resource.type, resource.name, resource.component, seconds, finish[current]))
        current = after.get(current)
    return tuple(reversed(steps))


def _in_order(waits: Mapping[str, set[str]]) -> list[str]:
    """URNs so that each comes after what it waits for. What waits for itself in a circle comes last, in any order."""
    followers: dict[str, list[str]] = {urn: [] for urn in waits}
    left = {urn: len(others) for urn, others in waits.items()}
    for urn, others in waits.items():
        for other in others:
            followers[other].append(urn)
    ready = sorted(urn for urn, count in left.items() if count == 0)
    order: list[str] = []
    while ready:
        urn = ready.pop()
        order.append(urn)
        for follower in sorted(followers[urn]):
            left[follower] -= 1
            if left[follower] == 0:
                ready.append(follower)
    return order
