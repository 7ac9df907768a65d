"""What has to run on the system nodes, and whether they hold it at their most, also while a part of it is updated.

A pod that no node has room for waits for ever, and with it the release or the `pulumi up` that waits for the pod. Sums
do not tell: two nodes with half a core left each have no room for a pod that asks for a whole one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE, quantity
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import MlflowPlan, MonitoringPlan


@dataclass(frozen=True, slots=True)
class Room:
    """Cores and MiB of memory."""

    cores: Fraction
    mib: Fraction

    def holds(self, other: Room) -> int:
        """How many times the other fits."""
        return math.floor(min(self.cores / other.cores, self.mib / other.mib))

    def without(self, other: Room) -> Room:
        """What is left beside the other."""
        return Room(self.cores - other.cores, self.mib - other.mib)


@dataclass(frozen=True, slots=True)
class SystemPod:
    """What one replica requests, and how many there are beside each other."""

    name: str
    replicas: int
    size: Room
    spread: bool = False  # no node has two more of it than another: a spread by hostname that has to hold


def system_pod(name: str, replicas: int, cores: str, mib: int) -> SystemPod:
    """One of an entry of the tables."""
    return SystemPod(name, replicas, Room(Fraction(cores), Fraction(mib)))


PLATFORM: tuple[SystemPod, ...] = (
    system_pod("kueue-controller-manager", 2, "0.5", 512),
    system_pod("jobset-controller", 2, "0.25", 256),
    system_pod("kubeflow-trainer-controller-manager", 2, "0.25", 256),
    system_pod("egress-proxy", 2, "0.1", 128),
    *(
        system_pod(f"{name}-keeper", 1, "0.01", 64)
        for name in ("flavor", "budget", "idle", "proof", "off-peak", "sleep")
    ),
)
"""On every cloud: requests of charts and components, compared with what is recorded of them
(`tests/stacks/test_system_pods.py`). What a setting may add later is counted from the start: to switch on a keeper
must not take a node."""

HUB: tuple[SystemPod, ...] = (system_pod("hub", 1, "0.5", 1024), system_pod("proxy", 1, "0.2", 512))
"""JupyterHub with its proxy (`components.k8s.notebooks_values`). Own choice, for a hundred people: the guide of the
chart says that a hub's memory grows with those who are there, and states no figure."""

MONITORING: tuple[SystemPod, ...] = (
    system_pod("prometheus-operator", 1, "0.05", 128),
    system_pod("grafana", 1, "0.05", 192),
    system_pod("kube-state-metrics", 1, "0.05", 192),
    system_pod("alertmanager", 1, "0.02", 64),
)
"""What runs beside Prometheus (`components.k8s.monitoring_values`)."""

_WHOLE = Room(Fraction(4), Fraction(16 * 1024))
"""What pods are compared by, as the rehearsal compares them: four cores weigh as much as 16 GiB."""


def check_room(
    own: Sequence[SystemPod],
    each: Room,
    type_: str,
    most: int,
    mlflow: MlflowPlan,
    monitoring: MonitoringPlan | None,
    ledger: Ledger,
    *,
    beside_server: Room,
    hub: bool,
) -> None:
    """Records where the system nodes at their most have no room for the platform, Prometheus or an MLflow server.

    Args:
        own: what a cloud's cluster runs of its own.
        each: what a node has for pods that do not run on every node.
        type_: of the smallest of the nodes.
        most: nodes.
        mlflow: the tracking server.
        monitoring: None where nothing watches.
        ledger: takes the problems.
        beside_server: requests of the containers beside an MLflow server.
        hub: whether JupyterHub and its proxy run there too.
    """
    pods = [*PLATFORM, *own, *(HUB if hub else ())]
    if monitoring is not None:
        prometheus = _asked(monitoring.cpu, monitoring.memory)
        pods += MONITORING
        asked = (monitoring.cpu, monitoring.memory)
        # One that no node takes is told by itself: more nodes, which the sum would ask for, are no help.
        if prometheus is not None and _fits_alone(prometheus, each, type_, "monitoring", asked, ledger):
            pods.append(SystemPod("prometheus", 1, prometheus))
    if (missing := left_over(_updating(pods), each, most)) is not None:
        allowed = _too_few(pods, missing, each, type_, most)
        ledger.problem("systemNodes.maxNodes", most, allowed, "give more nodes or larger systemNodes.instanceTypes")
        return
    server = _asked(mlflow.cpu, mlflow.memory, beside_server) if mlflow.enabled else None
    asked = (mlflow.cpu, mlflow.memory)
    if server is not None and _fits_alone(server, each, type_, "mlflow", asked, ledger, beside_server):
        _check_servers(pods, server, each, type_, most, mlflow, ledger)


def left_over(pods: Iterable[SystemPod], each: Room, most: int) -> SystemPod | None:
    """The first of which a replica finds no node when all are packed, largest first; None where all fit.

    As the rehearsal packs what it has recorded (`rehearsal.works.placement.room`).
    """
    largest_first = sorted(pods, key=lambda one: _weight(one.size), reverse=True)
    missing = _unpacked(largest_first, each, most)
    # A full node without a server keeps a second one off the others, where it is there: with fewer nodes it may not be.
    fewer = range(min(most, max((pod.replicas for pod in largest_first if pod.spread), default=0)) - 1, 0, -1)
    if missing is None or any(_unpacked(largest_first, each, nodes) is None for nodes in fewer):
        return None
    return missing


def _unpacked(pods: Sequence[SystemPod], each: Room, nodes: int) -> SystemPod | None:
    """As `left_over`, on nodes that are all there, in the order given."""
    free = [each] * nodes
    for pod in pods:
        held = [0] * nodes
        for _ in range(pod.replicas):
            fewest = min(held, default=0)
            at = next(
                (
                    index
                    for index, room in enumerate(free)
                    if room.holds(pod.size) and not (pod.spread and held[index] > fewest)
                ),
                None,
            )
            if at is None:
                return pod
            free[at] = free[at].without(pod.size)
            held[at] += 1
    return None


def _weight(size: Room) -> tuple[Fraction, Fraction]:
    return max(size.cores / _WHOLE.cores, size.mib / _WHOLE.mib), size.cores


def _updating(pods: Sequence[SystemPod]) -> list[SystemPod]:
    """One replica more of the largest of the platform's.

    A Deployment of two that says nothing of its strategy, as those of charts, starts a pod of the new kind before it
    ends one of the old kind. JupyterHub's end first, and what else runs beside the platform is smaller.
    """
    largest = max(PLATFORM, key=lambda one: _weight(one.size))
    return [replace(pod, replicas=pod.replicas + 1) if pod.name == largest.name else pod for pod in pods]


def _check_servers(
    pods: Sequence[SystemPod], server: Room, each: Room, type_: str, most: int, mlflow: MlflowPlan, ledger: Ledger
) -> None:
    """As many as there are, and the one that an update starts before it stops another; or one of the platform's, whose
    updates come at another time. Servers of one release keep to nodes of their own (`components.k8s.mlflow_pod`), the
    first of the next release stands beside any of them."""

    def fit(count: int) -> bool:
        servers = SystemPod("mlflow", count - 1, server, spread=True)
        first_of_next = SystemPod("mlflow of the next release", 1, server)
        updating_servers, updating_others = [*pods, servers, first_of_next], [*_updating(pods), servers]
        return left_over(updating_servers, each, most) is None and left_over(updating_others, each, most) is None

    wanted = mlflow.replicas + 1
    if not fit(wanted):
        fitting = next((count for count in reversed(range(1, wanted)) if fit(count)), 0)
        allowed = (
            f"do not fit: {most} system nodes ({type_}) have room for {fitting} servers of {mlflow.cpu} cores and "
            f"{mlflow.memory} beside the platform, each on a node of its own as far as they go, and an upgrade "
            "starts one more than there are"
        )
        hint = "raise systemNodes.maxNodes, take larger systemNodes.instanceTypes, or smaller servers"
        ledger.problem("mlflow.replicas", mlflow.replicas, allowed, hint)


def _asked(cpu: str, memory: str, beside: Room | None = None) -> Room | None:
    """What a pod requests with its sidecars; None for what is no quantity, which the settings tell."""
    cores, size = quantity(cpu), quantity(memory)
    if cores is None or size is None or cores <= 0 or size <= 0:
        return None
    alone = Room(cores, size / MEBIBYTE)
    return alone if beside is None else Room(alone.cores + beside.cores, alone.mib + beside.mib)


def _fits_alone(
    pod: Room,
    each: Room,
    type_: str,
    setting: str,
    asked: tuple[str, str],
    ledger: Ledger,
    beside: Room | None = None,
) -> bool:
    fits, left = True, each if beside is None else each.without(beside)
    kept = "less what kubelet, drivers and sidecars take"
    for key, got, wanted, had, most in (
        ("cpu", asked[0], pod.cores, each.cores, f"{math.floor(left.cores * 100) / 100:.2f}"),
        ("memory", asked[1], pod.mib, each.mib, f"{math.floor(left.mib)}Mi"),
    ):
        if wanted > had:
            fits = False
            allowed = f"must be at most {most}, which a system node has for it ({type_}, {kept})"
            ledger.problem(f"{setting}.{key}", got, allowed, "or take larger systemNodes.instanceTypes")
    return fits


def _too_few(pods: Sequence[SystemPod], missing: SystemPod, each: Room, type_: str, most: int) -> str:
    whole = Room(
        sum((pod.size.cores * pod.replicas for pod in pods), Fraction(0)),
        sum((pod.size.mib * pod.replicas for pod in pods), Fraction(0)),
    )
    has = Room(each.cores * most, each.mib * most)
    return (
        f"too few: the platform's own pods request {_said(whole)}, {most} {type_} have {_said(has)} for them, and "
        f"{missing.name} finds no room beside the others while one of them is updated"
    )


def _said(room: Room) -> str:
    return f"{float(room.cores):.1f} cores and {float(room.mib * MEBIBYTE / GIBIBYTE):.1f} GiB"
