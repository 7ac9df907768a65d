"""What of the nodes of GKE the platform needs, and what is left for pods."""

from __future__ import annotations

import math
from fractions import Fraction

from trainyard.catalog import gcp as catalog
from trainyard.catalog import gke_nodes
from trainyard.conventions.quantities import MEBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.notebooks import HUB_CORES, HUB_MIB
from trainyard.plan.parts import CpuNodesPlan, MlflowPlan, MonitoringPlan
from trainyard.plan.sharing import CpuRoom

PLATFORM_CORES, PLATFORM_MIB = Fraction("2.7"), 3750
"""Requests of what runs once, as on AWS (`plan.aws.allocatable`), with GKE's own in place of add-ons."""

MONITORING_CORES = Fraction("0.2")
MONITORING_MIB = 834
"""Requests of what runs beside Prometheus: Alertmanager, Grafana with its sidecars, operator, kube-state-metrics
(`components.k8s.monitoring_values`), and what writes alerts to a log."""


def room(type_: str) -> tuple[Fraction, Fraction]:
    """Cores and MiB of memory that a node without GPUs has for pods that do not run on every node."""
    item = catalog.cpu_instance(type_)
    gib = Fraction(str(item.memory_gib)) - gke_nodes.kubelet_gib(item.memory_gib)
    cores = item.vcpus - gke_nodes.kubelet_cores(item.vcpus) - gke_nodes.SYSTEM_CORES
    return cores, gib * 1024 - gke_nodes.EVICTION_MIB - gke_nodes.SYSTEM_MIB


def cpu_room(pool: CpuNodesPlan | None) -> CpuRoom | None:
    """What the nodes for pods without GPUs hold at their most; None without such."""
    if pool is None or not pool.instance_types:
        return None
    cores, mib = room(pool.instance_types[0])
    most = pool.max_nodes
    return CpuRoom(
        math.floor(cores * most),
        math.floor(mib * most / 1024),
        most * gke_nodes.MAX_PODS,
        node_cores=float(cores),
        node_memory_gib=float(mib / 1024),
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
    (type_,), most = nodes.instance_types, nodes.max_nodes
    cores, mib = room(type_)
    platform_cores, platform_mib = PLATFORM_CORES, Fraction(PLATFORM_MIB)
    if hub:
        platform_cores, platform_mib = platform_cores + HUB_CORES, platform_mib + HUB_MIB
    if monitoring is not None:
        prometheus, its_cpu = quantity(monitoring.memory), quantity(monitoring.cpu)
        if prometheus is None or its_cpu is None:
            return  # a problem is recorded
        if its_cpu > cores or prometheus / MEBIBYTE > mib:
            allowed = (
                f"Prometheus requests {monitoring.cpu} cores and {monitoring.memory}; {type_} has {float(cores):g} "
            )
            context.ledger.problem(
                "monitoring.memory",
                monitoring.memory,
                f"{allowed}and {int(mib)} MiB",
                "take larger systemNodes.instanceTypes",
            )
            return
        platform_cores += its_cpu + MONITORING_CORES
        platform_mib += prometheus / MEBIBYTE + MONITORING_MIB
    size, cpu = quantity(mlflow.memory), quantity(mlflow.cpu)
    if mlflow.enabled and size is not None and cpu is not None:
        if cpu > cores or size / MEBIBYTE > mib:
            allowed = f"a server requests {mlflow.cpu} cores and {mlflow.memory}; {type_} has {float(cores):g} and "
            context.ledger.problem(
                "mlflow.memory", mlflow.memory, f"{allowed}{int(mib)} MiB", "take larger systemNodes.instanceTypes"
            )
            return
        cores_wanted = platform_cores + cpu * (mlflow.replicas + 1)
        mib_wanted = platform_mib + size / MEBIBYTE * (mlflow.replicas + 1)
    else:
        cores_wanted, mib_wanted = platform_cores, platform_mib
    if cores_wanted > cores * most or mib_wanted > mib * most:
        allowed = (
            f"too few: the platform's own pods request {float(cores_wanted):g} cores and {int(mib_wanted)} MiB, "
            f"{most} {type_} have {float(cores * most):g} and {int(mib * most)}"
        )
        context.ledger.problem("systemNodes.maxNodes", most, allowed, "give more nodes or larger ones")
