"""Pods that ask for several GPUs of nodes whose GPUs pods take turns on: they get several turns, and no node lets them.

Sources: GKE, "Share GPUs with multiple workloads using GPU time-sharing" (a container may ask for one: a pod that asks
for more is rejected by its node; with MPS, on a machine of one GPU, it may ask for several), 2026-11. NVIDIA's own
plugin lets it ask for several turns of one GPU, unless it is told `failRequestsGreaterThanOne`, in a configuration of
its own (k8s-device-plugin README, "Shared Access to GPUs": `renameByDefault` has it offer `nvidia.com/gpu.shared`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow, mappings_at, value_at
from trainyard.recorded.types import HELM_RELEASE
from trainyard.recorded.yaml_text import read_yaml
from trainyard.rehearsal.context import Stack, View
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


def check_plugin(stack: Stack, world: World) -> None:
    """What a configuration of NVIDIA's plugin calls its GPUs, and how many a container may have, against the pods."""
    for release in stack.of_type(HELM_RELEASE):
        if (release.text("chart") or "").rpartition("/")[2] != "nvidia-device-plugin":
            continue
        given = release.mapping("values.config.map")
        if len(given) != 1:
            continue  # nodes choose one by their label nvidia.com/device-plugin.config, whichever is the default
        for name, text in given.items():
            try:
                told = read_yaml(text) if isinstance(text, str) else None
            except ValueError:
                continue
            slicing = follow(told, "sharing", "timeSlicing")
            if isinstance(slicing, Mapping):
                _sliced(release, f"values.config.map.{name}", slicing, world)


def _sliced(view: View, path: str, slicing: Mapping[str, Any], world: World) -> None:
    shared = [one for one in mappings_at(slicing, "resources") if one.get("name") == GPU_RESOURCE]
    asked = [
        (one, max((_gpus(body) for _, body in one.workload.containers()), default=0.0))
        for one in world.verdicts
        if one.fits or one.refusals
    ]
    if not shared or not any(count for _, count in asked):
        return
    name = shared[0].get("rename") or (f"{GPU_RESOURCE}.shared" if slicing.get("renameByDefault") is True else "")
    first, count = max(asked, key=lambda one: one[1])
    if name and name != GPU_RESOURCE:
        view.error(
            "placement-shared-gpu", path, f"calls the shared GPUs {name}, and {first.workload.told()} asks for "
            f"{GPU_RESOURCE}, which no node has then", allowed="renameByDefault false",
        )  # fmt: skip
    elif slicing.get("failRequestsGreaterThanOne") is True and count > 1:
        view.error(
            "placement-shared-gpu", path, f"refuses a container more than one, and one of {first.workload.told()} asks "
            f"for {count:g}", allowed="failRequestsGreaterThanOne false, or GPUs that are not shared",
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
