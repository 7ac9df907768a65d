"""In which order one `pulumi up` of an upgrade does what it does: read off the dependencies of the recorded program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.node_words import pool_name
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADD_ON, BUCKET, DATABASE, EKS_CLUSTER, HELM_RELEASE, LUSTRE
from trainyard.rehearsal.change.model import Operation, Step
from trainyard.rehearsal.graph import PROOFS
from trainyard.review.change.review import ChangeReview

_IN_PLACE: Final = {
    EKS_CLUSTER: "the control plane",
    EKS_NODE_GROUP: "node groups",
    DATABASE: "the tracking database",
    BUCKET: "buckets",
    LUSTRE: "the file system",
}
"""What a cluster's users would lose with it, in the order in which it is told."""


def in_place(review: ChangeReview) -> str:
    """What is changed or left as it is, and never made anew; empty where nothing was compared."""
    steps = review.change.steps if review.change is not None else ()
    there = {step.type for step in steps if step.was is not None}
    gone = {step.type for step in steps if step.goes}
    return ", ".join(words for type_, words in _IN_PLACE.items() if type_ in there - gone)


def stages(review: ChangeReview) -> tuple[tuple[str, ...], ...]:
    """What is changed at the same time, stage after stage: the control plane, add-ons, node groups, charts, proofs.

    A stage begins when all is done that its members wait for. What only stands beside an upgrade is left out.
    """
    change = review.change
    if change is None:
        return ()
    steps = {step.urn: step for step in change.steps if _of_an_upgrade(step)}
    resources = Resources(change.after.values())
    when = _levels(steps, change.after)
    found: dict[int, list[str]] = {}
    for urn, step in steps.items():
        found.setdefault(when[urn], []).append(_name(step, resources))
    return tuple(tuple(sorted(set(names))) for _, names in sorted(found.items()))


def _of_an_upgrade(step: Step) -> bool:
    if step.operation in (Operation.SAME, Operation.DELETE):
        return False
    return step.type in (EKS_CLUSTER, ADD_ON, EKS_NODE_GROUP, HELM_RELEASE, *PROOFS)


def _levels(steps: Mapping[str, Step], after: Mapping[str, RecordedResource]) -> dict[str, int]:
    """For each step how many others of these come before it, one after the other.

    One pass is enough: an engine hears of a resource after it has heard of all that it depends on.
    """
    behind: dict[str, int] = {}  # of every resource: the steps that are done with it
    found: dict[str, int] = {}
    for urn, resource in after.items():
        before = max((behind.get(other, 0) for other in _dependencies(resource)), default=0)
        if urn in steps:
            found[urn] = before
        behind[urn] = before + (urn in steps)
    return found


def _dependencies(resource: RecordedResource) -> Iterator[str]:
    yield from resource.dependencies
    if resource.provider:
        yield resource.provider_urn


def _name(step: Step, resources: Resources) -> str:
    resource = step.resource
    if step.type == EKS_CLUSTER:
        return "the control plane"
    if step.type == ADD_ON:
        return f"add-on {value_at(resource.inputs, 'addonName', unknown=resource.name)}"
    if step.type == EKS_NODE_GROUP:
        return pool_name(resource, resources)
    if step.type == HELM_RELEASE:
        return f"chart {resource.name}"
    return f"smoke job {resource.name.removesuffix('-job')}"
