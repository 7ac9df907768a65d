"""Pods that ask for several GPUs of nodes whose GPUs pods take turns on: they get several turns, and no node lets them.

Sources: GKE, "Share GPUs with multiple workloads using GPU time-sharing" (a container may ask for one: a pod that asks
for more is rejected by its node; with MPS, on a machine of one GPU, it may ask for several), 2026-11. NVIDIA's own
plugin lets it ask for several turns of one GPU, unless it is told `failRequestsGreaterThanOne`, in a configuration of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow, mappings_at, value_at
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.world import World

_STRATEGY: Final = "TIME_SHARING"


def check_shared(world: World, views: Mapping[str, View]) -> None:
    """Every pod that asks for several, where all nodes that take it share theirs."""
    for verdict in world.verdicts:
        count = max((_gpus(one) for _, one in verdict.workload.containers()), default=0.0)
        if count <= 1 or not verdict.groups or not all(map(_is_shared, verdict.groups)):
            continue
        workload = verdict.workload
        views[workload.resource.urn].error(
            "placement-shared-gpu", workload.at("resources"),
            f"a container of {workload.told()} asks for {count:g} GPUs, and those of {verdict.groups[0].name} are "
            "shared: each container may have one, and no node admits more", allowed=f"{GPU_RESOURCE} of 1",
        )  # fmt: skip


def _gpus(container: Mapping[str, Any]) -> float:
    given = follow(container, "resources", "limits", GPU_RESOURCE)
    return quantity(given) or 0.0 if isinstance(given, (str, int, float)) else 0.0


def _is_shared(nodes: Nodes) -> bool:
    if nodes.resource.type != GKE_NODE_POOL:
        return False
    return any(
        value_at(one, "gpuSharingConfig", "gpuSharingStrategy", default="", unknown="") == _STRATEGY
        for one in mappings_at(nodes.resource.inputs, "nodeConfig", "guestAccelerators")
    )
