"""Figures that Amazon's managed Prometheus keeps: the demo with `monitoring.service: managed`, and what is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.monitoring.promtool import check_rules, needs_promtool
from tests.rehearsal.works.mistakes import told
from tests.shared import ROOT, as_configuration
from trainyard.components.k8s.monitoring_values import KEPT_HERE
from trainyard.conventions.monitoring import FIGURES_READER, FIGURES_READER_URL, MONITORING_NAMESPACE
from trainyard.monitoring.rules import FRESH
from trainyard.plan.aws.no_way_out import FIGURES
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.monitoring import CLAIM, SPEC, prometheus_stacks, rules_of
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    AMP_ALERT_MANAGER,
    AMP_RULES,
    AMP_WORKSPACE,
    AMP_WORKSPACE_CONFIGURATION,
    PROMETHEUS_RULE,
)
from trainyard.review.review import Review, review

MANAGED = {"service": "managed"}


def demo(stack: str = "demo", **monitoring: Any) -> dict[str, Any]:
    file = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    config = {key.removeprefix("trainyard:"): value for key, value in file["config"].items() if "trainyard:" in key}
    return {**config, "monitoring": monitoring}


def refused(settings: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        resolve(as_configuration(settings), "managed")
    return {problem.key: problem.allowed for problem in caught.value.problems}


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Review:
    file = tmp_path_factory.mktemp("managed") / "Pulumi.managed.yaml"
    config = {f"trainyard:{key}": value for key, value in demo(**MANAGED).items()}
    file.write_text(yaml.safe_dump({"config": {**config, "pulumi:disable-default-providers": ["*"]}}))
    return review(ROOT, file)


@pytest.fixture(scope="module")
def resources(managed: Review) -> Resources:
    return Resources(managed.rehearsal.resources)


def only(resources: Resources, type_: str) -> RecordedResource:
    (found,) = resources.of(type_)
    return found


def test_it_rehearses_without_a_finding_and_without_a_violation(managed: Review) -> None:
    assert not managed.rehearsal.findings, managed.rehearsal.findings
    assert managed.policies is not None
    assert not managed.policies.violations, managed.policies.violations


def test_the_rules_are_those_of_the_cluster_but_for_what_the_service_does_not_say(
    resources: Resources, rehearsed: Any
) -> None:
    here = {
        (rule.get("alert") or rule["record"], json.dumps(rule.get("labels", {}).get("team"))): rule["expr"]
        for each in Resources(rehearsed("demo").resources).of(PROMETHEUS_RULE)
        for group in each.inputs["spec"]["groups"]
        for rule in group["rules"]
    }
    there = {
        (rule.get("alert") or rule["record"], json.dumps(rule.get("labels", {}).get("team"))): rule["expr"]
        for rule in rules_of(only(resources, AMP_RULES))
    }
    assert not resources.of(PROMETHEUS_RULE)
    assert {name for name, _ in here.keys() - there.keys()} == {"RulesFailing", "AlertsNotDelivered"}
    differs = {name for name, expr in there.items() if here[name] != expr}
    assert differs == {("Watchdog", "null")}, "the service would say for ever that alerts arrive"
    assert there["Watchdog", "null"] == FRESH
    alerts = [rule for rule in rules_of(only(resources, AMP_RULES)) if "alert" in rule]
    assert {rule["labels"]["cluster"] for rule in alerts} == {"acme-managed"}


@needs_promtool
def test_promtool_takes_the_rules(resources: Resources, tmp_path: Any) -> None:
    check_rules(yaml.safe_load(only(resources, AMP_RULES).inputs["data"]), tmp_path)


def test_alerts_go_to_the_topics_whose_policies_let_the_service_publish(resources: Resources) -> None:
    routes = yaml.safe_load(
        yaml.safe_load(only(resources, AMP_ALERT_MANAGER).inputs["definition"])["alertmanager_config"]
    )
    told_of = {config["topic_arn"] for receiver in routes["receivers"] for config in receiver.get("sns_configs", [])}
    policies = [one.inputs for one in resources.of("aws:sns/topicPolicy:TopicPolicy")]
    for topic in told_of:
        (policy,) = [json.loads(one["policy"]) for one in policies if one["arn"] == topic]
        (statement,) = [one for one in policy["Statement"] if one["Principal"] == {"Service": "aps.amazonaws.com"}]
        assert statement["Condition"]["StringEquals"] and statement["Condition"]["ArnLike"]
    assert len(told_of) == 2
    repeats = [route["repeat_interval"] for route in routes["route"]["routes"] if "repeat_interval" in route]
    assert "840h" not in repeats and "5d" in repeats, "the service takes five days at most"


def test_the_workspace_is_encrypted_kept_for_the_month_and_protected(resources: Resources) -> None:
    workspace = only(resources, AMP_WORKSPACE)
    assert "key/" in workspace.inputs["kmsKeyArn"] and workspace.protect
    assert only(resources, AMP_WORKSPACE_CONFIGURATION).inputs["retentionPeriodInDays"] == 45


def test_prometheus_hands_on_and_whoever_asks_asks_the_program_that_signs(resources: Resources) -> None:
    (release,) = prometheus_stacks(resources)
    spec = value_at(release.inputs, *SPEC)
    assert spec["retention"] == KEPT_HERE and value_at(release.inputs, *CLAIM)["resources"]["requests"] == {
        "storage": "10Gi"
    }
    (written,) = spec["remoteWrite"]
    assert written["url"].endswith("/api/v1/remote_write") and written["sigv4"] == {"region": "us-east-1"}
    values = release.inputs["values"]
    assert values["alertmanager"] == {"enabled": False}
    assert values["grafana"]["sidecar"]["datasources"]["url"] == f"{FIGURES_READER_URL}/"
    asked = [
        json.loads(container["args"][0])["prometheus"]
        for one in resources.of("kubernetes:apps/v1:Deployment")
        for container in one.inputs["spec"]["template"]["spec"]["containers"]
        if container.get("args") and '"prometheus"' in str(container["args"][0])
    ]
    assert len(asked) == 2 and set(asked) == {FIGURES_READER_URL}


def statements(resources: Resources, name: str) -> Iterator[str]:
    for role in resources.of("aws:iam/rolePolicy:RolePolicy"):
        if role.name.startswith(name):
            for statement in json.loads(role.inputs["policy"])["Statement"]:
                yield from statement["Action"]


def test_who_writes_reads_nothing_and_who_reads_writes_nothing(resources: Resources) -> None:
    assert set(statements(resources, "figures-writer")) == {"aps:RemoteWrite"}
    assert not any("Write" in action or "*" in action for action in statements(resources, "figures-reader"))


@pytest.mark.parametrize(
    ("role", "action", "rule"),
    [
        ("figures-writer", "aps:RemoteWrite", "rights-program-lacks"),
        ("figures-reader", "aps:QueryMetrics", "rights-program-lacks"),
    ],
)
def test_a_role_without_its_right_is_found(managed: Review, role: str, action: str, rule: str) -> None:
    def change(resource: RecordedResource) -> RecordedResource:
        if resource.type != "aws:iam/rolePolicy:RolePolicy" or not resource.name.startswith(role):
            return resource
        policy = resource.inputs["policy"].replace(action, "aps:ListWorkspaces")
        return replace(resource, inputs={**resource.inputs, "policy": policy})

    found = told(managed.rehearsal, lambda every: [change(one) for one in every])
    assert [one for one in found if one.rule == rule and action in one.message], found


def test_a_rule_on_a_figure_that_nobody_exports_is_found(managed: Review) -> None:
    def change(resource: RecordedResource) -> RecordedResource:
        if resource.type != AMP_RULES:
            return resource
        data = resource.inputs["data"].replace("kube_node_status_condition", "kube_node_status_conditions")
        return replace(resource, inputs={**resource.inputs, "data": data})

    found = told(managed.rehearsal, lambda every: [change(one) for one in every])
    assert {one.rule for one in found} == {"watching-metric"}, found


def test_a_network_without_a_way_out_gets_the_service_s_endpoint() -> None:
    from tests.stacks.test_no_way_out import closed

    plan = resolve(as_configuration(closed(monitoring=MANAGED)), "closed").plan
    assert isinstance(plan.ground, AwsPlan) and FIGURES in plan.ground.network.interface_endpoints


def test_google_cloud_refuses_it_in_words() -> None:
    found = refused(demo("demo-gcp", **MANAGED))
    assert "must be cluster" in found["monitoring.service"]


def test_a_volume_or_no_monitoring_contradicts_it() -> None:
    assert "monitoring.service cluster" in refused(demo(**MANAGED, storageGib=100))["monitoring.storageGib"]
    assert "monitoring.enabled" in refused(demo(**MANAGED, enabled=False))["monitoring.service"]


def test_the_reader_has_no_token_of_the_cluster(resources: Resources) -> None:
    (found,) = [
        one for one in resources.of("kubernetes:apps/v1:Deployment") if one.inputs["metadata"]["name"] == FIGURES_READER
    ]
    assert found.inputs["metadata"]["namespace"] == MONITORING_NAMESPACE
    assert found.inputs["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
