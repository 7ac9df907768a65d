"""Monitoring in the example stacks: the way of alerts from a rule to somebody, and who watches the watcher."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import EKS
from tests.monitoring.promtool import check_rules, needs_promtool
from tests.shared import ROOT
from trainyard.conventions import TEAM_LABEL
from trainyard.conventions.monitoring import (
    ALERTMANAGER_ACCOUNT,
    BUDGET_KEEPER,
    MONITORING_NAMESPACE,
    PLATFORM_NAMESPACES,
)
from trainyard.recorded.monitoring import CLAIM, prometheus_stacks, storage_class
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY, SNS_TOPIC
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights

Rehearsed = Callable[[str], Rehearsal]
ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"


@pytest.fixture(scope="module", params=EKS)
def resources(request: pytest.FixtureRequest, rehearsed: Rehearsed) -> Resources:
    return Resources(rehearsed(request.param).resources)


def topics(resources: Resources) -> dict[str, str]:
    return {topic.name: arn_of(topic) for topic in resources.of(SNS_TOPIC)}


def config(resources: Resources) -> dict[str, Any]:
    (release,) = prometheus_stacks(resources)
    found: dict[str, Any] = value_at(release.inputs, "values", "alertmanager", "config")
    return found


def test_alerts_go_to_the_topic_of_the_budget_and_the_watchdog_to_its_own(resources: Resources) -> None:
    receivers = {receiver["name"]: receiver for receiver in config(resources)["receivers"]}
    made = topics(resources)
    assert receivers["topic"]["sns_configs"][0]["topic_arn"] == made["budget-alerts"]
    assert receivers["watchdog"]["sns_configs"][0]["topic_arn"] == made["watchdog-topic"]


def test_alertmanager_may_publish_there_and_nowhere_else(resources: Resources) -> None:
    rights = Rights(resources)
    pod = Pod(MONITORING_NAMESPACE, ALERTMANAGER_ACCOUNT)
    region = topics(resources)["budget-alerts"].split(":")[3]
    key = next(arn_of(found) for found in resources.of("aws:kms/key:Key") if found.name == "platform-key")
    for name, arn in topics(resources).items():
        assert rights.may(pod, "sns:Publish", arn).allowed == (name in ("budget-alerts", "watchdog-topic")), name
    through = {"kms:ViaService": f"sns.{region}.amazonaws.com"}
    of_topic = {**through, "kms:EncryptionContext:aws:sns:topicArn": topics(resources)["budget-alerts"]}
    assert rights.may(pod, "kms:GenerateDataKey", key, of_topic).allowed
    assert rights.may(pod, "kms:GenerateDataKey", key, through).refused
    assert rights.may(pod, "kms:Decrypt", key, {"kms:ViaService": f"ec2.{region}.amazonaws.com"}).refused


def test_where_messages_stop_an_alarm_goes_to_the_topic(resources: Resources) -> None:
    (alarm,) = resources.of(ALARM)
    assert value_at(alarm.inputs, "treatMissingData") == "breaching"
    assert value_at(alarm.inputs, "comparisonOperator") == "LessThanThreshold"
    assert value_at(alarm.inputs, "alarmActions") == [topics(resources)["budget-alerts"]]
    topic = next(found for found in resources.of(SNS_TOPIC) if found.name == "watchdog-topic")
    assert topic.urn in alarm.property_dependencies["dimensions"]


def test_the_volume_is_encrypted_and_goes_with_its_claim(resources: Resources) -> None:
    (release,) = prometheus_stacks(resources)
    made = storage_class(resources, value_at(release.inputs, *CLAIM, "storageClassName"))
    assert made is not None
    assert value_at(made.inputs, "parameters", "encrypted") == "true"
    assert value_at(made.inputs, "reclaimPolicy") == "Delete"
    tags = [value for key, value in value_at(made.inputs, "parameters").items() if key.startswith("tagSpecification_")]
    assert any(tag.startswith("client=") for tag in tags)


@needs_promtool
def test_promtool_takes_every_rule_that_is_deployed(resources: Resources, tmp_path) -> None:
    rules = resources.of("kubernetes:monitoring.coreos.com/v1:PrometheusRule")
    named = next(rule for rule in rules if rule.name == "monitoring-rules")
    assert check_rules(json.loads(json.dumps(named.inputs["spec"])), tmp_path) == ""


def test_every_team_is_counted_with_its_people(resources: Resources) -> None:
    rule = next(
        found
        for found in resources.of("kubernetes:monitoring.coreos.com/v1:PrometheusRule")
        if found.name == "monitoring-rules"
    )
    members = next(group for group in rule.inputs["spec"]["groups"] if group["name"] == "trainyard-constants")
    teams = {
        value_at(space.inputs, "metadata", "name")
        for space in resources.of(NAMESPACE)
        if value_at(space.inputs, "metadata", "labels", TEAM_LABEL)
    }
    assert {entry["labels"]["namespace"] for entry in members["rules"] if "namespace" in entry["labels"]} == teams


def test_alerts_on_controllers_are_about_every_namespace_of_the_platform(resources: Resources) -> None:
    without = {"ingest", "mount-s3"}  # they have no controller
    platforms = {
        str(value_at(space.inputs, "metadata", "name"))
        for space in resources.of(NAMESPACE)
        if not value_at(space.inputs, "metadata", "labels", TEAM_LABEL)
    }
    assert platforms - without <= set(PLATFORM_NAMESPACES)


def test_the_walls_know_the_keeper_of_budgets_only_where_there_is_one(rehearsed: Rehearsed) -> None:
    nobody_held = rehearse(ROOT, "demo", config_overrides={"teamBudgets": {"hold": False}})
    assert [str(finding) for finding in nobody_held.errors] == []
    assert BUDGET_KEEPER not in str([policy.inputs for policy in Resources(nobody_held.resources).of(NETWORK_POLICY)])
    held = Resources(rehearsed("demo").resources).of(NETWORK_POLICY)
    assert {policy.name for policy in held if BUDGET_KEEPER in str(policy.inputs)} == {
        "kueue-allow-budget-keeper",
        "monitoring-allow-prometheus",
    }
