"""Jobs on TPU slices: as many pods as the slice has machines, because a program on a part of it waits for the rest.

Sources: GKE, "About TPUs in GKE" (chips of a slice are the product of its topology; a pod takes all chips of its
machine), as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions import TPU_RESOURCE
from trainyard.conventions.gcp import TOPOLOGY, TPU_TOPOLOGY_LABEL, chips_of_slice
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")


def check(cluster: Cluster) -> None:
    """Every template of pods that names a slice's topology."""
    for pod in cluster.pods:
        machines = _machines(pod)
        if machines is None or machines == 1:  # pods of one machine wait for no others, however many there are
            continue
        kind, base = pod.view.text("kind") or "", pod.path.removesuffix(".template.spec")
        if kind in _RUNTIMES:
            _compare(pod, "spec.mlPolicy.numNodes", pod.view.number("spec.mlPolicy.numNodes") or 1, machines)
        elif kind in ("Job", "CronJob", "JobSet"):
            for key in ("parallelism", "completions"):
                count = pod.view.number(f"{base}.{key}")
                if count is not None or key == "parallelism":
                    _compare(pod, f"{base}.{key}", 1 if count is None else count, machines)


def _machines(pod: Pod) -> int | None:
    """Machines of the slice that a pod asks for; None where it says of none, or not of all."""
    topology = follow(pod.spec, "nodeSelector", TPU_TOPOLOGY_LABEL)
    if not isinstance(topology, str) or not TOPOLOGY.fullmatch(topology) or not pod.containers_are_known:
        return None
    chips = 0.0
    for container in pod.containers:
        limits = follow(container.body, "resources", "limits")
        if not container.is_init and isinstance(limits, Mapping):
            chips += quantity(limits.get(TPU_RESOURCE)) or 0
    return max(1, int(chips_of_slice(topology) // chips)) if chips else None


def _compare(pod: Pod, path: str, count: float, machines: int) -> None:
    if (count != machines and pod.view.number(path) is not None) or (count == 1 < machines and pod.view.lacks(path)):
        pod.view.error(
            "programs-slice", path,
            f"is {count:g}, and the slice that {pod.title} asks for has {machines} machines: its programs wait for "
            "each other for ever" if count < machines else
            f"is {count:g}, and the slice that {pod.title} asks for has {machines} machines: the pods that are left "
            "over wait for another slice",
            allowed=str(machines),
        )  # fmt: skip
