"""From a plan to its smoke jobs: one a GPU pool and capacity, through the queue of one team. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainyard.catalog.instances import instance
from trainyard.conventions import Capacity
from trainyard.plan.model import Plan, PoolPlan, TeamPlan
from trainyard.problems import nearest

PRIORITY = "standard"


MAX_NODES = 2
"""Two nodes prove the network between nodes; more only take quota away from people."""

RESERVED_CORES = 2
"""Left on a node to the kubelet, the network and storage drivers, the device plugin and the GPU exporter."""

CORES_PER_GPU = 8
"""One rank, its four loader processes, NCCL's and the checkpoint's threads."""

MEMORY_SHARE = 0.7
"""Of a node's memory. The rest is the kubelet's reserve, the drivers' pods and the huge pages."""

MEMORY_PER_GPU_GIB = 24
"""A rank with CUDA, its share of a 1 GiB checkpoint held twice, and the loaders' batches in /dev/shm."""

HUGEPAGES_MIB = 5120
"""2 MiB pages that EFA pins on a node, as AWS's EKS examples request them (smoke facts 2.5, 2026-11-20)."""

_Named = TypeVar("_Named")


class NoSuchName(Exception):  # noqa: N818 - reads as what it says
    """There is no pool or team of that name; the text lists those that there are."""


@dataclass(frozen=True, slots=True)
class PoolJob:
    """What the smoke job takes of a pool. Memory in GiB a node, huge pages in MiB a node."""

    pool: PoolPlan
    capacity: Capacity | None  # None: whichever the queue picks
    nodes: int
    cpu: int
    memory_gib: int
    shared_memory_gib: int
    hugepages_mib: int
    gpu: str  # text that the device's name contains
    usd_per_node_hour: float  # on demand, whatever the capacity; 0: unknown
    rerun_on: tuple[tuple[str, str], ...]

    @property
    def transport(self) -> str:
        """What the plan promises between the nodes."""
        return "efa" if self.pool.fabric else ""


def mounts(plan: Plan) -> dict[str, str]:
    """The storage tiers as every training container of the platform finds them: path by claim."""
    found = {"data": "/data", "checkpoints": "/checkpoints"}
    if plan.storage.lustre is not None:
        found["scratch"] = "/scratch"
    if plan.storage.shared_file_system:
        found["home"] = "/home"
    return found


def environment(plan: Plan) -> dict[str, str]:
    """Variables of the container. boto3 reads the second only, and EKS Pod Identity adds none where one is there."""
    if plan.cloud != "aws":
        return {}
    return {"AWS_REGION": plan.region, "AWS_DEFAULT_REGION": plan.region}


def scratch_path(plan: Plan, name: str) -> str:
    """A folder of the data tier for the smoke job of a pool or node group; "" where the tier is read only."""
    return f"/scratch/smoke-{name}" if plan.storage.lustre is not None else ""


def pool_of(plan: Plan, name: str | None) -> PoolPlan:
    """The pool of that name, or the first; raises NoSuchName."""
    return _pick("GPU pool", {pool.name: pool for pool in plan.pools}, name, plan.stack)


def team_of(plan: Plan, name: str | None) -> TeamPlan:
    """The team of that name, or the first; raises NoSuchName."""
    return _pick("team", {team.name: team for team in plan.teams}, name, plan.stack)


def _pick(kind: str, there: Mapping[str, _Named], name: str | None, stack: str) -> _Named:
    if name is None and there:
        return next(iter(there.values()))
    if name is not None and name in there:
        return there[name]
    hint = nearest(name, there) if name else ""
    wanted = f"{kind} {name!r}" if name else kind
    known = ", ".join(there) or "none"
    raise NoSuchName(f"stack {stack} has no {wanted}; there is {known}{'; ' + hint if hint else ''}")


def pool_job(
    plan: Plan, pool: PoolPlan, team: TeamPlan, max_nodes: int = MAX_NODES, capacity: Capacity | None = None
) -> PoolJob:
    """What the smoke job takes of the pool: whole nodes, inside the team's limits of CPU and memory.

    With a `capacity` it runs on the nodes of that one, and again when they change. A job never spans two capacities,
    so it has as many nodes as the largest node group at most.
    """
    groups = [group for group in pool.node_groups if capacity in (None, group.capacity)]
    nodes = max(1, min(max_nodes, max((group.max_nodes for group in groups), default=1)))
    cpu = min(pool.vcpus - RESERVED_CORES, 4 + CORES_PER_GPU * pool.gpus_per_node, team.cpu_limit // nodes)
    memory = min(
        int(pool.memory_gib * MEMORY_SHARE),
        16 + MEMORY_PER_GPU_GIB * pool.gpus_per_node,
        team.memory_limit_gib // nodes,
    )
    facts = {
        "instance types": ",".join(sorted({kind for group in groups for kind in group.instance_types})),
        "capacities": ",".join(group.capacity for group in groups),
        "zones": ",".join(sorted({zone for group in groups for zone in group.zones})),
        "kubernetes": plan.cluster.kubernetes_version,
    }
    return PoolJob(
        pool=pool,
        capacity=capacity,
        nodes=nodes,
        cpu=max(1, cpu),
        memory_gib=max(4, memory),
        shared_memory_gib=max(1, memory // 4),
        hugepages_mib=HUGEPAGES_MIB if pool.fabric else 0,
        gpu=pool.gpu.partition("-")[0],  # "A100-40GB" calls itself "NVIDIA A100-SXM4-40GB"
        usd_per_node_hour=instance(pool.instance_type).usd_per_hour or 0.0,
        rerun_on=tuple(sorted(facts.items())),
    )
