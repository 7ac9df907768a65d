"""Values of kube-prometheus-stack: what runs, how large, what it keeps, and by which way alerts leave.

Rules and dashboards of the chart are off: they watch a control plane that a cloud runs, and none of their alerts has a
runbook of ours. What is watched instead is in `trainyard.monitoring`.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.conventions import (
    CAPACITY_LABEL,
    GPU_RESOURCE,
    INSTANCE_TYPE_LABEL,
    POOL_LABEL,
    SYSTEM_TOLERATION,
    TEAM_LABEL,
)
from trainyard.conventions.monitoring import (
    ALERTMANAGER_ACCOUNT,
    FIGURES_READER_URL,
    MONITORING_NAMESPACE,
    RELEASE,
)
from trainyard.monitoring.alerts.gpu import SCRAPE_SECONDS
from trainyard.monitoring.alerts.platform import WATCHDOG

GRAFANA_LOGIN = f"{RELEASE}-grafana-login"
"""Secret with the login of Grafana's administrator."""
NODE_EXPORTER_NAMESPACE = "kube-system"
"""It sees the node's own files, which the namespace of the rest does not allow."""

SUBJECT = "[{{ .Status }}] {{ .CommonLabels.alertname }} {{ .CommonLabels.cluster }}"
MESSAGE = (
    "{{ range .Alerts }}{{ .Status }}: {{ .Labels.alertname }} ({{ .Labels.severity }}), cluster {{ "
    ".Labels.cluster }}\n"
    "{{ .Annotations.summary }}\n\n{{ .Annotations.description }}\nRunbook: {{ .Annotations.runbook_url }}\n"
    "Since {{ .StartsAt }}\n\n{{ end }}"
)
"""What somebody reads who is told, as Alertmanager's templates."""

NOTICE_REPEATED, ALERTMANAGER_REMEMBERS = "840h", "850h"
"""A notice that still holds is sent again after 35 days, and for longer than that it is known that it was sent."""

_OBJECTS = (
    "cronjobs",
    "daemonsets",
    "deployments",
    "jobs",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "pods",
    "replicasets",
    "resourcequotas",
    "statefulsets",
)
"""Kinds that kube-state-metrics reads: no Secrets, which it would otherwise be let see."""


class AlertRouteArgs(TypedDict):
    """The way by which alerts leave the cluster."""

    integration: str
    """Alertmanager's key for it, `sns_configs`."""
    alerts: Mapping[str, Any]
    """What it needs there to tell people."""
    watchdog: NotRequired[Mapping[str, Any]]
    """What it needs to tell that alerts would arrive. Default: nobody outside waits for it."""


class RemoteFiguresArgs(TypedDict):
    """The cloud's service that keeps figures, evaluates rules and tells of alerts."""

    endpoint: pulumi.Input[str]
    """Address of the workspace at the service that keeps the figures, with a slash at its end."""
    region: str
    """Region of the workspace, which requests are signed for."""
    reader_image: str
    """Image with Python, `image:tag@sha256:...`, of the program that signs what the cluster asks."""


KEPT_HERE = "2h"
"""How long a Prometheus keeps figures that hands them on: nobody asks it. What cannot be sent is sent later out of the
write-ahead log, which has two hours (Prometheus documentation, "Remote write tuning")."""


class MonitoringSizeArgs(TypedDict):
    """What Prometheus gets."""

    retention_days: int
    """How long Prometheus keeps figures."""
    storage_gib: int
    """Size of the volume of Prometheus."""
    cpu: str
    """Cores that Prometheus requests, a Kubernetes quantity."""
    memory: str
    """Memory that Prometheus requests and has at most, a Kubernetes quantity."""


def values(
    *,
    cluster: str,
    size: MonitoringSizeArgs,
    storage_class: pulumi.Input[str] | None,
    route: AlertRouteArgs | None,
    name_service: bool,
    node_selector: Mapping[str, str],
    annotations: Mapping[str, pulumi.Input[str]],
    remote: RemoteFiguresArgs | None = None,
) -> dict[str, Any]:
    """The values of the chart. `annotations` are of Alertmanager's service account; with `remote` there is none."""
    place = {"nodeSelector": dict(node_selector), "tolerations": [dict(SYSTEM_TOLERATION)]}
    off = {"enabled": False}
    return {
        "fullnameOverride": RELEASE,
        "cleanPrometheusOperatorObjectNames": True,
        "defaultRules": {"create": False},
        # Parts of a control plane that no pod reaches.
        "kubeControllerManager": off,
        "kubeScheduler": off,
        "kubeEtcd": off,
        "kubeProxy": off,
        **({} if name_service else {"coreDns": off}),
        "alertmanager": _alertmanager(route, place, annotations) if remote is None else off,
        "grafana": _grafana(place, remote is not None),
        "prometheusOperator": {
            **place,
            # Rules are checked before they are sent; a webhook of its own is one more thing that has to run.
            "admissionWebhooks": off,
            "tls": off,
            "resources": _resources("50m", "128Mi", "256Mi"),
        },
        "prometheus": {"prometheusSpec": _prometheus(cluster, size, storage_class, place, remote)},
        "kube-state-metrics": {
            **place,
            "fullnameOverride": "kube-state-metrics",
            "collectors": list(_OBJECTS),
            "metricLabelsAllowlist": [
                f"nodes=[{POOL_LABEL},{CAPACITY_LABEL},{INSTANCE_TYPE_LABEL}]",
                f"namespaces=[{TEAM_LABEL}]",
            ],
            "customResourceState": {"enabled": True, "config": _workloads()},
            "rbac": {
                "extraRules": [
                    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list", "watch"]},
                    {
                        "apiGroups": ["apiextensions.k8s.io"],
                        "resources": ["customresourcedefinitions"],
                        "verbs": ["list", "watch"],
                    },
                ]
            },
            "resources": _resources("50m", "192Mi", "512Mi"),
        },
        "prometheus-node-exporter": {
            "fullnameOverride": "node-exporter",
            "namespaceOverride": NODE_EXPORTER_NAMESPACE,
            "tolerations": [{"operator": "Exists"}],
            "priorityClassName": "system-node-critical",
            "resources": _resources("25m", "32Mi", "96Mi"),
        },
    }


def _prometheus(
    cluster: str,
    size: MonitoringSizeArgs,
    storage_class: pulumi.Input[str] | None,
    place: Mapping[str, Any],
    remote: RemoteFiguresArgs | None,
) -> dict[str, Any]:
    claim: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{size['storage_gib']}Gi"}},
    }
    if storage_class is not None:
        claim["storageClassName"] = storage_class
    every = ("podMonitor", "probe", "rule", "scrapeConfig", "serviceMonitor")
    return {
        **place,
        "replicas": 1,
        "retention": f"{size['retention_days']}d" if remote is None else KEPT_HERE,
        **({} if remote is None else {"remoteWrite": [_written_to(remote)]}),
        # Prometheus drops the oldest before its volume is full.
        "retentionSize": f"{size['storage_gib'] * 9 // 10}GiB",
        "scrapeInterval": f"{SCRAPE_SECONDS}s",
        "evaluationInterval": f"{SCRAPE_SECONDS}s",
        # A workspace has one cluster: its series have the labels that they have here, and rules the same text.
        **(
            {"externalLabels": {"cluster": cluster}}
            if remote is None
            else {"prometheusExternalLabelNameClear": True, "replicaExternalLabelNameClear": True}
        ),
        "resources": _resources(size["cpu"], size["memory"], size["memory"]),
        "storageSpec": {"volumeClaimTemplate": {"spec": claim}},
        # Without it the volume outlives the environment, and is paid for.
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in every},
    }


def _written_to(remote: RemoteFiguresArgs) -> dict[str, Any]:
    """Where figures are handed on to, signed with the role of Prometheus' own service account."""
    return {
        "url": pulumi.Output.concat(remote["endpoint"], "api/v1/remote_write"),
        "sigv4": {"region": remote["region"]},
        # As the service has it in its own guide: a thousand samples a request, and shards for a few hundred nodes.
        "queueConfig": {"maxSamplesPerSend": 1000, "maxShards": 200, "capacity": 2500},
    }


def _alertmanager(
    route: AlertRouteArgs | None, place: Mapping[str, Any], annotations: Mapping[str, pulumi.Input[str]]
) -> dict[str, Any]:
    account: dict[str, Any] = {"create": True, "name": ALERTMANAGER_ACCOUNT}
    if annotations:
        account["annotations"] = dict(annotations)
    return {
        "serviceAccount": account,
        "alertmanagerSpec": {
            **place,
            "replicas": 1,
            "retention": ALERTMANAGER_REMEMBERS,
            "resources": _resources("20m", "64Mi", "128Mi"),
        },
        "config": routing(route),
    }


def routing(route: AlertRouteArgs | None, longest: str = NOTICE_REPEATED) -> dict[str, Any]:
    """Alertmanager's configuration: who is told of what, and how often. `longest` is how seldom a notice that holds is
    told again."""
    quiet = {"name": "nobody"}
    routes: list[dict[str, Any]] = [{"matchers": ['severity="info"'], "receiver": "nobody"}]
    receivers: list[dict[str, Any]] = [quiet]
    everybody = "nobody"
    if route is not None:
        everybody = "topic"
        receivers.append({"name": "topic", route["integration"]: [{"send_resolved": True, **route["alerts"]}]})
        routes.append(
            {"matchers": ['severity="critical"'], "receiver": "topic", "group_wait": "10s", "repeat_interval": "4h"}
        )
        # A month's notice is told once: Alertmanager has to remember for longer than a month that it was.
        routes.append({"matchers": ['severity="notice"'], "receiver": "topic", "repeat_interval": longest})
        if "watchdog" in route:
            receivers.append(
                {"name": "watchdog", route["integration"]: [{"send_resolved": False, **route["watchdog"]}]}
            )
            always = {"matchers": [f'alertname="{WATCHDOG}"'], "receiver": "watchdog"}
            routes.insert(0, {**always, "group_wait": "0s", "group_interval": "1m", "repeat_interval": "4m"})
    return {
        "route": {
            "receiver": everybody,
            "group_by": ["alertname", "namespace", "team"],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": routes,
        },
        "receivers": receivers,
        # What does nothing is used too little as well: it is said once.
        "inhibit_rules": [
            {
                "source_matchers": ['alertname="GpuIdle"'],
                "target_matchers": ['alertname="GpuUnderused"'],
                "equal": ["namespace", "pod"],
            }
        ],
    }


def _grafana(place: Mapping[str, Any], remote: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {"url": f"{FIGURES_READER_URL}/", "alertmanager": {"enabled": False}} if remote else {}
    return {
        **place,
        "fullnameOverride": f"{RELEASE}-grafana",
        "admin": {"existingSecret": GRAFANA_LOGIN, "userKey": "user", "passwordKey": "password"},
        "defaultDashboardsEnabled": False,
        "persistence": {"enabled": False},
        "testFramework": {"enabled": False},
        "sidecar": {
            "dashboards": {
                "enabled": True,
                "label": "grafana_dashboard",
                "labelValue": "1",
                # Not the chart's ALL: teams make ConfigMaps in their namespaces.
                "searchNamespace": MONITORING_NAMESPACE,
                "folderAnnotation": "grafana_folder",
                "provider": {"foldersFromFilesStructure": True, "allowUiUpdates": False},
            },
            "datasources": {"searchNamespace": MONITORING_NAMESPACE, **asked},
            "resources": _resources("10m", "96Mi", "192Mi"),
        },
        # It has no way out of the cluster, and is not to try one.
        "grafana.ini": {"analytics": {"check_for_updates": False, "reporting_enabled": False}},
        "resources": _resources("50m", "192Mi", "384Mi"),
    }


def _workloads() -> dict[str, Any]:
    """Kueue's Workloads as series: each condition, when it last changed, whether somebody switched the job off, and the
    GPUs that it holds."""

    def gauge(name: str, what: str, path: list[str], *value: str, labels: Mapping[str, list[str]] | None = None) -> Any:
        read: dict[str, Any] = {"path": path, "valueFrom": list(value)}
        if labels:
            read["labelsFromPath"] = dict(labels)
        return {"name": name, "help": what, "each": {"type": "Gauge", "gauge": read}}

    of_condition = {"type": ["type"], "reason": ["reason"]}
    conditions = ["status", "conditions"]
    return {
        "kind": "CustomResourceStateMetrics",
        "spec": {
            "resources": [
                {
                    "groupVersionKind": {"group": "kueue.x-k8s.io", "version": "v1beta2", "kind": "Workload"},
                    "metricNamePrefix": "kueue",
                    "labelsFromPath": {
                        "namespace": ["metadata", "namespace"],
                        "name": ["metadata", "name"],
                        "queue": ["spec", "queueName"],
                        "priority": ["spec", "priorityClassRef", "name"],
                    },
                    "metrics": [
                        gauge("workload_condition", "Whether it holds.", conditions, "status", labels=of_condition),
                        gauge(
                            "workload_condition_time",
                            "When it last changed.",
                            conditions,
                            "lastTransitionTime",
                            labels=of_condition,
                        ),
                        gauge(
                            "workload_gpus",
                            "GPUs that it holds, by flavor and set of pods.",
                            ["status", "admission", "podSetAssignments"],
                            "resourceUsage",
                            GPU_RESOURCE,
                            labels={"pod_set": ["name"], "flavor": ["flavors", GPU_RESOURCE]},
                        ),
                        gauge("workload_active", "0: switched off.", ["spec"], "active"),
                    ],
                }
            ]
        },
    }


def _resources(cpu: str, memory: str, most: str) -> dict[str, Any]:
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": most}}
