"""What the program of a gang is told of its gang, against the gang: ranks, GPUs, the first rank's name, the network.

Sources: PyTorch, "torchrun" (`--nnodes`, `--nproc-per-node`); Kubernetes, "Job", a pod of an indexed job is called
JOB-INDEX, and found as JOB-INDEX.SUBDOMAIN; NCCL documentation, "Environment variables"; aws-ofi-nccl and libfabric,
`NCCL_NET` and `FI_PROVIDER`, as generally known (2026-11). A rank that waits for another that never comes ends with a
timeout, after its nodes have started.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.conventions import GPU_RESOURCE
from trainyard.problems import count, nearest
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number, follow, known_texts
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_NODES: Final = re.compile(r"--nnodes[= ](\d+)(?!\S*:)\b")
_PROCESSES: Final = re.compile(r"--nproc[-_]per[-_]node[= ](\d+)\b")
_EFA: Final = "vpc.amazonaws.com/efa"
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "FI_PROVIDER": ("efa", "psm3", "shm", "sockets", "tcp", "udp", "verbs"),
    "NCCL_ALGO": ("CollnetChain", "CollnetDirect", "NVLS", "NVLSTree", "PAT", "Ring", "Tree"),
    "NCCL_DEBUG": ("ABORT", "INFO", "TRACE", "VERSION", "WARN"),
    "NCCL_NET": ("AWS Libfabric", "IB", "Socket", "FasTrak", "GPUDirectTCPX_v7", "gIB", "Libfabric", "RDMA"),
    "NCCL_PROTO": ("LL", "LL128", "Simple"),
    "TORCH_DISTRIBUTED_DEBUG": ("DETAIL", "INFO", "OFF"),
}  # fmt: skip
"""What a variable may be; plug-ins bring more, so that only a slip of the pen is told."""
_NEAR: Final = 0.75
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every pod of a job, and every variable that a library reads."""
    for pod in cluster.pods:
        ranks = _ranks(pod)
        for container in pod.containers:
            _variables(pod, container)
            if not container.is_init:
                _fabric(pod, container)
                for path, told in _told(container):
                    _compared(cluster, pod, container, path, told, ranks)
    _clouds(stack, cluster)
    _regions(stack, cluster)


_PLUGINS: Final = {
    EKS_CLUSTER: ("AWS Libfabric", frozenset({"gIB", "FasTrak", "GPUDirectTCPX_v7"})),
    GKE_CLUSTER: ("gIB, FasTrak or Socket", frozenset({"AWS Libfabric"})),
}
"""By cluster, NCCL's network of its cloud, and those of the other (their guides on fast networks, 2026-11)."""


def _clouds(stack: Stack, cluster: Cluster) -> None:
    """NCCL is told to take the network of another cloud alone: it finds none, and ends."""
    made = [kind for kind in _PLUGINS if stack.of_type(kind)]
    for pod in cluster.pods if len(made) == 1 else ():
        own, others = _PLUGINS[made[0]]
        for container in pod.containers:
            for index, one in enumerate(listed(container.body.get("env"))):
                if isinstance(one, Mapping) and one.get("name") == "NCCL_NET" and one.get("value") in others:
                    pod.view.error(
                        "programs-interface", f"{container.path}.env[{index}].value",
                        f"NCCL_NET is {show(one['value'])}, which another cloud has: NCCL finds no such network, and "
                        "ends", allowed=own,
                    )  # fmt: skip


def _ranks(pod: Pod) -> float | None:
    """Pods of the job; None where more may come, or it is not known."""
    if pod.view.text("kind") != "Job":
        return None
    return pod.view.number(f"{pod.path.removesuffix('.template.spec')}.parallelism")


def _told(container: Container) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What JSON and command lines say of nodes, processes a node and the first rank."""
    for index, one in enumerate(listed(container.body.get("env"))):
        value = one.get("value") if isinstance(one, Mapping) else None
        if isinstance(value, str) and value.startswith("{") and "nproc_per_node" in value:
            try:
                found = json.loads(value)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield f"{container.path}.env[{index}].value", found
        name = one.get("name") if isinstance(one, Mapping) else None
        if name == "MASTER_ADDR" and isinstance(value, str):
            yield f"{container.path}.env[{index}].value", {"head": value}
        elif name in ("NNODES", "PET_NNODES") and isinstance(value, str):
            yield f"{container.path}.env[{index}].value", {"nodes": as_number(value)}
    for key in ("command", "args"):
        words = " ".join(text for _, text in known_texts(container.body.get(key)) if len(text) < 4000)
        if "torchrun" in words or "torch.distributed.run" in words:
            found = {
                name: float(match[1])
                for name, pattern in (("nodes", _NODES), ("nproc_per_node", _PROCESSES))
                if (match := pattern.search(words)) is not None
            }
            yield f"{container.path}.{key}", found


def _compared(
    cluster: Cluster, pod: Pod, container: Container, path: str, told: Mapping[str, Any], ranks: float | None
) -> None:
    nodes, processes, head = as_number(told.get("nodes")), as_number(told.get("nproc_per_node")), told.get("head")
    # Of one node each, the pods are trainings of their own: a sweep, which waits for nobody.
    if nodes is not None and ranks is not None and nodes not in (1, ranks):
        pod.view.error(
            "programs-gang", path, (
                f"tells {count(nodes, 'node')} to a job of {count(ranks, 'pod')}: "
                "its ranks wait for each other"
            ),
            allowed=f"{ranks:g}",
        )  # fmt: skip
    limits = follow(container.body, "resources", "limits")
    gpus = quantity(limits.get(GPU_RESOURCE)) if isinstance(limits, Mapping) else None
    if processes is not None and gpus and processes > gpus:
        pod.view.error(
            "programs-gang", path, (
                f"starts {count(processes, 'process', 'processes')} a node, and "
                f"each container has {count(gpus, 'GPU')}"
            ),
            allowed=f"at most {gpus:g}",
        )  # fmt: skip
    name, subdomain = pod.view.text("metadata.name"), pod.spec.get("subdomain")
    if isinstance(head, str) and "." in head and name is not None and isinstance(subdomain, str) and ranks:
        host, _, domain = head.partition(":")[0].partition(".")
        is_service = cluster.find("Service", domain.partition(".")[0], host) is not None
        is_rank = re.fullmatch(rf"{re.escape(name)}-\d+", host) is not None and domain.partition(".")[0] == subdomain
        if not is_service and not is_rank:
            pod.view.error(
                "programs-gang", path, f"names the first rank {show(head)}, and nobody is found by that name",
                allowed=f"{name}-0.{subdomain}",
            )  # fmt: skip


def _variables(pod: Pod, container: Container) -> None:
    for index, one in enumerate(listed(container.body.get("env"))):
        if not isinstance(one, Mapping) or str(one.get("name")) not in _CHOICES:
            continue
        known, value = _CHOICES[str(one["name"])], one.get("value")
        for part in re.split(r"[;,]", value) if isinstance(value, str) else ():
            word = part.lstrip("^").strip()
            hint = nearest(word, known, cutoff=_NEAR) if word.lower() not in {item.lower() for item in known} else ""
            if hint:
                pod.view.error(
                    "programs-interface", f"{container.path}.env[{index}].value",
                    f"{one['name']} is {show(word)}, which no library knows: ranks end or take the slow way",
                    allowed=f"one of {', '.join(known)}", hint=hint,
                )  # fmt: skip


def _fabric(pod: Pod, container: Container) -> None:
    """Libfabric is told to take EFA alone, and the container has no adapter."""
    limits = follow(container.body, "resources", "limits")
    if not isinstance(limits, Mapping) or not quantity(limits.get(GPU_RESOURCE)):
        return
    if quantity(limits.get(_EFA)):
        _provider(pod, container)
        return
    for index, one in enumerate(listed(container.body.get("env"))):
        if isinstance(one, Mapping) and one.get("name") == "FI_PROVIDER" and one.get("value") == "efa":
            pod.view.error(
                "programs-interface", f"{container.path}.env[{index}].value",
                f"FI_PROVIDER is efa, and the container asks for no {_EFA}: libfabric finds no adapter, and NCCL ends",
                allowed=f"{_EFA} among its limits",
            )  # fmt: skip


_OTHER_PROVIDERS: Final = frozenset({"tcp", "sockets", "udp", "verbs", "psm3", "shm"})
"""Providers of libfabric that are no EFA adapter (its man page fi_provider)."""


_PAST: Final = frozenset({("NCCL_NET", "Socket"), ("NCCL_NET_PLUGIN", "none")})
"""What makes NCCL use sockets where there is a plug-in for a fabric (NCCL documentation, "Environment variables")."""


def _provider(pod: Pod, container: Container) -> None:
    """A container that asks for adapters has NCCL or libfabric take something else."""
    for index, one in enumerate(listed(container.body.get("env"))):
        if not isinstance(one, Mapping):
            continue
        if (one.get("name"), one.get("value")) in _PAST:
            # Whoever looks for a fault of the fabric does so for a while.
            pod.view.warning(
                "programs-interface", f"{container.path}.env[{index}].value",
                f"{one['name']} is {one['value']}, and the container asks for {_EFA}: NCCL passes the adapters by",
                allowed="NCCL_NET of AWS Libfabric, or none",
            )  # fmt: skip
        if one.get("name") == "FI_PROVIDER" and one.get("value") in _OTHER_PROVIDERS:
            pod.view.error(
                "programs-interface", f"{container.path}.env[{index}].value",
                f"FI_PROVIDER is {one['value']}, and the container asks for {_EFA}: libfabric passes the adapters by",
                allowed="efa",
            )  # fmt: skip


def _regions(stack: Stack, cluster: Cluster) -> None:
    """A pod that is told another region than the stack is in, where the others are told this one."""
    own = stack.context.region
    told = [
        (pod, f"{container.path}.env[{index}].value", str(one["value"]))
        for pod in cluster.pods
        for container in pod.containers
        for index, one in enumerate(listed(container.body.get("env")))
        if isinstance(one, Mapping) and one.get("name") in _REGIONS and isinstance(one.get("value"), str)
    ]
    counted = Counter(region for _, _, region in told)
    for pod, path, region in told:
        if own and region != own and counted[own] > counted[region]:
            pod.view.warning(
                "programs-region", path, f"is {show(region)}, and the stack is in {own}, as most of its pods are told",
                allowed=own,
            )  # fmt: skip
            return
