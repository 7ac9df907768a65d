"""Monitoring: Prometheus, Alertmanager, Grafana and exporters, with the platform's own rules and dashboards.

Alerts leave by a topic of the ground, with the role of Alertmanager's service account; there is no password but that
of Grafana's administrator, which is made here and kept in Pulumi's state, encrypted. Nothing is open to the outside.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.core.v1 as core
import pulumi_random as random

from trainyard.components.k8s.alert_log import ROUTE as ALERT_LOG_ROUTE
from trainyard.components.k8s.alert_log import alert_log
from trainyard.components.k8s.charts import ChartArgs, release
from trainyard.components.k8s.custom_resources import CustomResource, Manifest
from trainyard.components.k8s.figures_reader import figures_reader
from trainyard.components.k8s.flows import Flow, Pods, fence
from trainyard.components.k8s.monitoring_flows import but_of_keepers_that_are_not, monitoring_flows
from trainyard.components.k8s.monitoring_values import (
    GRAFANA_LOGIN,
    AlertRouteArgs,
    MonitoringSizeArgs,
    RemoteFiguresArgs,
    values,
)
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import KUEUE_NAMESPACE, SYSTEM_NODES
from trainyard.conventions.monitoring import FIGURES_READER_URL, MONITORING_NAMESPACE, PROMETHEUS_URL, RELEASE
from trainyard.monitoring.alerts.platform import CERTIFICATE_EXPIRY
from trainyard.monitoring.dashboards.boards import dashboards
from trainyard.monitoring.dashboards.render import FOLDER, as_json
from trainyard.monitoring.model import group

PASSWORD_LENGTH = 32


class GpuExporterArgs(TypedDict):
    """Pods of a DCGM exporter; their port is called `metrics`."""

    namespace: str
    """Namespace that they run in."""
    labels: Mapping[str, str]
    """Labels that they have."""


class MonitoringArgs(TypedDict):
    """Arguments of `Monitoring`."""

    chart: ChartArgs
    """The chart `kube-prometheus-stack`."""
    cluster: str
    """Name of the cluster, a label of every alert."""
    size: MonitoringSizeArgs
    """What Prometheus gets."""
    rules: Mapping[str, Any]
    """The rules, as a file of Prometheus: `groups`."""
    chips: NotRequired[bool]
    """Whether there are TPU slices, whose chips the dashboards have beside GPUs; `rules` have to record their figures.
    Default: no."""
    gpu_exporter: NotRequired[GpuExporterArgs]
    """The pods that measure GPUs. Default: there are none."""
    name_service: NotRequired[bool]
    """Whether CoreDNS answers for the names of the cluster, and is read. Default: yes."""
    storage_class: NotRequired[pulumi.Input[str]]
    """StorageClass of Prometheus' volume. Default: the cluster's default."""
    certificates: NotRequired[Mapping[str, pulumi.Input[str]]]
    """When certificates of the platform's are valid no more, RFC 3339, by whose they are. Default: none."""
    route: NotRequired[AlertRouteArgs]
    """The way by which alerts leave the cluster. Default: they are shown and leave it by none."""
    alert_log_image: NotRequired[str]
    """Image with Python, `image:tag@sha256:...`, of a program that writes alerts to its log, in place of `route`: for a
    ground whose own monitoring reads logs. Default: none."""
    remote: NotRequired[RemoteFiguresArgs]
    """The cloud's service that keeps the figures, evaluates `rules` and tells of alerts, which is given those by the
    caller; here are none of them then, and no Alertmanager. Default: Prometheus does it here."""
    service_account_annotations: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Annotations that give Alertmanager's service account a role in the ground. Default: none."""
    keepers: NotRequired[Sequence[str]]
    """Names of the keepers beside Kueue's manager that ask Prometheus. Default: none does."""
    addresses: NotRequired[AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown, and the namespace gets no network
    policies."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that it runs on. Default: the system nodes', `ml.platform/pool: system`."""


class Monitoring(pulumi.ComponentResource):
    """The chart in a namespace of its own, what it reads besides, rules, dashboards and network policies."""

    namespace: pulumi.Output[str]
    """Namespace that it runs in."""
    prometheus_url: str
    """Prometheus as pods of the cluster reach it."""

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Monitoring", name, {}, opts)
        before = prerequisites(opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        made = add_on_namespace(
            f"{name}-namespace", MONITORING_NAMESPACE, self, pod_security="baseline", depends_on=before
        )
        self.namespace = named(made, MONITORING_NAMESPACE)
        remote = args.get("remote")
        self.prometheus_url = PROMETHEUS_URL if remote is None else FIGURES_READER_URL
        walls: list[pulumi.Resource] = []
        if "addresses" in args:
            walls = fence(
                name, MONITORING_NAMESPACE, _flows(args), args["addresses"], inside=self.namespace, opts=child
            )
        if "alert_log_image" in args:
            route: AlertRouteArgs | None = ALERT_LOG_ROUTE
            walls += alert_log(
                name, args["alert_log_image"], self.namespace, args.get("node_selector", SYSTEM_NODES), child
            )
        else:
            route = args.get("route")
        if remote is not None:
            place = args.get("node_selector", SYSTEM_NODES)
            walls += figures_reader(name, remote, self.namespace, place, child)
        login = self._login(name, child)
        stack = release(
            f"{name}-release",
            args["chart"],
            release_name=RELEASE,
            namespace=self.namespace,
            values=values(
                cluster=args["cluster"],
                size=args["size"],
                storage_class=args.get("storage_class"),
                route=route,
                name_service=args.get("name_service", True),
                node_selector=args.get("node_selector", SYSTEM_NODES),
                annotations=args.get("service_account_annotations", {}),
                remote=remote,
            ),
            parent=self,
            depends_on=[*before, *walls, login],
        )
        own = pulumi.ResourceOptions(parent=self, depends_on=[stack])
        for short, manifest in _watched(args, self.namespace).items():
            CustomResource(f"{name}-{short}", manifest, own)
        for board in dashboards(chips=args.get("chips", False)):
            core.ConfigMap(
                f"{name}-{board.uid}",
                metadata={
                    "name": board.uid,
                    "namespace": self.namespace,
                    "labels": {"grafana_dashboard": "1"},
                    "annotations": {"grafana_folder": FOLDER},
                },
                data={f"{board.uid}.json": as_json(board)},
                opts=child,
            )
        register(self)

    def _login(self, name: str, opts: pulumi.ResourceOptions) -> core.Secret:
        password = random.RandomPassword(
            f"{name}-grafana-password", length=PASSWORD_LENGTH, special=False, opts=pulumi.ResourceOptions(parent=self)
        )
        return core.Secret(
            f"{name}-grafana-login",
            metadata={"name": GRAFANA_LOGIN, "namespace": self.namespace},
            type="Opaque",
            string_data={"user": "admin", "password": password.result},
            opts=opts,
        )


def _flows(args: MonitoringArgs) -> list[Flow]:
    """What the namespace's walls let by: what is there only."""
    flows = monitoring_flows(
        gpu_exporter=Pods(args["gpu_exporter"]["namespace"], tuple(args["gpu_exporter"]["labels"].items()))
        if "gpu_exporter" in args
        else None,
        name_service=args.get("name_service", True),
        leave="alert_log_image" not in args and "remote" not in args,
        remote="remote" in args,
    )
    return but_of_keepers_that_are_not(flows, args.get("keepers", ()), remote="remote" in args)


def _watched(args: MonitoringArgs, namespace: pulumi.Input[str]) -> dict[str, Manifest]:
    """Rules, and what Prometheus reads besides what the chart brings, by a short name."""
    found = {
        "queues": _queue_monitor(namespace),
        "tracking": _pod_monitor("mlflow", namespace, "mlflow", {"app.kubernetes.io/name": "mlflow"}, "metrics"),
    }
    if "remote" not in args:
        found["rules"] = _manifest("PrometheusRule", "trainyard", namespace, dict(args["rules"]))
        if args.get("certificates"):
            spec = {"groups": [certificate_rules(args["certificates"])]}
            found["certificates"] = _manifest("PrometheusRule", "trainyard-certificates", namespace, spec)
    if "gpu_exporter" in args:
        exporter = args["gpu_exporter"]
        found["gpus"] = _pod_monitor("dcgm-exporter", namespace, exporter["namespace"], exporter["labels"], "metrics")
    return found


def certificate_rules(certificates: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    """The group of rules that say when certificates end."""
    return group("trainyard-certificates", _expiries(certificates))


def _expiries(certificates: Mapping[str, pulumi.Input[str]]) -> list[dict[str, Any]]:
    """When each certificate ends, as a constant that alerts compare with the clock."""

    def second(ends: str) -> str:
        return f"vector({datetime.fromisoformat(ends.replace('Z', '+00:00')).timestamp():.0f})"

    return [
        {
            "record": CERTIFICATE_EXPIRY,
            "expr": pulumi.Output.from_input(ends).apply(second),
            "labels": {"certificate": name},
        }
        for name, ends in certificates.items()
    ]


def _manifest(kind: str, name: str, namespace: pulumi.Input[str], spec: Mapping[str, Any]) -> Manifest:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }


def _job(name: str) -> list[dict[str, Any]]:
    return [{"targetLabel": "job", "replacement": name}]


def _queue_monitor(namespace: pulumi.Input[str]) -> Manifest:
    """Kueue's manager answers whom the API server lets read /metrics. Its own labels stay: they name queues."""
    endpoint = {
        "port": "https",
        "scheme": "https",
        "path": "/metrics",
        "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
        # Its certificate is its own; who may read is asked of the API server.
        "tlsConfig": {"insecureSkipVerify": True},
        "honorLabels": True,
        "relabelings": _job("kueue"),
    }
    spec = {
        "namespaceSelector": {"matchNames": [KUEUE_NAMESPACE]},
        "selector": {"matchLabels": {"app.kubernetes.io/name": "kueue"}},
        "endpoints": [endpoint],
    }
    return _manifest("ServiceMonitor", "kueue", namespace, spec)


def _pod_monitor(name: str, namespace: pulumi.Input[str], of: str, labels: Mapping[str, str], port: str) -> Manifest:
    """Reads the pods with these labels. Their own namespace and pod are no labels of what they say of others."""
    dropped: Sequence[dict[str, Any]] = [{"action": "labeldrop", "regex": "namespace|pod|container|endpoint"}]
    spec = {
        "namespaceSelector": {"matchNames": [of]},
        "selector": {"matchLabels": dict(labels)},
        "podMetricsEndpoints": [
            {"port": port, "path": "/metrics", "honorLabels": True, "relabelings": [*_job(name), *dropped]}
        ],
    }
    return _manifest("PodMonitor", name, namespace, spec)
