"""Capacity: nodes that are not taken away to even out zones, and jobs over several nodes that do not depend on spot."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NODE_GROUP_PARTS, NodeGroup, gpu_node_groups
from trainyard.recorded.read import length_at
from trainyard.recorded.resources import Resources

GANG = 2
"""Nodes of the smallest job that needs a fabric."""


@stack_rule(
    "gpu-nodes-over-zones",
    "A node group with GPUs stands in one zone.",
    types=NODE_GROUP_PARTS,
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("NIST 800-53r5 CP-2", "ISO 27001:2022 A.8.14"),
    fix="Give the node group one subnet; another capacity of the pool may stand in another zone.",
)
def gpu_nodes_over_zones(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A managed group's autoscaling group evens its zones out: it ends nodes after 15 minutes and asks no budget."""
    for group in gpu_node_groups(resources):
        if group.resource.type == EKS_NODE_GROUP and group.max_nodes > 1:
            subnets = length_at(group.resource.inputs, "subnetIds")
            if subnets > 1:
                yield (
                    group.resource,
                    f"in {subnets} subnets: its zones are evened out by ending nodes with jobs on them",
                )


@stack_rule(
    "gang-only-on-spot",
    "A pool with a fabric holds a job of two nodes in a capacity that is not spot.",
    types=NODE_GROUP_PARTS,
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("NIST 800-53r5 CP-2", "ISO 27001:2022 A.8.6"),
    fix="Raise gpuPools.<pool>.onDemand.maxNodes or the reservation, or accept it where jobs over nodes may wait.",
)
def gang_only_on_spot(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A job never spans two capacities, so one reserved node and one on demand hold no job of two."""
    pools: dict[str, list[NodeGroup]] = {}
    for group in gpu_node_groups(resources):
        if group.fabric_interfaces:
            pools.setdefault(group.pool, []).append(group)
    for name, groups in sorted(pools.items()):
        spot = [group for group in groups if group.capacity == "spot" and group.max_nodes >= GANG]
        if spot and all(group.max_nodes < GANG for group in groups if group.capacity != "spot"):
            others = ", ".join(f"{group.max_nodes} {group.capacity}" for group in groups if group.capacity != "spot")
            yield (
                spot[0].resource,
                f"a job of {GANG} nodes of pool {name} runs on spot only; it has {others or 'no other'}",
            )
