"""What a container's variables hide of the GPUs that it asks for.

Sources: NVIDIA, "CUDA C++ Programming Guide", CUDA_VISIBLE_DEVICES (the devices that a program sees; from the first
index that there is not on, none); NCCL documentation, "Environment variables", NCCL_P2P_DISABLE (GPUs of a machine talk
through memory instead of NVLink), as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_EFA: Final = "vpc.amazonaws.com/efa"
_VISIBLE: Final = "CUDA_VISIBLE_DEVICES"
_SLOW: Final = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")


def check(cluster: Cluster) -> None:
    """Every container with GPUs."""
    for pod in cluster.pods:
        for container in pod.containers:
            limits = follow(container.body, "resources", "limits")
            gpus = quantity(limits.get(GPU_RESOURCE)) if isinstance(limits, Mapping) else None
            if gpus:
                _container(pod, container, gpus, _is_fast(limits, container))
                _library(pod, container)


def _is_fast(limits: Any, container: Container) -> bool:
    """Whether it runs on machines of a fabric, whose GPUs are joined by NVLink."""
    return bool(quantity(limits.get(_EFA)) or follow(container.body, "resources", "claims"))


_GIB: Final = "/gib/"
"""Where images for GPUDirect RDMA have NCCL's plug-in gIB (GKE, "Maximize GPU network bandwidth", 2026-11)."""


def _library(pod: Pod, container: Container) -> None:
    """NCCL is to take a plug-in alone, and the loader is told folders without it."""
    given = {
        str(one.get("name")): (f"{container.path}.env[{index}].value", one.get("value"))
        for index, one in enumerate(listed(container.body.get("env")))
        if isinstance(one, Mapping)
    }
    path, folders = given.get("LD_LIBRARY_PATH", ("", None))
    net = given.get("NCCL_NET", ("", None))[1]
    if isinstance(folders, str) and net == "gIB" and _GIB not in f"{folders}/":
        pod.view.error(
            "programs-interface", path, f"is {show(folders)}, where the plug-in {net} does not lie: NCCL ends",
            allowed="/usr/local/gib/lib64 among them",
        )  # fmt: skip


def _container(pod: Pod, container: Container, gpus: float, is_fast: bool) -> None:
    for index, one in enumerate(listed(container.body.get("env"))):
        name, value = (one.get("name"), one.get("value")) if isinstance(one, Mapping) else (None, None)
        path = f"{container.path}.env[{index}].value"
        if name == _VISIBLE and isinstance(value, str) and "$(" not in value:
            parts = [part.strip() for part in value.split(",")]
            seen = 0
            for part in parts:
                if part in ("", "-1", "NoDevFiles", "none", "void") or (part.isdigit() and int(part) >= gpus):
                    break
                seen += 1
            if value != "all" and seen < gpus:
                # A container may leave GPUs to a program beside it that has them by another way.
                pod.view.warning(
                    "programs-visible", path,
                    f"{_VISIBLE} is {show(value)}: the program sees {seen} of the {gpus:g} GPUs that it pays for",
                    allowed="no such variable: a container has the GPUs that it asks for",
                )  # fmt: skip
        elif name in _SLOW and value == "1" and is_fast and gpus > 1:
            pod.view.warning(
                "programs-visible", path,
                f"{name} is 1: {gpus:g} GPUs of one machine talk past NVLink, many times slower", allowed="0, or none",
            )  # fmt: skip
