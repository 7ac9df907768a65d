"""The conversations of the monitoring: what Prometheus reads, and by which way alerts leave.

Ports are the pods' of kube-prometheus-stack, read in the chart (2026-11). Node exporters and kubelets answer on the
nodes' own network, which no policy of theirs holds back.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from trainyard.components.k8s.flows import DNS, NAME_PORTS, Flow, Place, Pods, tcp
from trainyard.components.k8s.mlflow_pod import METRICS_PORT
from trainyard.conventions import KUEUE_NAMESPACE, MLFLOW_NAMESPACE
from trainyard.conventions.monitoring import (
    BUDGET_KEEPER,
    FIGURES_READER,
    IDLE_KEEPER,
    MONITORING_NAMESPACE,
    PROMETHEUS_LABELS,
    PROMETHEUS_PORT,
)

MONITORING = Pods(MONITORING_NAMESPACE)
PROMETHEUS = Pods(MONITORING_NAMESPACE, PROMETHEUS_LABELS)
READER = Pods(MONITORING_NAMESPACE, (("app.kubernetes.io/name", FIGURES_READER),))
ALERTMANAGER = Pods(MONITORING_NAMESPACE, (("app.kubernetes.io/name", "alertmanager"),))
EXPORTER_LABELS = {"app.kubernetes.io/name": "dcgm-exporter"}
"""Labels of our own exporter's pods."""
EXPORTER = Pods("kube-system", tuple(EXPORTER_LABELS.items()))
QUEUE_MANAGER = Pods(KUEUE_NAMESPACE)
TRACKING = Pods(MLFLOW_NAMESPACE)

KUBELET = 10250
NODE_EXPORTER = 9100
QUEUE_METRICS = 8443
GPU_METRICS = 9400
DNS_METRICS = 9153
"""Ports of what is read."""
INSIDE = (tcp(PROMETHEUS_PORT), tcp(9093), tcp(3000), tcp(8080))
"""Prometheus, Alertmanager, Grafana, kube-state-metrics; the operator's own figures come at 8080 too."""

READ_FROM_QUEUES = Flow(PROMETHEUS, QUEUE_MANAGER, (tcp(QUEUE_METRICS),), "Prometheus reads the queues' figures")


def _asks(keeper: str, why: str) -> Flow:
    return Flow(
        Pods(QUEUE_MANAGER.namespace, (("app.kubernetes.io/name", keeper),)), PROMETHEUS, (tcp(PROMETHEUS_PORT),), why
    )


ASKED_BY_KEEPERS: Mapping[str, Flow] = {
    BUDGET_KEEPER: _asks(BUDGET_KEEPER, "the keeper of budgets asks what teams have spent"),
    IDLE_KEEPER: _asks(IDLE_KEEPER, "the keeper of idle jobs asks what their GPUs do"),
}
"""By which keeper beside Kueue's manager Prometheus is asked: each is there, or not, as the plan has it."""


def but_of_keepers_that_are_not(flows: Iterable[Flow], there: Container[str], *, remote: bool = False) -> list[Flow]:
    """Flows without those of keepers that are not there: a wall that names pods which nobody runs has a hole. With
    `remote`, the cloud's service keeps the figures, and keepers ask the program that signs, in place of Prometheus."""
    gone = [flow for keeper, flow in ASKED_BY_KEEPERS.items() if keeper not in there]
    asked = list(ASKED_BY_KEEPERS.values())
    return [
        replace(flow, destination=READER) if remote and flow in asked else flow for flow in flows if flow not in gone
    ]


READ_FROM_NAME_SERVICE = Flow(PROMETHEUS, DNS, (tcp(DNS_METRICS),), "Prometheus reads the name service's figures")


def read_from(exporter: Pods) -> Flow:
    """Prometheus and the pods that measure GPUs."""
    return Flow(PROMETHEUS, exporter, (tcp(GPU_METRICS),), "Prometheus reads the GPUs' figures")


READ_FROM_KUBE_SYSTEM: tuple[Flow, ...] = (read_from(EXPORTER), READ_FROM_NAME_SERVICE)
LEAVE: tuple[Flow, ...] = (
    Flow(ALERTMANAGER, Place.IDENTITY, (), "Alertmanager takes its role"),
    Flow(ALERTMANAGER, Place.CLOUD_SERVICES, (tcp(443),), "alerts leave by the topic, where it has an endpoint"),
    Flow(ALERTMANAGER, Place.INTERNET, (tcp(443),), "alerts leave by the topic, where it has none"),
)
"""How alerts leave the cluster themselves; where they are written to a log they do not."""
SERVICE: tuple[Flow, ...] = tuple(
    flow
    for who, what in ((PROMETHEUS, "Prometheus hands figures on"), (READER, "figures are asked for"))
    for flow in (
        Flow(who, Place.IDENTITY, (), f"{what}: the role for it"),
        Flow(who, Place.CLOUD_SERVICES, (tcp(443),), f"{what}, where the service has an endpoint"),
        Flow(who, Place.INTERNET, (tcp(443),), f"{what}, where it has none"),
    )
)
"""Those of a cluster whose figures the cloud's service keeps."""
_ALWAYS: tuple[Flow, ...] = (
    Flow(MONITORING, Place.API_SERVER, (tcp(443),), "operator, exporters and dashboards watch their objects"),
    Flow(MONITORING, DNS, NAME_PORTS, "they look names up"),
    Flow(MONITORING, MONITORING, INSIDE, "they ask one another"),
    Flow(PROMETHEUS, Place.NODES, (tcp(KUBELET), tcp(NODE_EXPORTER)), "Prometheus reads kubelets and nodes"),
    Flow(PROMETHEUS, TRACKING, (tcp(METRICS_PORT),), "Prometheus reads the tracking server's figures"),
)


def monitoring_flows(
    *, gpu_exporter: Pods | None, name_service: bool, leave: bool, remote: bool = False
) -> tuple[Flow, ...]:
    """Every flow of the namespace.

    Args:
        gpu_exporter: the pods that measure GPUs, if there are.
        name_service: whether the name service is read.
        leave: whether Alertmanager itself tells somebody outside of the cluster.
        remote: whether the cloud's service keeps the figures.
    """
    return (
        READ_FROM_QUEUES,
        *ASKED_BY_KEEPERS.values(),
        *([read_from(gpu_exporter)] if gpu_exporter is not None else []),
        *([READ_FROM_NAME_SERVICE] if name_service else []),
        *_ALWAYS,
        *(LEAVE if leave else []),
        *(SERVICE if remote else []),
    )
