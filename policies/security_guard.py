"""Security: what the API server keeps out of the teams' namespaces, so that nobody takes GPUs past the queue.

An admission policy is judged by what it says: attacks (`guard_attacks`) are put to its expressions as the API server
would put them, in every team's namespace. What cannot be worked out here is believed where it names what an attack uses
(`docs/decisions/0033-guards-are-asked.md`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.guard_attacks import SIZES, TPU_WALLS, WALLS
from trainyard.policies.guards import GUARD_TYPES, Guards
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.node_groups import NODE_GROUP_PARTS, gpu_node_groups, tpu_node_groups
from trainyard.recorded.queues import CLUSTER_QUEUE
from trainyard.recorded.read import mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE


@stack_rule(
    "gpus-past-the-queue",
    "In every team's namespace the API server refuses pods and jobs that take GPUs past the queue.",
    types=(NAMESPACE, *GUARD_TYPES, CLUSTER_QUEUE, *NODE_GROUP_PARTS),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SC-6", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.6"),
    fix="Use the queues as they are; they bring the admission policies gpu-pods-need-a-queue and the like.",
)
def gpus_past_the_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A policy that is absent, ignores its own failures, only audits, or leaves a team or a container kind out."""
    teams = team_namespaces(resources)
    slices = tpu_node_groups(resources)
    if not teams or not (resources.of(CLUSTER_QUEUE) or gpu_node_groups(resources) or slices):
        raise NotApplicable("no team's namespace beside GPUs")
    guards = Guards(resources)
    walls = (*WALLS, *(SIZES if gpu_node_groups(resources) and not _memory_is_counted(resources) else ()))
    for wall in (*walls, *(TPU_WALLS if slices else ())):
        holes = [(team, hole) for team in teams if (hole := guards.hole(wall, team)) is not None]
        if holes:
            culprit, why = holes[0][1]
            where = ", ".join(str(value_at(team.inputs, "metadata", "name")) for team, _ in holes)
            yield culprit, f"nothing keeps out {wall.what} in {where}: {why}"


def _memory_is_counted(resources: Resources) -> bool:
    """Whether the queues count memory: then a job that asks for more than there is waits, and holds nothing."""
    groups = [
        group for queue in resources.of(CLUSTER_QUEUE) for group in mappings_at(queue.inputs, "spec", "resourceGroups")
    ]
    return any("memory" in texts_at(group, "coveredResources") for group in groups)
