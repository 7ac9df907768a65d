"""Money: GPU nodes that go away when nobody uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.problems import count
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NODE_GROUP_PARTS, gpu_node_groups
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER, HELM_RELEASE


@stack_rule(
    "gpu-pool-never-scales-down",
    "A GPU pool that is paid by the hour must be able to shrink to nothing.",
    types=NODE_GROUP_PARTS,
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Set gpuPools.<pool>.spot.minNodes and onDemand.minNodes to 0.",
    config={"maxIdleNodes": {"type": "number", "minimum": 0, "default": 0, "description": "Largest allowed minimum."}},
)
def gpu_pool_never_scales_down(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Reserved nodes cost the same running or not. Pulumi must leave the size to the autoscaler."""
    for group in gpu_node_groups(resources):
        if group.capacity == "reserved":
            continue
        if group.min_nodes > config["maxIdleNodes"]:
            gpus = group.min_nodes * group.gpus_per_node
            yield group.resource, f"keeps {count(group.min_nodes, 'node')} ({count(gpus, 'GPU')}) when nobody uses them"
        if group.resource.type == EKS_NODE_GROUP and "scalingConfig.desiredSize" not in group.resource.ignore_changes:
            what = "does not ignore changes of scalingConfig.desiredSize"
            yield group.resource, f"{what}: every update resets what the autoscaler decided"


@stack_rule(
    "idle-gpus-keep-running",
    "GPU nodes that nobody uses must be shut down within the hour.",
    types=(*NODE_GROUP_PARTS, HELM_RELEASE, GKE_CLUSTER),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Keep the cluster autoscaler with scale-down on and scale-down-unneeded-time within the hour.",
    config={"maxIdleMinutes": {"type": "number", "minimum": 1, "default": 60}},
)
def idle_gpus_keep_running(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """GKE scales node pools down by itself; on EKS the cluster autoscaler must be there and be allowed to."""
    eks = [group for group in gpu_node_groups(resources) if group.resource.type == EKS_NODE_GROUP]
    if not eks:
        raise NotApplicable("no GPU node groups on EKS")
    releases = [
        found
        for found in resources.of(HELM_RELEASE)
        if str(value_at(found.inputs, "chart")).rpartition("/")[2] == "cluster-autoscaler"
    ]
    if not releases:
        yield None, f"{len(eks)} GPU node groups and no cluster autoscaler"
    for release in releases:
        flags = value_at(release.inputs, "values", "extraArgs")
        if value_at(flags, "scale-down-enabled", default="true") in ("false", False):
            yield release, "scale-down-enabled is false"
        minutes = _minutes(str(value_at(flags, "scale-down-unneeded-time", default="10m")))
        if minutes > config["maxIdleMinutes"]:
            yield (
                release,
                f"an idle node stays {count(round(minutes), 'minute')}; at most "
                f"{config['maxIdleMinutes']:.0f} are allowed",
            )
        if value_at(flags, "skip-nodes-with-local-storage", default="true") not in ("false", False):
            yield (
                release,
                "skip-nodes-with-local-storage is not false: any pod with an emptyDir keeps its node for ever",
            )


def _minutes(text: str) -> float:
    """Minutes of a Go duration ("10m", "1h30m")."""
    parts = re.findall(r"([0-9.]+)(h|m|s)", text)
    return sum(float(number) * {"s": 1 / 60, "m": 1, "h": 60}[unit] for number, unit in parts)


POLICIES: Final = (gpu_pool_never_scales_down, idle_gpus_keep_running)
"""Those of this module."""
