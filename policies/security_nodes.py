"""Security: nobody's pods run on the platform's nodes but the platform's own."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import CPU_POOL, RESERVED_TAINTS, SYSTEM_POOL
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.node_groups import NODE_GROUP_PARTS, NODE_GROUP_TYPES, keeps_pods_off, node_group
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE


@stack_rule(
    "platform-nodes-open-to-teams",
    "The nodes of the platform's own pods have a taint that pods of teams may not tolerate.",
    types=(NAMESPACE, *NODE_GROUP_PARTS),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-39", "ISO 27001:2022 A.8.22"),
    fix="Use the system nodes as they are; people's pods without GPUs have nodes of their own (cpuPool).",
)
def platform_nodes_open_to_teams(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Beside them a hole in the kernel is a way to the tracking server's database and to what admits jobs.

    The platform's are the nodes that say so; where none do, all that have no GPUs and are not people's.
    """
    if not team_namespaces(resources):
        raise NotApplicable("no teams")
    groups = [node_group(resource, resources) for resource in resources.of(*NODE_GROUP_TYPES)]
    without_gpus = [group for group in groups if not group.gpu_models]
    said = [group for group in without_gpus if group.pool == SYSTEM_POOL]
    for group in said or [group for group in without_gpus if group.pool != CPU_POOL]:
        if not keeps_pods_off(group.resource, RESERVED_TAINTS):
            yield group.resource, "no taint keeps teams' pods off: they run beside the platform's own"
