"""Mistakes in what a chart's values name: secrets and keys, classes, receivers of alerts, monitors, dashboards."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put

RELEASE = "kubernetes:helm.sh/v3:Release"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
RULE = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
_ALERTS = "alertmanager.config"
_SPEC = "prometheus.prometheusSpec"


def monitoring(path: str, value: Any) -> Change:
    """Changes a value of the monitoring stack."""
    return edit(RELEASE, "monitoring-release", put(f"values.{path}", value))


MISTAKES = [
    Mistake(
        "value-secret",
        "Grafana's login is read from a secret that nobody makes",
        monitoring("grafana.admin.existingSecret", "grafana-admin"),
        "reference-chart-value",
    ),
    Mistake(
        "value-key",
        "Grafana's password is read from a key that its secret has not",
        monitoring("grafana.admin.passwordKey", "admin-password"),
        "reference-key",
    ),
    Mistake(
        "value-default-key",
        "the name of Grafana's user key was left out: the chart reads `admin-user`",
        monitoring("grafana.admin.userKey", DROP),
        "reference-key",
    ),
    Mistake(
        "value-environment",
        "Grafana's environment takes a key that the secret has not",
        monitoring(
            "grafana.envValueFrom",
            {"GF_DATABASE_PASSWORD": {"secretKeyRef": {"name": "monitoring-grafana-login", "key": "database"}}},
        ),
        "reference-key",
    ),
    Mistake(
        "value-mount",
        "Grafana mounts a config map that nobody makes",
        monitoring("grafana.extraConfigmapMounts", [{"name": "ca", "configMap": "company-ca", "mountPath": "/ca"}]),
        "reference-chart-value",
    ),
    Mistake(
        "value-pull-secret",
        "the queue manager's image is pulled with a secret of another namespace",
        edit(RELEASE, "kueue-release", put("values.controllerManager.imagePullSecrets", [{"name": "registry"}])),
        "reference-chart-value",
    ),
    Mistake(
        "value-account",
        "the chart makes no service account, and neither does anybody else",
        monitoring("prometheus.serviceAccount", {"create": False, "name": "scraper"}),
        "reference-chart-value",
    ),
    Mistake(
        "value-class",
        "Prometheus keeps its figures on a class that nobody makes",
        monitoring(f"{_SPEC}.storageSpec.volumeClaimTemplate.spec.storageClassName", "gp3"),
        "reference-storage-class",
    ),
    Mistake(
        "claim-class",
        "a claim asks for a class that nobody makes",
        edit(
            "kubernetes:core/v1:PersistentVolumeClaim",
            "volumes-vision-scratch-claim",
            put("spec.storageClassName", "fast-local"),
        ),
        "reference-storage-class",
    ),
    Mistake(
        "value-address",
        "Grafana is told of a Prometheus in a namespace that is not there",
        monitoring("grafana.additionalDataSources", [{"url": "http://prometheus.observability.svc:9090"}]),
        "reference-address",
    ),
    Mistake(
        "receiver",
        "a route of alerts names a receiver that is not there",
        monitoring(f"{_ALERTS}.route.routes[0].receiver", "watchdogs"),
        "reference-alert-route",
    ),
    Mistake(
        "receiver-renamed",
        "a receiver was renamed, its routes were not",
        monitoring(f"{_ALERTS}.receivers[1].name", "sns"),
        "reference-alert-route",
    ),
    Mistake(
        "default-route",
        "the routes were left out, the chart's own name a receiver that ours have not",
        monitoring(f"{_ALERTS}.route.routes", DROP),
        "reference-alert-route",
    ),
    Mistake(
        "route-field",
        "a field of a route that Alertmanager does not know",
        monitoring(f"{_ALERTS}.route.group_waits", "1m"),
        "reference-alert-route",
    ),
    Mistake(
        "receiver-field",
        "a field of a receiver that Alertmanager does not know",
        monitoring(f"{_ALERTS}.receivers[1].sns_configs[0].topic", "alerts"),
        "reference-alert-route",
    ),
    Mistake(
        "silent-hours",
        "a route is silent in hours that nobody wrote down",
        monitoring(f"{_ALERTS}.route.routes[1].mute_time_intervals", ["weekends"]),
        "reference-alert-route",
    ),
    Mistake(
        "pod-monitors",
        "Prometheus takes pod monitors of its own release alone",
        monitoring(f"{_SPEC}.podMonitorSelectorNilUsesHelmValues", True),
        "reference-monitor-unread",
    ),
    Mistake(
        "service-monitors",
        "the switch by which Prometheus takes every service monitor was left out",
        monitoring(f"{_SPEC}.serviceMonitorSelectorNilUsesHelmValues", DROP),
        "reference-monitor-unread",
    ),
    Mistake(
        "rule-labels",
        "Prometheus takes rules with a label that ours have not",
        monitoring(f"{_SPEC}.ruleSelector", {"matchLabels": {"role": "alert-rules"}}),
        "reference-monitor-unread",
    ),
    Mistake(
        "monitor-namespaces",
        "Prometheus takes monitors of the teams' namespaces alone",
        monitoring(
            f"{_SPEC}.podMonitorNamespaceSelector",
            {"matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]},
        ),
        "reference-monitor-unread",
    ),
    Mistake(
        "dashboard-label",
        "Grafana's sidecar looks for a label that no dashboard has",
        monitoring("grafana.sidecar.dashboards.label", "grafana-dashboard"),
        "reference-sidecar",
    ),
    Mistake(
        "dashboard-namespace",
        "Grafana's sidecar looks in another namespace",
        monitoring("grafana.sidecar.dashboards.searchNamespace", "kube-system"),
        "reference-sidecar",
    ),
    Mistake(
        "dashboard-off",
        "Grafana's sidecar was switched off",
        monitoring("grafana.sidecar.dashboards.enabled", False),
        "reference-sidecar",
    ),
    Mistake(
        "one-dashboard",
        "one dashboard lost its label",
        edit(CONFIG_MAP, "monitoring-trainyard-cost", put("metadata.labels", {})),
        "reference-sidecar",
    ),
]
