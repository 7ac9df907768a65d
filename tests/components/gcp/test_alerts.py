"""Alerts on Google Cloud: what is counted, who is told, and what says that nobody would be."""

from __future__ import annotations

import pytest

from tests.pulumi_harness import Recording, plain, record
from tests.shared import ROOT
from trainyard.components.gcp.alerts import AlertMetrics, AlertPolicies
from trainyard.components.k8s.keepers.alert_log import lines

METRIC, POLICY = "gcp:logging/metric:Metric", "gcp:monitoring/alertPolicy:AlertPolicy"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"


@pytest.fixture(scope="module")
def made() -> Recording:
    def program() -> None:
        metrics = AlertMetrics("metrics", {"project": "acme-ml", "cluster_name": "acme-demo"})
        AlertPolicies(
            "policies",
            {
                "project": "acme-ml",
                "cluster_name": "acme-demo",
                "alerts_metric": metrics.alerts,
                "watchdog_metric": metrics.watchdog,
                "emails": ["a@example.com", "b@example.com", "a@example.com"],
                "labels": {"client": "acme"},
                "idle_chip_minutes": 45,
            },
        )

    return record(program)


def test_every_address_has_one_channel_and_hears_of_both(made: Recording) -> None:
    channels = [plain(found.inputs) for found in made.resources if found.type == CHANNEL]
    assert sorted(channel["labels"]["email_address"] for channel in channels) == ["a@example.com", "b@example.com"]
    policies = [plain(found.inputs) for found in made.resources if found.type == POLICY]
    assert [len(policy["notificationChannels"]) for policy in policies] == [2, 2, 2]
    assert all(policy["userLabels"] == {"client": "acme"} for policy in policies)


def test_what_is_counted_are_lines_of_the_program(made: Recording) -> None:
    """Every field that a metric takes is one that the program writes; the log is this cluster's."""
    (line,) = lines({"alerts": [{}]})
    for found in (made.one(METRIC, "metrics-alerts"), made.one(METRIC, "metrics-watchdog")):
        metric = plain(found.inputs)
        fields = {label["key"] for label in metric["metricDescriptor"]["labels"]}
        assert fields == set(metric.get("labelExtractors") or {}) and fields <= set(line)
        assert 'cluster_name="acme-demo"' in metric["filter"]
        assert 'jsonPayload.status="firing"' in metric["filter"]
    assert 'jsonPayload.alert!="Watchdog"' in plain(made.one(METRIC, "metrics-alerts").inputs)["filter"]


def test_silence_is_an_alert_of_its_own(made: Recording) -> None:
    (condition,) = plain(made.one(POLICY, "policies-silent").inputs)["conditions"]
    assert "acme-demo-watchdog" in condition["conditionAbsent"]["filter"]
    (condition,) = plain(made.one(POLICY, "policies-alerts").inputs)["conditions"]
    assert "acme-demo-alerts" in condition["conditionThreshold"]["filter"]


def test_chips_that_are_held_and_idle_are_told_of_and_missing_figures_are_not(made: Recording) -> None:
    found = plain(made.one(POLICY, "policies-idle-chips").inputs)
    (condition,) = found["conditions"]
    asked = condition["conditionThreshold"]
    assert 'cluster_name="acme-demo"' in asked["filter"] and "container/accelerator/tensorcore" in asked["filter"]
    assert (asked["comparison"], asked["thresholdValue"], asked["duration"]) == ("COMPARISON_LT", 2, "2700s")
    assert asked["evaluationMissingData"] == "EVALUATION_MISSING_DATA_INACTIVE"
    assert asked["aggregations"][0]["crossSeriesReducer"] == "REDUCE_MAX", "one busy chip is a pod that computes"
    assert (ROOT / found["documentation"]["content"].rpartition(" ")[2]).is_file()


def test_people_are_sent_to_the_runbooks_that_the_settings_name() -> None:
    def program() -> None:
        AlertPolicies(
            "policies",
            {
                "project": "acme-ml", "cluster_name": "acme-demo", "alerts_metric": "a", "watchdog_metric": "w",
                "emails": ["a@example.com"], "labels": {}, "idle_chip_minutes": 45,
                "runbooks": "https://wiki.example/runbooks",
            },
        )  # fmt: skip

    found = record(program)
    for name, page in (("idle-chips", "gpu-idle.md"), ("silent", "watchdog.md")):
        told = plain(found.one(POLICY, f"policies-{name}").inputs)["documentation"]["content"]
        assert told.endswith(f" https://wiki.example/runbooks/{page}")
