"""The smoke job as every launcher sees it: what runs, where, with what, and what it is compared with.

A `SmokeSpec` holds what the platform has to provide; `worker_options` turns it into the worker's own options. A target
that cannot use a field (a queue on a laptop) leaves it out, one that lacks a field it needs raises `LaunchError`.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.conventions import gpudirect
from trainyard.conventions.pod_networks import POD_INTERFACES
from trainyard.smoke_jobs.ddp.options import Options, UsageError, from_document
from trainyard.smoke_jobs.launch.gcp_fabrics import FABRICS, NICS, RDMA_FABRICS, TRANSPORT
from trainyard.smoke_jobs.launch.payload import digest

MAX_NAME = 40
"""Characters of a job's name. Pods are called <name>-<8 hash>-<index>-<5 random>, at most 63 in all."""

BASELINE, OPTIONS = "baseline.json", "options.json"
"""Files beside the worker's: what its figures are compared with, and what it is told."""

ENVIRONMENT = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # restarts are unreliable with it
}
"""Environment variables of every container that runs the worker."""

_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


MANAGED_MARGIN_S = 300
"""Seconds of a managed training job beside its checks: for the machine and the image, and for its output on the way."""


class LaunchError(Exception):
    """The job cannot be rendered or submitted; the text names the setting and the remedy."""


@dataclass(frozen=True, slots=True)
class SmokeSpec:
    """One smoke job. Memory in GiB, times in seconds; an empty text or 0 means that there is none."""

    name: str = "smoke"  # RFC 1035 label, at most `MAX_NAME` characters
    stack: str = ""
    pool: str = ""
    level: str = "quick"  # quick, standard or full: which checks
    nodes: int = 1
    hosts: tuple[str, ...] = ()  # nodes that it runs on, by name (Kubernetes, Slurm); empty: any of the pool
    gpus_per_node: int = 0
    processes_per_node: int = 0  # 0: one a GPU, or one on CPU

    instance: str = ""  # g5.12xlarge: selects the thresholds
    gpu: str = ""  # text that the device's name contains: A10G
    gpu_memory_gib: float = 0.0
    nvlinks: int = 0  # that every GPU must have up
    driver: str = ""  # oldest NVIDIA driver that will do
    capacity: str = ""  # one of CAPACITIES: where a queue decides, it runs on no other; reported
    isolated_gpus: bool = False  # nodes promise that a container sees no GPU that it did not ask for
    transport: str = ""  # what the pool promises between nodes: efa, gpudirect, ib
    usd_per_node_hour: float = 0.0

    image: str = ""  # image:tag@sha256:…
    environment: tuple[tuple[str, str], ...] = ()  # further variables of the container
    cpu: int = 1  # cores of a node's container, requested and limit
    memory_gib: int = 4  # likewise
    shared_memory_gib: int = 1  # /dev/shm, part of the memory
    fabric_resource: str = ""  # extended resource of the fast interfaces between nodes
    fabric_interfaces: int = 0  # of a node
    adapters: int = 0  # RDMA adapters of a node that its job has to use; 0: as many as those interfaces
    hugepages_mib: int = 0  # 2 MiB pages that the fabric pins; besides the memory
    fabric_claim: str = ""  # template, in the namespace, of a pod's claim on all fast interfaces of a node
    claimed_interfaces: int = 0  # that the claim, or the pod's annotations, give a pod
    fabric: str = ""  # how pods get the fast interfaces where no extended resource gives them: `gcp_fabrics.FABRICS`
    fabric_daemon: str = ""  # image of the daemon that some of those need in each pod

    namespace: str = ""  # the team's
    queue: str = ""  # Kueue LocalQueue of the namespace; Slurm partition
    priority: str = ""  # Kueue WorkloadPriorityClass; Slurm QOS
    mounts: tuple[tuple[str, str], ...] = ()  # claim of the namespace -> absolute path
    pod_annotations: tuple[tuple[str, str], ...] = ()  # what the mounts' driver wants on a pod

    checkpoint_uri: str = ""  # s3://bucket/prefix or a folder below a mount
    data_path: str = ""  # folder on the data tier
    tracking_uri: str = ""  # MLflow server
    tracking_secret: str = ""  # Secret with MLFLOW_TRACKING_URI, _USERNAME, _PASSWORD

    timeout_s: int = 900  # of the checks
    start_timeout_s: int = 1800  # from admission to the first process: a node from zero, then the image
    rerun_on: tuple[tuple[str, str], ...] = ()  # facts whose change makes it another job: instance types, zones
    options: Mapping[str, Any] = field(default_factory=dict)  # further options of the worker, which win
    files: Mapping[str, str] = field(default_factory=dict)  # shipped beside the worker; `BASELINE` is compared with

    @property
    def ranks_per_node(self) -> int:
        """Processes of a node."""
        return self.processes_per_node or self.gpus_per_node or 1

    @property
    def rendezvous_timeout_s(self) -> int:
        """How long a node waits for the others: as long as one may need from zero.

        That is what it takes after a reclaim: the survivors' pods are back at once, on nodes that hold the image, while
        the lost one waits for its node to be given up (5 minutes), for another, and for the image.
        """
        return self.start_timeout_s

    @property
    def run_timeout_s(self) -> int:
        """Wall-clock limit of the worker, its wait for the other nodes included."""
        return self.timeout_s + (self.rendezvous_timeout_s if self.nodes > 1 else 0)


def job_name(pool: str, capacity: str = "") -> str:
    """`smoke-train-spot`: a node group's job; cut, with a hash of the whole, where it would be above `MAX_NAME`."""
    name = "-".join(part for part in ("smoke", pool, capacity) if part)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 9].rstrip('-')}-{digest(name)}"


def submission_name(spec: SmokeSpec, now: float) -> str:
    """Unique in an account and region: the name and the time of submission, in seconds since the epoch."""
    return f"{spec.name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}"


def check(spec: SmokeSpec, target: str, needs: Mapping[str, str]) -> None:
    """Raises LaunchError naming every field of `needs` (field -> how to give it) that is empty, and wrong values."""
    problems = [f"{target} needs {name}: {remedy}" for name, remedy in needs.items() if not getattr(spec, name)]
    if len(spec.name) > MAX_NAME or not _NAME.fullmatch(spec.name):
        problems.append(
            f"name is {spec.name!r}: lower-case letters, digits and '-', a letter first, at most {MAX_NAME} characters"
        )
    for name in ("nodes", "cpu", "memory_gib", "timeout_s", "start_timeout_s"):
        if getattr(spec, name) < 1:
            problems.append(f"{name} is {getattr(spec, name)}: at least 1")
    if spec.shared_memory_gib >= spec.memory_gib:
        problems.append(f"shared_memory_gib is {spec.shared_memory_gib}: below memory_gib, which is {spec.memory_gib}")
    if spec.fabric and spec.fabric not in FABRICS:
        problems.append(f"fabric is {spec.fabric!r}: one of {', '.join(FABRICS)}, or empty")
    elif spec.fabric and spec.transport != TRANSPORT:
        promised = spec.transport or "nothing"
        problems.append(f"transport is {promised}: over fabric {spec.fabric} the job has to prove {TRANSPORT}")
    if spec.claimed_interfaces and not spec.fabric_claim and POD_INTERFACES not in dict(spec.pod_annotations):
        problems.append(
            f"claimed_interfaces is {spec.claimed_interfaces}: a claim gives them, fabric_claim, or an annotation, "
            f"{POD_INTERFACES}"
        )
    if spec.fabric and spec.fabric_claim:
        problems.append(f"fabric is {spec.fabric} and fabric_claim {spec.fabric_claim}: one of the two")
    if spec.fabric_claim and target != "kubernetes":
        problems.append(f"a claim is not for target {target}: a Job on a cluster can carry it, kubernetes")
    if bool(spec.fabric_daemon) != (spec.fabric in gpudirect.TRANSPORTS):
        problems.append(
            f"fabric is {spec.fabric!r} and fabric_daemon {spec.fabric_daemon!r}: the image of the daemon goes with "
            f"{' or '.join(gpudirect.TRANSPORTS)}"
        )
    if spec.fabric and target != "kubernetes":
        problems.append(f"fabric {spec.fabric} is not for target {target}: a Job on a cluster can carry it, kubernetes")
    problems += [
        f"mount of claim {claim} is at {path!r}: an absolute path" for claim, path in spec.mounts if path[:1] != "/"
    ]
    if problems:
        raise LaunchError("; ".join(problems))


def worker_options(spec: SmokeSpec, target: str, code_path: str = "", **fixed: Any) -> Options:
    """The worker's options for a target, whose files lie in `code_path`; `fixed` are the target's own (head, …).

    Raises LaunchError with every option that the worker would refuse.
    """
    values: dict[str, Any] = {
        "job_name": spec.name,
        "stack": spec.stack,
        "pool": spec.pool,
        "target": target,
        "level": spec.level,
        "instance": spec.instance,
        "capacity": spec.capacity,
        "image": spec.image,
        "nodes": spec.nodes,
        "nproc_per_node": spec.processes_per_node or spec.gpus_per_node,  # 0: the worker counts GPUs
        "expect_model": spec.gpu,
        "expect_devices": spec.gpus_per_node,
        "expect_memory_gib": spec.gpu_memory_gib,
        "expect_links": spec.nvlinks,
        "expect_driver": spec.driver,
        "expect_adapters": _adapters(spec) if spec.nodes > 1 else 0,
        "expect_transport": spec.transport if spec.nodes > 1 else "",
        "timeout_s": spec.run_timeout_s,
        "rendezvous_timeout_s": spec.rendezvous_timeout_s,
        "checkpoint_uri": spec.checkpoint_uri,
        "data_path": spec.data_path,
        "usd_per_node_hour": spec.usd_per_node_hour,
        # One node may start a server of its own; several need one that all of them reach.
        "tracking_uri": spec.tracking_uri or ("local" if spec.nodes == 1 and target == "local" else "none"),
    }
    if BASELINE in spec.files:
        values["baseline"] = f"{code_path}/{BASELINE}"
    try:
        return from_document(values | fixed | dict(spec.options))
    except UsageError as error:
        raise LaunchError("; ".join(error.problems)) from None


def _adapters(spec: SmokeSpec) -> int:
    """RDMA adapters that every node has to show and use. TCPX and TCPXO have none: their interfaces are of Ethernet."""
    if spec.adapters:
        return spec.adapters
    if spec.transport in ("efa", "ib"):
        return spec.fabric_interfaces
    return NICS if spec.fabric in RDMA_FABRICS else 0


def document(options: Options) -> str:
    """`SMOKE_OPTIONS`: the options that differ from their defaults, as JSON in the order of their declaration."""
    default = Options()
    values = dataclasses.asdict(options)
    return json.dumps({name: value for name, value in values.items() if value != getattr(default, name)})
