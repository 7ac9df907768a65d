"""What of a system node pods can have, and whether what has to run there fits.

A pod that no node has room for waits for ever, and with it the release or the `pulumi up` that waits for the pod.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from trainyard import catalog
from trainyard.catalog.eks_nodes import (
    MAX_PODS,
    PODS_OF_INTERFACES,
    VIRTUAL_MACHINE_SHARE,
    kubelet_cores,
    kubelet_mib,
)
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.notebooks import HUB_CORES, HUB_MIB
from trainyard.plan.parts import CpuNodesPlan, MlflowPlan, MonitoringPlan
from trainyard.plan.sharing import CpuRoom

DAEMONS_CORES = Fraction("0.25")
DAEMONS_MIB = 450
"""Requests of what runs on every node: network plugin, kube-proxy, drivers of disks, S3 and FSx, node monitoring. Own
choice: the sum of what their charts and add-ons ask for (2026-11), rounded down."""

TEAM_LOGS_CORES = Fraction("0.05")
TEAM_LOGS_MIB = 64
"""Requests of the agent that takes the teams' containers' lines away, where they are kept: one on every node too
(`components.aws.on_cluster.team_logs`)."""

PLATFORM_CORES = Fraction("2.7")
PLATFORM_MIB = 3750
"""Requests of what runs once: CoreDNS, metrics server, Kueue, JobSet, Trainer, autoscaler, controllers of the drivers,
egress proxy; two replicas of most. Own choice: the sum of what their charts and add-ons ask for (2026-11), rounded
down."""

SIDECAR_CORES = Fraction("0.02")
SIDECAR_MIB = 160
"""Requests of the containers beside an MLflow server (`components.k8s.mlflow_pod`)."""

SURGE = 1
"""Servers more than there are replicas, while an upgrade starts the new one before it stops the old one."""


MONITORING_CORES = Fraction("0.19")
MONITORING_MIB = 770
"""Requests of what runs beside Prometheus: Alertmanager, Grafana with its sidecars, operator, kube-state-metrics
(`components.k8s.monitoring_values`)."""


@dataclass(frozen=True, slots=True)
class Room:
    """Cores and MiB of memory."""

    cores: Fraction
    mib: Fraction

    def holds(self, other: Room) -> int:
        """How many times the other fits."""
        return math.floor(min(self.cores / other.cores, self.mib / other.mib))


NOTHING_BESIDE = Room(Fraction(0), Fraction(0))
SIDECARS = Room(SIDECAR_CORES, Fraction(SIDECAR_MIB))


def allocatable(type_: str, *, team_logs: bool) -> Room:
    """What a system node of a type has for pods that do not run on every node, the agent of `team_logs` among those."""
    item = catalog.cpu_instance(type_)
    cores = item.vcpus - kubelet_cores(item.vcpus) - DAEMONS_CORES
    mib = Fraction(str(item.memory_gib)) * 1024 * (1 - VIRTUAL_MACHINE_SHARE) - _kubelet_mib(item.vcpus) - DAEMONS_MIB
    return Room(cores - TEAM_LOGS_CORES, mib - TEAM_LOGS_MIB) if team_logs else Room(cores, mib)


def cpu_room(pool: CpuNodesPlan | None, *, team_logs: bool) -> CpuRoom | None:
    """What the nodes for pods without GPUs hold at their most, all of the type that holds the least; None without."""
    if pool is None or not pool.instance_types:
        return None
    rooms = [allocatable(type_, team_logs=team_logs) for type_ in pool.instance_types]
    cores, mib, most = min(room.cores for room in rooms), min(room.mib for room in rooms), pool.max_nodes
    return CpuRoom(
        math.floor(cores * most),
        math.floor(mib * most / 1024),
        most * MAX_PODS,
        node_cores=float(cores),
        node_memory_gib=float(mib / 1024),
    )


def check_system_nodes(
    nodes: CpuNodesPlan,
    mlflow: MlflowPlan,
    monitoring: MonitoringPlan | None,
    context: Context,
    *,
    team_logs: bool,
    hub: bool = False,
) -> None:
    """Records where the system nodes at their most have no room for the platform, Prometheus or an MLflow server.

    `hub`: whether JupyterHub and its proxy run there too.
    """
    ledger = context.ledger
    if not nodes.instance_types or nodes.max_nodes < nodes.min_nodes:
        return  # a problem is recorded
    # The autoscaler starts the first type that is to be had, so that everything has to fit on the smallest.
    rooms = {type_: allocatable(type_, team_logs=team_logs) for type_ in nodes.instance_types}
    type_ = min(rooms, key=lambda name: (rooms[name].cores, rooms[name].mib))
    each, most = rooms[type_], nodes.max_nodes
    beside = Room(HUB_CORES, Fraction(HUB_MIB)) if hub else NOTHING_BESIDE
    platform = Room(PLATFORM_CORES + beside.cores, PLATFORM_MIB + beside.mib)
    prometheus = _pod(monitoring.cpu, monitoring.memory) if monitoring is not None else None
    if monitoring is not None and prometheus is not None:
        _fits_alone(prometheus, each, type_, "monitoring", (monitoring.cpu, monitoring.memory), ledger)
        platform = Room(
            platform.cores + prometheus.cores + MONITORING_CORES, platform.mib + prometheus.mib + MONITORING_MIB
        )
    if each.cores * most < platform.cores or each.mib * most < platform.mib:
        allowed = (
            f"too few: the platform's own pods request {_said(platform)}, {most} {type_} have "
            f"{_said(Room(each.cores * most, each.mib * most))} for them"
        )
        ledger.problem("systemNodes.maxNodes", most, allowed, "give more nodes or larger systemNodes.instanceTypes")
        return
    server = _pod(mlflow.cpu, mlflow.memory, SIDECARS) if mlflow.enabled else None
    if server is not None and _fits_alone(server, each, type_, "mlflow", (mlflow.cpu, mlflow.memory), ledger, SIDECARS):
        left = Room(each.cores * most - platform.cores, each.mib * most - platform.mib)
        _check_replicas(server, each, left, type_, most, mlflow, ledger)


def _pod(cpu: str, memory: str, beside: Room | None = None) -> Room | None:
    """What a pod requests with its sidecars; None for what is no quantity, which the settings tell."""
    cores, size = quantity(cpu), quantity(memory)
    if cores is None or size is None or cores <= 0 or size <= 0:
        return None
    beside = beside or NOTHING_BESIDE
    return Room(cores + beside.cores, size / MEBIBYTE + beside.mib)


def _fits_alone(
    pod: Room,
    each: Room,
    type_: str,
    setting: str,
    asked: tuple[str, str],
    ledger: Ledger,
    beside: Room | None = None,
) -> bool:
    fits, beside = True, beside or NOTHING_BESIDE
    kept = "less what kubelet, drivers and sidecars take"
    for key, got, wanted, had, most in (
        ("cpu", asked[0], pod.cores, each.cores, f"{float(each.cores - beside.cores):.2f}"),
        ("memory", asked[1], pod.mib, each.mib, f"{math.floor(each.mib - beside.mib)}Mi"),
    ):
        if wanted > had:
            fits = False
            allowed = f"must be at most {most}, which a system node has for it ({type_}, {kept})"
            ledger.problem(f"{setting}.{key}", got, allowed, "or take larger systemNodes.instanceTypes")
    return fits


def _check_replicas(
    server: Room, each: Room, left: Room, type_: str, most: int, mlflow: MlflowPlan, ledger: Ledger
) -> None:
    fitting = min(left.holds(server), each.holds(server) * most)
    if mlflow.replicas + SURGE > fitting:
        allowed = (
            f"do not fit: {most} system nodes ({type_}) have room for {fitting} servers of {mlflow.cpu} cores and "
            f"{mlflow.memory} beside the platform, and an upgrade starts one more than there are"
        )
        hint = "raise systemNodes.maxNodes, take larger systemNodes.instanceTypes, or smaller servers"
        ledger.problem("mlflow.replicas", mlflow.replicas, allowed, hint)


def _said(room: Room) -> str:
    return f"{float(room.cores):.1f} cores and {float(room.mib * MEBIBYTE / GIBIBYTE):.1f} GiB"


def _kubelet_mib(vcpus: int) -> int:
    # Whether the reserve follows prefixes too depends on who tells the kubelet: the larger number holds either way.
    return kubelet_mib(PODS_OF_INTERFACES if vcpus >= 16 else MAX_PODS)
