"""Scheduling: quotas of what exists, the important first, and reservations that can be used."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import (
    GKE_NODE_POOL,
    LAUNCH_TEMPLATE,
    NODE_GROUP_PARTS,
    NODE_GROUP_TYPES,
    affine_to_reservation,
    node_group,
    targets_reservation,
)
from trainyard.recorded.node_labels import have_labels
from trainyard.recorded.queues import CLUSTER_QUEUE, COHORT, PRIORITY_CLASS, RESOURCE_FLAVOR, gpu_quotas
from trainyard.recorded.read import is_on, is_set, mapping_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER

_ORDER: Final = ("production", "standard", "development")
_SAID: Final = (("production", "prod"), ("development", "dev"))
"""By which word of its name a class of other names is told to be the most and the least important one."""


@stack_rule(
    "quota-exceeds-pool",
    "The queues of a cohort hand out no more GPUs of a flavor than its nodes have.",
    types=(*NODE_GROUP_PARTS, CLUSTER_QUEUE, COHORT, RESOURCE_FLAVOR, GKE_CLUSTER),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Leave quotas to the plan, or raise gpuPools.<pool>.*.maxNodes.",
)
def quota_exceeds_pool(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Kueue admits what the quota allows and never looks at nodes: the pods would wait for ever, quota taken."""
    groups = [node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES)]
    if not groups:
        raise NotApplicable("no nodes are of this stack: they are another's, or made as pods ask for them")
    if any(_makes_nodes(cluster) for cluster in resources.of(GKE_CLUSTER)):
        raise NotApplicable("the cluster makes nodes as pods ask for them")
    held: dict[str, int] = {}
    for flavor in resources.of(RESOURCE_FLAVOR):
        labels = mapping_at(flavor.inputs, "spec", "nodeLabels")
        fitting = [group for group in groups if have_labels(group, labels) is not False]
        held[str(value_at(flavor.inputs, "metadata", "name"))] = sum(group.gpus_offered for group in fitting)
    promised: defaultdict[str, float] = defaultdict(float)
    for queue in resources.of(CLUSTER_QUEUE, COHORT):  # a cohort may have quota of its own
        for name, gpus in gpu_quotas(queue):
            promised[name] += gpus
    for name, gpus in sorted(promised.items()):
        if gpus > held.get(name, 0):
            yield (
                None,
                f"flavor {name}: quotas of {count(round(gpus), 'GPU')} in all, its nodes hold {held.get(name, 0)}",
            )


def _makes_nodes(cluster: RecordedResource) -> bool:
    """Whether a cluster has nodes of no pool of the stack: Autopilot, or node auto-provisioning."""
    return is_on(cluster.inputs, "enableAutopilot") or is_on(cluster.inputs, "clusterAutoscaling", "enabled")


def _value(priority: RecordedResource) -> float:
    """The value of a priority class; below 0 it gives way to jobs without one."""
    return number_at(priority.inputs, "value", default=0, least=-math.inf)


@stack_rule(
    "production-does-not-outrank-development",
    "Production work goes before everything else, development gives way first.",
    types=(PRIORITY_CLASS, CLUSTER_QUEUE),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-6", "NIST 800-53r5 CP-2"),
    fix="Order scheduler.priorities: production above the others, development below 0.",
    config={
        "order": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 2,
            "default": list(_ORDER),
            "description": "Priority classes, the highest first.",
        }
    },
)
def production_does_not_outrank_development(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Values strictly fall along the order, the last one below 0; the first and the last class must exist.

    Of a stack whose classes have names of its own only what these say themselves is judged.
    """
    queues = resources.of(CLUSTER_QUEUE)
    if not queues:
        raise NotApplicable("no queues")
    classes = {str(value_at(found.inputs, "metadata", "name")): found for found in resources.of(PRIORITY_CLASS)}
    ordered = list(config["order"])
    if ordered == [*_ORDER] and not classes.keys() & {*_ORDER}:
        yield from _of_other_names(classes)
        return
    foreign = ordered == [*_ORDER] and bool(classes.keys() - {*_ORDER})
    yield from _of_the_order(ordered, classes, foreign=foreign)
    for queue in queues:
        if value_at(queue.inputs, "spec", "preemption", "withinClusterQueue", default="Never") == "Never":
            yield queue, "preemption.withinClusterQueue is Never: a priority makes nobody of the queue give way"


def _of_the_order(
    ordered: list[str], classes: Mapping[str, RecordedResource], *, foreign: bool
) -> Iterator[StackViolation]:
    """Judges classes that the policy knows by name. `foreign`: one of another name may be what is not there."""
    for name in (ordered[0], ordered[-1]):
        if name not in classes and not foreign:
            yield None, f"there is no priority class {name}"
    for higher, lower in pairwise([name for name in ordered if name in classes]):
        yield from _outranks(higher, lower, classes)
    last = classes.get(ordered[-1])
    if last is not None and (value := _value(last)) >= 0:
        yield last, f"{ordered[-1]} ({value:.0f}) does not give way to jobs without a priority, which have 0"


def _of_other_names(classes: Mapping[str, RecordedResource]) -> Iterator[StackViolation]:
    """Judges a stack whose classes have names of its own.

    Which goes first can be read where one says production and one development, and no other does: of several that
    say so (`prod-batch`, `dev-interactive`) the order is a matter of what they are for, and so is, where teams have
    queues a stage, whether one of a queue gives way to another of it.
    """
    words = {name: {*re.split(r"[-.]", name)} for name in classes}
    said = [[name for name in classes if words[name] & {*each}] for each in _SAID]
    (higher, *others), (lower, *more) = (names or [""] for names in said)
    if not higher or not lower or others or more or higher == lower:
        raise NotApplicable("no priority class has a name that the policy's configuration tells of (`order`)")
    yield from _outranks(higher, lower, classes)


def _outranks(higher: str, lower: str, classes: Mapping[str, RecordedResource]) -> Iterator[StackViolation]:
    first, second = (_value(classes[name]) for name in (higher, lower))
    if first <= second:
        yield classes[higher], f"{higher} ({first:.0f}) does not outrank {lower} ({second:.0f})"


@resource_rule(
    "placement-group-with-reservation",
    "Reserved nodes are not put into a placement group.",
    types=(LAUNCH_TEMPLATE, GKE_NODE_POOL),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Use the node groups as they are: a reserved one has no placement group.",
)
def placement_group_with_reservation(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A cluster placement group picks a spot of its own; the reserved machines elsewhere cannot be used then.

    On Google Cloud a policy that is named may be the one that the machines are reserved with.
    """
    if resource.type == GKE_NODE_POOL:
        placed = is_set(resource.inputs, "placementPolicy", "type")
        reserved = affine_to_reservation(resource) and not is_set(resource.inputs, "placementPolicy", "policyName")
    else:
        reserved = targets_reservation(resource)
        placed = any(is_set(resource.inputs, "placement", key) for key in ("groupName", "groupId"))
    if reserved and placed:
        yield "uses a reservation inside a placement group: InsufficientInstanceCapacity although it is paid for"
