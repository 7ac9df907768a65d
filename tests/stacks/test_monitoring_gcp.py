"""Monitoring in the example stacks on Google Cloud: the same rooms, and how an alert reaches somebody without a key."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import GKE
from trainyard.components.k8s.alert_log import ALERT_LOG_URL
from trainyard.conventions.gcp import DCGM_PODS, DCGM_SERIES
from trainyard.conventions.monitoring import ALERT_LOG, CHECKPOINT_DRILL, MONITORING_NAMESPACE
from trainyard.recorded.monitoring import CLAIM, prometheus_stacks, storage_class
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NETWORK_POLICY
from trainyard.rehearsal.rehearse import Rehearsal

Rehearsed = Callable[[str], Rehearsal]
ALERT_POLICY, METRIC = "gcp:monitoring/alertPolicy:AlertPolicy", "gcp:logging/metric:Metric"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"


@pytest.fixture(scope="module", params=GKE)
def resources(request: pytest.FixtureRequest, rehearsed: Rehearsed) -> Resources:
    return Resources(rehearsed(request.param).resources)


def rules(resources: Resources) -> dict[str, Any]:
    found = resources.of("kubernetes:monitoring.coreos.com/v1:PrometheusRule")
    groups = [group for rule in found for group in rule.inputs["spec"]["groups"]]
    return {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}


def test_an_alert_is_written_to_a_log_which_a_policy_reads_and_tells_people(resources: Resources) -> None:
    (release,) = prometheus_stacks(resources)
    config = value_at(release.inputs, "values", "alertmanager", "config")
    (hook,) = next(found for found in config["receivers"] if found["name"] == "topic")["webhook_configs"]
    assert hook["url"] == ALERT_LOG_URL
    (metric,) = [found for found in resources.of(METRIC) if found.name.endswith("-alerts")]
    assert ALERT_LOG in metric.inputs["filter"] and MONITORING_NAMESPACE in metric.inputs["filter"]
    clusters = {cluster.inputs["name"] for cluster in resources.of("gcp:container/cluster:Cluster")}
    assert any(f'cluster_name="{name}"' in metric.inputs["filter"] for name in clusters)
    (policy,) = [found for found in resources.of(ALERT_POLICY) if found.name.endswith("-alerts")]
    assert metric.inputs["name"] in json.dumps(policy.inputs["conditions"])
    assert policy.inputs["notificationChannels"]
    assert any(channel.name.startswith("alert-policies-") for channel in resources.of(CHANNEL))


def test_the_log_of_the_clusters_pods_is_collected(resources: Resources) -> None:
    """Without it no line of a program would reach the metric."""
    for cluster in resources.of("gcp:container/cluster:Cluster"):
        assert "WORKLOADS" in cluster.inputs["loggingConfig"]["enableComponents"]


def test_policies_wait_for_the_cluster_and_metrics_do_not(resources: Resources) -> None:
    """A policy on a metric of this minute is refused: the cluster takes ten between them. Alarms on the record read the
    log itself."""
    cluster = resources.of("gcp:container/cluster:Cluster")[0].urn
    for policy in resources.of(ALERT_POLICY):
        assert cluster in policy.dependencies or "conditionMatchedLog" in policy.inputs["conditions"][0]
    for metric in resources.of(METRIC):
        assert cluster not in metric.dependencies


def test_gkes_own_exporter_is_read_and_let_by(resources: Resources) -> None:
    monitors = resources.of("kubernetes:monitoring.coreos.com/v1:PodMonitor")
    (gpus,) = [found for found in monitors if found.inputs["metadata"]["name"] == "dcgm-exporter"]
    assert gpus.inputs["spec"]["namespaceSelector"]["matchNames"] == [DCGM_PODS[0]]
    walls = [found for found in resources.of(NETWORK_POLICY) if "prometheus" in found.name]
    assert any(DCGM_PODS[1] in json.dumps(found.inputs) for found in walls)
    for cluster in resources.of("gcp:container/cluster:Cluster"):
        assert "DCGM" in cluster.inputs["monitoringConfig"]["enableComponents"]


def test_no_alert_asks_for_what_it_does_not_measure(resources: Resources) -> None:
    found = rules(resources)
    assert {"GpuUnderused", "GpuIdle", "QueueWaiting", "TeamBudgetSpent", "CheckpointDrillFailed"} <= set(found)
    assert not {"GpuRowRemapped", "GpuMemoryError", "GpuThrottled"} & set(found)
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in DCGM_SERIES


def test_prometheus_writes_to_a_disk_with_the_environments_key(resources: Resources) -> None:
    (release,) = prometheus_stacks(resources)
    name = value_at(release.inputs, *CLAIM, "storageClassName")
    made = storage_class(resources, name)
    assert made is not None
    assert "cryptoKeys" in made.inputs["parameters"]["disk-encryption-kms-key"]
    assert made.inputs["reclaimPolicy"] == "Delete"


def test_the_drill_restores_from_the_mounted_bucket(resources: Resources) -> None:
    (drill,) = [
        found
        for found in resources.of("kubernetes:batch/v1:CronJob")
        if found.inputs["metadata"]["name"] == CHECKPOINT_DRILL
    ]
    template = value_at(drill.inputs, "spec", "jobTemplate", "spec", "template")
    assert template["metadata"]["annotations"]["gke-gcsfuse/volumes"] == "true"
    command = " ".join(template["spec"]["containers"][0]["command"])
    mounts = [mount["mountPath"] for mount in template["spec"]["containers"][0]["volumeMounts"]]
    assert any(f"--checkpoint-uri {mount}/drill" in command for mount in mounts)
