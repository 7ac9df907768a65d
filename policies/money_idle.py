"""Money: GPU nodes that go away when nobody uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard.policies.node_pools import POOL_TYPES, TYPES, gpu_pools, node_pool
from trainyard.policies.reading import at
from trainyard.policies.rules import Config, Resources, StackViolation, resource_rule, stack_rule

HELM_RELEASE = "kubernetes:helm.sh/v3:Release"


@resource_rule(
    "gpu-pool-never-scales-down",
    "A GPU pool that is paid by the hour must be able to shrink to nothing.",
    types=TYPES,
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Set gpuPools.<pool>.spot.minNodes and onDemand.minNodes to 0.",
    config={"maxIdleNodes": {"type": "number", "minimum": 0, "default": 0, "description": "Largest allowed minimum."}},
)
def gpu_pool_never_scales_down(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
    """Reserved nodes cost the same running or not. Pulumi must leave the size to the autoscaler."""
    pool = node_pool(resource)
    if not pool.gpu_models or pool.capacity == "reserved":
        return
    if pool.min_nodes > config["maxIdleNodes"]:
        yield f"keeps {pool.min_nodes} nodes ({pool.min_nodes * pool.gpus_per_node} GPUs) when nobody uses them"
    ignored = resource.opts.ignore_changes or []
    if resource.resource_type == TYPES[0] and "scalingConfig.desiredSize" not in ignored:
        yield "does not ignore changes of scalingConfig.desiredSize: every update resets what the autoscaler decided"


@stack_rule(
    "idle-gpus-keep-running",
    "GPU nodes that nobody uses must be shut down within the hour.",
    types=(*POOL_TYPES, HELM_RELEASE, "gcp:container/cluster:Cluster"),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Keep the cluster autoscaler with scale-down on and scale-down-unneeded-time within the hour.",
    config={"maxIdleMinutes": {"type": "number", "minimum": 1, "default": 60}},
)
def idle_gpus_keep_running(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """GKE scales node pools down by itself; on EKS the cluster autoscaler must be there and be allowed to."""
    eks = [(resource, pool) for resource, pool in gpu_pools(resources.of(*TYPES)) if resource.resource_type == TYPES[0]]
    if not eks:
        resources.not_applicable("no GPU node groups on EKS")
    releases = [found for found in resources.of(HELM_RELEASE) if at(found.props, "chart") == "cluster-autoscaler"]
    if not releases:
        yield None, f"{len(eks)} GPU node groups and no cluster autoscaler"
    for release in releases:
        flags = at(release.props, "values", "extraArgs")
        if at(flags, "scale-down-enabled", default="true") in ("false", False):
            yield release, "scale-down-enabled is false"
        minutes = _minutes(str(at(flags, "scale-down-unneeded-time", default="10m")))
        if minutes > config["maxIdleMinutes"]:
            yield (
                release,
                f"an idle node stays {minutes:.0f} minutes; at most {config['maxIdleMinutes']:.0f} are allowed",
            )
        if at(flags, "skip-nodes-with-local-storage", default="true") not in ("false", False):
            yield (
                release,
                "skip-nodes-with-local-storage is not false: any pod with an emptyDir keeps its node for ever",
            )


def _minutes(text: str) -> float:
    """Minutes of a Go duration ("10m", "1h30m")."""
    parts = re.findall(r"([0-9.]+)(h|m|s)", text)
    return sum(float(number) * {"s": 1 / 60, "m": 1, "h": 60}[unit] for number, unit in parts)
