"""What of a node of GKE pods can have, and whether what has to run on the system nodes fits there."""

from __future__ import annotations

import math
from fractions import Fraction

from trainyard.catalog import gcp as catalog
from trainyard.catalog import gke_nodes
from trainyard.plan.context import Context
from trainyard.plan.parts import CpuNodesPlan, MlflowPlan, MonitoringPlan
from trainyard.plan.sharing import CpuRoom
from trainyard.plan.system_pods import Room, SystemPod, check_room, system_pod

OWN: tuple[SystemPod, ...] = (system_pod("GKE's own pods", 2, "0.2", 270), system_pod("alert-log", 1, "0.01", 64))
"""What runs once on a cluster on GKE beside `plan.system_pods.PLATFORM`. Nobody publishes what GKE's own ask for
together: names and metrics are counted as they are on AWS (own choice); `alert-log` writes alerts to a log."""

DAEMONS = Room(Fraction("0.025"), Fraction(32))
"""Requests of what the stack itself runs on every node, which measures it (`components.k8s.monitoring_values`)."""

SIDECARS = Room(Fraction("0.02"), Fraction(160))
"""Requests of the containers beside an MLflow server: accounts and metrics (`components.k8s.mlflow_pod`)."""


def room(type_: str) -> tuple[Fraction, Fraction]:
    """Cores and MiB of memory that a node without GPUs has for pods that do not run on every node."""
    item = catalog.cpu_instance(type_)
    gib = Fraction(str(item.memory_gib)) - gke_nodes.kubelet_gib(item.memory_gib)
    cores = item.vcpus - gke_nodes.kubelet_cores(item.vcpus) - gke_nodes.SYSTEM_CORES
    return cores, gib * 1024 - gke_nodes.EVICTION_MIB - gke_nodes.SYSTEM_MIB


def system_room(type_: str) -> Room:
    """What a node without GPUs has for pods that do not run on every node, less what its kernel usually takes."""
    cores, mib = room(type_)
    lost = Fraction(str(catalog.cpu_instance(type_).memory_gib)) * 1024 * gke_nodes.USUAL_LOST_SHARE
    return Room(cores, mib - lost).without(DAEMONS)


def cpu_room(pool: CpuNodesPlan | None) -> CpuRoom | None:
    """What the nodes for pods without GPUs hold at their most; None without such."""
    if pool is None or not pool.instance_types:
        return None
    cores, mib = room(pool.instance_types[0])
    node = system_room(pool.instance_types[0])  # a pod that is larger than what one has for sure waits for ever
    most = pool.max_nodes
    return CpuRoom(
        math.floor(cores * most),
        math.floor(mib * most / 1024),
        most * gke_nodes.MAX_PODS,
        node_cores=float(node.cores),
        node_memory_gib=float(node.mib / 1024),
    )


def check_system_nodes(
    nodes: CpuNodesPlan,
    mlflow: MlflowPlan,
    monitoring: MonitoringPlan | None,
    context: Context,
    *,
    hub: bool = False,
) -> None:
    """Records where the system nodes at their most have no room for the platform, Prometheus or an MLflow server.

    `hub`: whether JupyterHub and its proxy run there too.
    """
    if not nodes.instance_types or nodes.max_nodes < nodes.min_nodes:
        return  # a problem is recorded
    (type_,) = nodes.instance_types
    check_room(
        OWN,
        system_room(type_),
        type_,
        nodes.max_nodes,
        mlflow,
        monitoring,
        context.ledger,
        beside_server=SIDECARS,
        hub=hub,
    )
