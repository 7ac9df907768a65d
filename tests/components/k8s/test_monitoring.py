"""The monitoring: values that the chart knows, the way of alerts, what is read, and the walls around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.components.k8s.addresses import ADDRESSES
from tests.components.k8s.checkers import (
    chart_value_problems,
    check_plain_objects,
    custom_resource_problems,
    depends_on,
    whole_numbers,
)
from tests.monitoring.promtool import RULES, check_rules, needs_promtool
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.k8s.monitoring import Monitoring, MonitoringArgs
from trainyard.components.k8s.monitoring_values import GRAFANA_LOGIN
from trainyard.conventions.monitoring import ALERTMANAGER_ACCOUNT, MONITORING_NAMESPACE, PROMETHEUS_URL
from trainyard.monitoring.dashboards.boards import UIDS

RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
CHART_FILE = "kube-prometheus-stack-88.5.3.json"
TOPIC = "arn:aws:sns:eu-central-1:123456789012:alerts"


def arguments(**changes: Any) -> MonitoringArgs:
    args: dict[str, Any] = {
        "chart": {
            "chart": "kube-prometheus-stack",
            "version": "88.5.3",
            "repository": "https://prometheus-community.github.io/helm-charts",
            "image_values": {"grafana.image.registry": "registry.example.com"},
        },
        "cluster": "acme-demo",
        "size": {"retention_days": 45, "storage_gib": 50, "cpu": "500m", "memory": "3Gi"},
        "rules": RULES,
        "gpu_exporter": {"namespace": "kube-system", "labels": {"app.kubernetes.io/name": "dcgm-exporter"}},
        "storage_class": "trainyard-gp3",
        "route": {
            "integration": "sns_configs",
            "alerts": {"topic_arn": TOPIC, "sigv4": {"region": "eu-central-1"}},
            "watchdog": {"topic_arn": f"{TOPIC}-watchdog", "sigv4": {"region": "eu-central-1"}},
        },
        "addresses": ADDRESSES,
    }
    return {**args, **changes}  # type: ignore[typeddict-item, return-value]


def recorded(**changes: Any) -> Recording:
    return record(lambda: Monitoring("monitoring", arguments(**changes)))


def values(recording: Recording) -> dict[str, Any]:
    found: dict[str, Any] = whole_numbers(plain(recording.one(RELEASE, "monitoring-release").inputs["values"]))
    return found


@pytest.fixture(scope="module")
def made() -> Recording:
    return recorded()


def test_the_chart_knows_every_value(made: Recording) -> None:
    assert chart_value_problems(made.one(RELEASE, "monitoring-release"), CHART_FILE) == []


def test_the_objects_are_what_kubernetes_takes(made: Recording) -> None:
    assert check_plain_objects(made) > len(UIDS)


def customs(recording: Recording) -> dict[str, Any]:
    return {
        resource.name: whole_numbers(plain(resource.inputs))
        for resource in recording.resources
        if "monitoring.coreos.com" in resource.type
    }


def test_the_definitions_take_rules_and_monitors(made: Recording) -> None:
    assert set(customs(made)) == {f"monitoring-{short}" for short in ("rules", "queues", "gpus", "tracking")}
    for manifest in customs(made).values():
        assert custom_resource_problems(manifest) == []


@needs_promtool
def test_the_rules_are_those_that_are_tested(made: Recording, tmp_path) -> None:
    spec = customs(made)["monitoring-rules"]["spec"]
    assert yaml.safe_load(yaml.safe_dump(spec)) == whole_numbers(yaml.safe_load(yaml.safe_dump(RULES)))
    assert check_rules(spec, tmp_path) == ""


def test_definitions_come_before_what_needs_them(made: Recording) -> None:
    found = [resource for resource in made.resources if "monitoring.coreos.com" in resource.type]
    assert found
    for resource in found:
        assert "monitoring-release" in depends_on(made, resource), resource.name


def test_without_gpus_there_is_no_exporter_to_read() -> None:
    args = arguments()
    del args["gpu_exporter"]
    assert "monitoring-gpus" not in customs(record(lambda: Monitoring("monitoring", args)))


def test_where_another_name_service_answers_core_dns_is_not_waited_for(made: Recording) -> None:
    assert "coreDns" not in values(made)
    assert values(recorded(name_service=False))["coreDns"] == {"enabled": False}


def test_alerts_leave_by_the_topic_and_no_secret_is_there(made: Recording) -> None:
    config = values(made)["alertmanager"]["config"]
    receivers = {receiver["name"]: receiver for receiver in config["receivers"]}
    assert receivers["topic"]["sns_configs"][0]["topic_arn"] == TOPIC
    assert receivers["watchdog"]["sns_configs"][0]["topic_arn"] == f"{TOPIC}-watchdog"
    assert config["route"]["receiver"] == "topic"
    assert {route["receiver"] for route in config["route"]["routes"]} <= set(receivers)
    text = json.dumps(values(made))
    assert "secret_key" not in text and "password" not in json.dumps(config)
    assert values(made)["alertmanager"]["serviceAccount"]["name"] == ALERTMANAGER_ACCOUNT


def test_the_watchdog_goes_before_what_is_for_information(made: Recording) -> None:
    """It has the severity of what nobody is told: routes are tried in order."""
    routes = values(made)["alertmanager"]["config"]["route"]["routes"]
    assert [route["receiver"] for route in routes][:2] == ["watchdog", "nobody"]


def test_without_a_route_alerts_are_shown_and_sent_nowhere() -> None:
    args = arguments()
    del args["route"]
    found = values(record(lambda: Monitoring("monitoring", args)))
    config = found["alertmanager"]["config"]
    assert config["route"]["receiver"] == "nobody"
    assert [receiver["name"] for receiver in config["receivers"]] == ["nobody"]


def test_prometheus_keeps_more_than_a_month_and_less_than_its_volume(made: Recording) -> None:
    spec = values(made)["prometheus"]["prometheusSpec"]
    assert spec["retention"] == "45d"
    assert spec["retentionSize"] == "45GiB"
    claim = spec["storageSpec"]["volumeClaimTemplate"]["spec"]
    assert claim["storageClassName"] == "trainyard-gp3"
    assert claim["resources"]["requests"]["storage"] == "50Gi"
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete"}


def test_no_secret_of_the_cluster_is_read(made: Recording) -> None:
    assert "secrets" not in values(made)["kube-state-metrics"]["collectors"]
    assert "configmaps" not in values(made)["kube-state-metrics"]["collectors"]


def test_the_login_is_made_here_and_is_a_secret(made: Recording) -> None:
    secret = made.one("kubernetes:core/v1:Secret", "monitoring-grafana-login")
    assert secret.inputs["metadata"]["name"] == GRAFANA_LOGIN
    assert values(made)["grafana"]["admin"]["existingSecret"] == GRAFANA_LOGIN
    assert made.one("random:index/randomPassword:RandomPassword", "monitoring-grafana-password").inputs["length"] == 32


def test_every_dashboard_is_a_config_map_that_the_sidecar_reads(made: Recording) -> None:
    for uid in UIDS:
        board = made.one("kubernetes:core/v1:ConfigMap", f"monitoring-{uid}")
        assert board.inputs["metadata"]["labels"] == {"grafana_dashboard": "1"}
        assert json.loads(board.inputs["data"][f"{uid}.json"])["uid"] == uid


def test_walls_stand_before_the_pods_and_let_nobody_in(made: Recording) -> None:
    policies = made.of_type(POLICY)
    assert policies
    for policy in policies:
        assert policy.name in depends_on(made, made.one(RELEASE, "monitoring-release"))
        for rule in plain(policy.inputs["spec"]).get("ingress", []):
            peers = rule["from"]
            assert all(
                peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] == MONITORING_NAMESPACE
                for peer in peers
            )


def test_only_alertmanager_leaves_the_cluster(made: Recording) -> None:
    for policy in made.of_type(POLICY):
        spec = plain(policy.inputs["spec"])
        blocks = [
            peer["ipBlock"]["cidr"] for rule in spec.get("egress", []) for peer in rule["to"] if "ipBlock" in peer
        ]
        leaves = "0.0.0.0/0" in blocks
        assert leaves == (spec["podSelector"].get("matchLabels") == {"app.kubernetes.io/name": "alertmanager"})


def test_where_prometheus_is() -> None:
    assert PROMETHEUS_URL == "http://monitoring-prometheus.monitoring.svc:9090"


@needs_promtool
def test_when_a_certificate_ends_is_a_figure(tmp_path) -> None:
    found = customs(recorded(certificates={"mlflow": "2028-11-23T00:00:00Z", "other": "2028-11-23T02:00:00+02:00"}))
    spec = found["monitoring-certificates"]["spec"]
    rules = spec["groups"][0]["rules"]
    assert [rule["expr"] for rule in rules] == ["vector(1858550400)"] * 2
    assert [rule["labels"]["certificate"] for rule in rules] == ["mlflow", "other"]
    assert check_rules(spec, tmp_path) == ""


def test_no_config_map_of_a_team_becomes_a_dashboard_or_a_data_source(made: Recording) -> None:
    sidecar = values(made)["grafana"]["sidecar"]
    assert sidecar["dashboards"]["searchNamespace"] == sidecar["datasources"]["searchNamespace"] == MONITORING_NAMESPACE
