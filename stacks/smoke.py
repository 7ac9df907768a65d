"""From a plan to its smoke jobs: one a GPU pool, through the queue of one team. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stacks.problems import nearest
from stacks.sizing.model import Plan, PoolPlan, TeamPlan

PRIORITY = "standard"

RESERVED_CORES = 2
"""Left on a node to the kubelet, the network and storage drivers, the device plugin and the GPU exporter."""

CORES_PER_GPU = 8
"""One rank, its four loader processes, NCCL's and the checkpoint's threads."""

MEMORY_SHARE = 0.7
"""Of a node's memory; the rest is the kubelet's reserve, the drivers' pods and the huge pages."""

MEMORY_PER_GPU_GIB = 24
"""A rank with CUDA, its share of a 1 GiB checkpoint held twice, and the loaders' batches in /dev/shm."""

HUGEPAGES_MIB = 5120
"""What EFA pins on a node (the launch template reserves 5120 pages of 2 MiB; AWS's samples request 5120 MiB)."""


@dataclass(frozen=True, slots=True)
class PoolShape:
    """What the job takes of each node of a pool."""

    nodes: int
    cpu: int
    memory_gib: int
    shared_memory_gib: int
    hugepages_mib: int


class NoSuchName(Exception):
    """There is no pool or team of that name."""


def pool_of(plan: Plan, name: str | None) -> PoolPlan:
    """The pool of that name, or the first; raises NoSuchName."""
    return _pick("GPU pool", {pool.name: pool for pool in plan.pools}, name)


def team_of(plan: Plan, name: str | None) -> TeamPlan:
    """The team of that name, or the first; raises NoSuchName."""
    return _pick("team", {team.name: team for team in plan.teams}, name)


def _pick[T](kind: str, there: Mapping[str, T], name: str | None) -> T: ...
