"""What charts' values name is there, or is made by others; monitoring takes what is meant for it."""

from __future__ import annotations

import json

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, DROP, changed, obj, resource
from tests.rehearsal.works.mistakes import context_of
from tests.rehearsal.works.mistakes_chart_values import monitoring
from tests.rehearsal.works.references.foreign import release
from tests.rehearsal.works.references.test_mistakes import findings

OUR_RULES = {
    "reference-chart-value", "reference-key", "reference-storage-class", "reference-alert-route",
    "reference-monitor-unread", "reference-sidecar", "reference-address",
}  # fmt: skip


def rules(resources, context=CONTEXT):
    return {finding.rule for finding in findings(resources, context)} & OUR_RULES


UNUSUAL = {
    "a key that may be missing": lambda: monitoring(
        "grafana.envValueFrom",
        {"TOKEN": {"secretKeyRef": {"name": "monitoring-grafana-login", "key": "token", "optional": True}}},
    ),
    "what the chart makes itself": lambda: monitoring(
        "prometheus.prometheusSpec.volumes", [{"name": "web", "secret": {"secretName": "monitoring-prometheus-web"}}]
    ),
    "a template in a value": lambda: monitoring("grafana.envFromSecret", "{{ .Release.Name }}-grafana"),
    "a part that is switched off": lambda: monitoring(
        "thanosRuler", {"enabled": False, "existingSecret": {"name": "x"}, "storageClassName": "fast"}
    ),
    "a class that EKS brings": lambda: monitoring(
        "prometheus.prometheusSpec.storageSpec.volumeClaimTemplate.spec.storageClassName", "gp2"
    ),
    "dashboards everywhere": lambda: monitoring("grafana.sidecar.dashboards.searchNamespace", "ALL"),
    "dashboards of two namespaces": lambda: monitoring(
        "grafana.sidecar.dashboards.searchNamespace", ["monitoring", "kube-system"]
    ),
    "silent hours that are written down": lambda: monitoring(
        "alertmanager.config",
        {
            "receivers": [{"name": "null"}, {"name": "people"}],
            "time_intervals": [{"name": "nights"}],
            "route": {"receiver": "people", "routes": [{"receiver": "null", "mute_time_intervals": ["nights"]}]},
        },
    ),
    "rules by a label that ours have": lambda: monitoring("prometheus.prometheusSpec.ruleSelector", {}),
    "no Prometheus": lambda: monitoring("prometheus.enabled", False),
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    demo = rehearsed(WHOLE)
    assert rules(UNUSUAL[what]()(demo.known.resources), context_of(demo)) == set()


DASHBOARD = json.dumps({"schemaVersion": 41, "title": "Ours", "panels": []})
ROUTES = {"route": {"receiver": "slack", "routes": []}, "receivers": [{"name": "slack", "slack_configs": [{}]}]}
FOREIGN = [
    obj("v1", "Namespace", "monitoring"),
    release(
        "kps",
        "kube-prometheus-stack",
        "monitoring",
        "88.5.3",
        grafana={"admin": {"existingSecret": "grafana"}, "imagePullSecrets": ["registry"]},
        alertmanager={"config": ROUTES},
    ),
    obj("v1", "Secret", "grafana", "monitoring", stringData={"admin-user": "a", "admin-password": "b"}),
    obj("v1", "Secret", "registry", "monitoring", type="kubernetes.io/dockerconfigjson", data={"x": "e"}),
    obj(
        "v1", "ConfigMap", "board", "monitoring",
        metadata={"labels": {"grafana_dashboard": "1"}}, data={"board.json": DASHBOARD},
    ),
    obj(
        "monitoring.coreos.com/v1", "PodMonitor", "web", "monitoring",
        metadata={"labels": {"release": "kps"}}, spec={"selector": {}, "podMetricsEndpoints": [{"port": "m"}]},
    ),
]  # fmt: skip


def test_a_correct_program_of_somebody_else_is_not_accused():
    assert rules(FOREIGN) == set()


@pytest.mark.parametrize(
    ("name", "path", "value", "rule"),
    [
        ("release-kps", "values.grafana.admin.existingSecret", "grafana-login", "reference-chart-value"),
        ("release-kps", "values.grafana.admin.userKey", "user", "reference-key"),
        ("release-kps", "values.grafana.imagePullSecrets[0]", "docker", "reference-chart-value"),
        ("release-kps", "values.alertmanager.config.route.routes", DROP, "reference-alert-route"),
        ("configmap-board", "metadata.labels", {}, "reference-sidecar"),
        ("podmonitor-web", "metadata.labels.release", "prometheus", "reference-monitor-unread"),
    ],
)
def test_a_mistake_of_somebody_else_is_told(name, path, value, rule):
    assert rule in rules(changed(FOREIGN, name, path, value))


OTHERS = {
    "a controller that fills secrets in": obj(
        "external-secrets.io/v1", "ExternalSecret", "grafana", "monitoring", spec={"target": {"name": "grafana-login"}}
    ),
    "a chart that no table knows": release("ours", "our-secrets", "monitoring"),
    "a namespace of another program": None,
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_secret_that_others_may_make_is_not_missing(what):
    wrong = changed(FOREIGN, "release-kps", "values.grafana.admin.existingSecret", "of-others")
    added = OTHERS[what]
    given = [*wrong, added] if added is not None else [one for one in wrong if one.name != "namespace-monitoring"]
    assert rules(given) == set()


def test_monitors_that_something_else_reads_are_not_accused():
    other = changed(FOREIGN, "podmonitor-web", "metadata.labels", {})
    assert rules([*other, release("vm", "victoria-metrics-operator", "vm")]) == set()
    second = obj("monitoring.coreos.com/v1", "Prometheus", "second", "monitoring", spec={})
    assert rules([*other, second]) == set()


def test_a_dashboard_that_a_pod_mounts_is_shown():
    board = changed(FOREIGN, "configmap-board", "metadata.labels", {})
    pod = {
        "containers": [{"name": "grafana", "image": "grafana"}],
        "volumes": [{"name": "board", "configMap": {"name": "board"}}],
    }
    labels = {"app": "grafana"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    assert rules([*board, obj("apps/v1", "Deployment", "grafana", "monitoring", spec=spec)]) == set()


def test_a_class_on_a_cluster_of_others_may_be_theirs():
    claim = obj("v1", "PersistentVolumeClaim", "data", "monitoring", spec={"storageClassName": "fast"})
    assert rules([*FOREIGN, claim]) == set()
    cluster = resource("aws:eks/cluster:Cluster", "cluster", {"name": "c", "version": "1.35"})
    assert rules([*FOREIGN, claim, cluster]) == {"reference-storage-class"}
    assert rules([*FOREIGN, claim, cluster, release("ceph", "rook-ceph", "rook")]) == set()


def test_a_volume_and_its_claim_only_have_to_say_the_same_class():
    cluster = resource("aws:eks/cluster:Cluster", "cluster", {"name": "c", "version": "1.35"})
    kept = {"namespace": "monitoring", "name": "data"}
    size, modes = {"storage": "1Ti"}, ["ReadOnlyMany"]
    volume = {
        "storageClassName": "static", "claimRef": kept, "capacity": size, "accessModes": modes,
        "csi": {"driver": "s3.csi.aws.com", "volumeHandle": "data"},
    }  # fmt: skip
    claim = {
        "storageClassName": "static", "volumeName": "data", "accessModes": modes, "resources": {"requests": size},
    }  # fmt: skip

    def said(volume, claim):
        made = (obj("v1", "PersistentVolume", "data", spec=volume),
                obj("v1", "PersistentVolumeClaim", "data", "monitoring", spec=claim))  # fmt: skip
        return rules([*FOREIGN, cluster, *made])

    assert said(volume, claim) == set()
    by_class = {key: value for key, value in claim.items() if key != "volumeName"}
    assert said({**volume, "storageClassName": "other"}, by_class) == {"reference-storage-class"}
