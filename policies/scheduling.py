"""Scheduling: quotas of what exists, the important first, and reservations that can be used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard.policies.node_pools import POOL_TYPES, TYPES, node_pool
from trainyard.policies.reading import at, given, items, mapping
from trainyard.policies.rules import Config, Resources, StackViolation, resource_rule, stack_rule

KUEUE = "kubernetes:kueue.x-k8s.io/*:"
CLUSTER_QUEUE = f"{KUEUE}ClusterQueue"
COHORT = f"{KUEUE}Cohort"
FLAVOR = f"{KUEUE}ResourceFlavor"
PRIORITY = f"{KUEUE}WorkloadPriorityClass"
GPU = "nvidia.com/gpu"


@stack_rule(
    "quota-exceeds-pool",
    "The queues of a cohort hand out no more GPUs of a flavor than its nodes have.",
    types=(*POOL_TYPES, CLUSTER_QUEUE, COHORT, FLAVOR),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Leave quotas to the plan, or raise gpuPools.<pool>.*.maxNodes.",
)
def quota_exceeds_pool(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Kueue admits what the quota allows and never looks at nodes: the pods would wait for ever, quota taken."""
    pools = [node_pool(resource) for resource in resources.of(*TYPES)]
    held: dict[str, int] = {}
    for flavor in resources.of(FLAVOR):
        labels = mapping(flavor.props, "spec", "nodeLabels")
        fitting = [pool for pool in pools if labels.items() <= pool.labels.items()]
        held[str(at(flavor.props, "metadata", "name"))] = sum(pool.gpus for pool in fitting)
    promised: defaultdict[str, float] = defaultdict(float)
    for queue in resources.of(CLUSTER_QUEUE, COHORT):  # a cohort may have quota of its own
        for group in items(queue.props, "spec", "resourceGroups"):
            for flavor in items(group, "flavors"):
                for quota in items(flavor, "resources"):
                    if at(quota, "name") == GPU:
                        promised[str(at(flavor, "name"))] += float(at(quota, "nominalQuota", default=0))
    for name, gpus in sorted(promised.items()):
        if gpus > held.get(name, 0):
            yield None, f"flavor {name}: quotas of {gpus:.0f} GPUs in all, its nodes hold {held.get(name, 0)}"


@stack_rule(
    "production-does-not-outrank-development",
    "Production work goes before everything else, development gives way first.",
    types=(PRIORITY, CLUSTER_QUEUE),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-6", "NIST 800-53r5 CP-2"),
    fix="Order scheduler.priorities: production above the others, development below.",
    config={
        "order": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 2,
            "default": ["production", "standard", "development"],
            "description": "Priority classes, the highest first.",
        }
    },
)
def production_does_not_outrank_development(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Values strictly fall along the order; the first and the last class must exist."""
    queues = resources.of(CLUSTER_QUEUE)
    if not queues:
        resources.not_applicable("no queues")
    classes = {str(at(found.props, "metadata", "name")): found for found in resources.of(PRIORITY)}
    order = [name for name in config["order"] if name in classes]
    for name in (config["order"][0], config["order"][-1]):
        if name not in classes:
            yield None, f"there is no priority class {name}"
    for higher, lower in pairwise(order):
        first, second = (at(classes[name].props, "value", default=0) for name in (higher, lower))
        if first <= second:
            yield classes[higher], f"{higher} ({first:.0f}) does not outrank {lower} ({second:.0f})"
    for queue in queues:
        if at(queue.props, "spec", "preemption", "withinClusterQueue", default="Never") == "Never":
            yield queue, "preemption.withinClusterQueue is Never: a priority makes nobody give way"


@resource_rule(
    "placement-group-with-reservation",
    "Reserved nodes are not put into a placement group.",
    types=("aws:ec2/launchTemplate:LaunchTemplate", "gcp:container/nodePool:NodePool"),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-6",),
    fix="Use the node groups as they are: a reserved one has no placement group.",
)
def placement_group_with_reservation(resource: ResourceValidationArgs, _: Config) -> Iterator[str]:
    """A cluster placement group picks a spot of its own; the reserved machines elsewhere cannot be used then."""
    props = resource.props
    if resource.resource_type.startswith("gcp:"):
        reserved = at(props, "nodeConfig", "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION"
        placed = given(props, "placementPolicy", "type")
    else:
        specification = at(props, "capacityReservationSpecification")
        only = at(specification, "capacityReservationPreference") == "capacity-reservations-only"
        reserved = only or given(specification, "capacityReservationTarget")
        placed = given(props, "placement", "groupName") or given(props, "placement", "groupId")
    if reserved and placed:
        yield "uses a reservation inside a placement group: InsufficientInstanceCapacity although it is paid for"
