"""What of a node of EKS pods can have, and whether what has to run on the system nodes fits there."""

from __future__ import annotations

import math
from fractions import Fraction

from trainyard import catalog
from trainyard.catalog.eks_nodes import (
    MAX_PODS,
    PODS_OF_INTERFACES,
    VIRTUAL_MACHINE_SHARE,
    kubelet_cores,
    kubelet_mib,
)
from trainyard.plan.context import Context
from trainyard.plan.parts import CpuNodesPlan, MlflowPlan, MonitoringPlan
from trainyard.plan.sharing import CpuRoom
from trainyard.plan.system_pods import Room, SystemPod, check_room, system_pod

DAEMONS_CORES = Fraction("0.27")
DAEMONS_MIB = 450
"""Requests of what runs on every node: network plugin, kube-proxy, drivers of disks, S3, FSx and EFS, node monitoring.
Own choice: the sum of what their charts and add-ons ask for (2026-11), rounded up."""

TEAM_LOGS_CORES = Fraction("0.05")
TEAM_LOGS_MIB = 64
"""Requests of the agent that takes the teams' containers' lines away, where they are kept: one on every node too
(`components.aws.on_cluster.team_logs`)."""

OWN: tuple[SystemPod, ...] = (
    system_pod("cluster-autoscaler", 2, "0.1", 600),
    system_pod("coredns", 2, "0.1", 70),
    system_pod("metrics-server", 2, "0.1", 200),
    system_pod("ebs-csi-controller", 2, "0.06", 240),
    system_pod("fsx-csi-controller", 2, "0.04", 160),
    system_pod("efs-csi-controller", 2, "0.01", 64),
    system_pod("s3-csi-controller", 1, "0.01", 64),
)
"""What runs once on a cluster on EKS beside `plan.system_pods.PLATFORM`: requests of charts and add-ons (2026-11)."""

SIDECARS = Room(Fraction("0.04"), Fraction(320))
"""Requests of the containers beside an MLflow server: accounts, metrics and the database's password
(`components.k8s.mlflow_pod`, `mlflow_password`)."""


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
    if not nodes.instance_types or nodes.max_nodes < nodes.min_nodes:
        return  # a problem is recorded
    # The autoscaler starts the first type that is to be had, so that everything has to fit on the smallest.
    rooms = {type_: allocatable(type_, team_logs=team_logs) for type_ in nodes.instance_types}
    type_ = min(rooms, key=lambda name: (rooms[name].cores, rooms[name].mib))
    check_room(
        OWN,
        rooms[type_],
        type_,
        nodes.max_nodes,
        mlflow,
        monitoring,
        context.ledger,
        beside_server=SIDECARS,
        hub=hub,
    )


def _kubelet_mib(vcpus: int) -> int:
    # Whether the reserve follows prefixes too depends on who tells the kubelet: the larger number holds either way.
    return kubelet_mib(PODS_OF_INTERFACES if vcpus >= 16 else MAX_PODS)
