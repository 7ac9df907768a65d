"""Mistakes in what is watched: metrics, labels, alarms, patterns, budgets; each is taken, and nobody is ever told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import Change, Mistake, edit, in_json, put
from trainyard.recorded.model import RecordedResource, Secret

ALARM, SILENT = "aws:cloudwatch/metricAlarm:MetricAlarm", "watchdog-silent"
ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
METRIC = "gcp:logging/metric:Metric"
RULE = "aws:cloudwatch/eventRule:EventRule"
BUDGET = "aws:budgets/budget:Budget"
RULES = "monitoring-rules"
RELEASE = "monitoring-release"
HARDWARE = "monitoring-trainyard-hardware"


def worded(name: str, old: str, new: str) -> Change:
    """Replaces a text wherever the inputs of the resources of that name have it."""

    def of(value: Any) -> Any:
        if isinstance(value, Secret):
            return Secret(of(value.value))
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, dict):
            return {key: of(item) for key, item in value.items()}
        return [of(item) for item in value] if isinstance(value, (list, tuple)) else value

    def change(resources: Sequence[RecordedResource]) -> list[RecordedResource]:
        found = [
            replace(one, inputs=of(dict(one.inputs))) if one.name == name and one.custom else one for one in resources
        ]
        assert any(one.inputs != before.inputs for one, before in zip(found, resources, strict=True)), (name, old)
        return found

    return change


def source_of(pattern: Callable[[dict[str, Any]], Any]) -> Change:
    """Changes the pattern of the rule on what GuardDuty finds."""
    return edit(RULE, "security-findings", in_json("eventPattern", pattern))


MISTAKES = [
    Mistake(
        "metric",
        "an alert asks for kube_pod_status_phases",
        worded(RULES, "kube_pod_status_phase", "kube_pod_status_phases"),
        "watching-metric",
    ),
    Mistake(
        "panel",
        "a panel asks for a metric of DCGM that its exporter is not told",
        worded(HARDWARE, "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMPERATURE"),
        "watching-metric",
    ),
    Mistake(
        "fields",
        "a field was taken out of the exporter's list, and panels ask for it",
        worded("gpu-dcgm-exporter", "DCGM_FI_DEV_GPU_TEMP, gauge", "# DCGM_FI_DEV_GPU_TEMP, gauge"),
        "watching-metric",
    ),
    Mistake(
        "collectors",
        "kube-state-metrics no longer collects claims, whose price is recorded",
        worded(RELEASE, "persistentvolumeclaims", "persistentvolumes"),
        "watching-metric",
    ),
    Mistake(
        "queues",
        "Kueue's metric has lost its last letter",
        worded(RULES, "kueue_pending_workloads", "kueue_pending_workload"),
        "watching-metric",
    ),
    Mistake(
        "recorded",
        "a panel asks for a figure that no rule records",
        worded("monitoring-trainyard-success", "trainyard:uptime:ratio", "trainyard:uptimes:ratio"),
        "watching-metric",
    ),
    Mistake(
        "kubelet",
        "the kubelet's metric of volumes is shortened",
        worded(RULES, "kubelet_volume_stats_available_bytes", "kubelet_volume_stats_avail_bytes"),
        "watching-metric",
    ),
    Mistake(
        "keeper",
        "the keeper of idle GPUs asks for a field that is not exported",
        worded("kueue-idle-deployment", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE"),
        "watching-metric",
    ),
    Mistake(
        "spent",
        "the keeper of budgets asks for what was spend",
        worded("kueue-budgets-deployment", "trainyard_team_spent_usd", "trainyard_team_spend_usd"),
        "watching-metric",
    ),
    Mistake(
        "label",
        "an alert compares phases, and the label is phase",
        worded(RULES, "phase=", "phases="),
        "watching-label",
    ),
    Mistake(
        "allowed",
        "labels of nodes are no longer let by",
        worded(RELEASE, "nodes=[ml.platform/pool,", "nodes=[ml.platform/pools,"),
        "watching-label",
    ),
    Mistake(
        "grouped", "a rule groups by namespaces", worded(RULES, "by (namespace", "by (namespaces"), "watching-label"
    ),
    Mistake(
        "severity", "critical has a letter more, and no route", worded(RULES, "critical", "criticall"), "watching-name"
    ),
    Mistake(
        "job",
        "a rule looks at a target that is called kueues",
        worded(RULES, 'up{job="kueue"}', 'up{job="kueues"}'),
        "watching-name",
    ),
    Mistake(
        "source",
        "panels name a source of data that Grafana has not",
        worded(HARDWARE, '"uid": "prometheus"', '"uid": "prom"'),
        "watching-source",
    ),
    Mistake(
        "missing-data",
        "the silence alarm takes silence for health",
        edit(ALARM, SILENT, put("treatMissingData", "notBreaching")),
        "programs-alarm",
    ),
    Mistake(
        "period",
        "a minute is waited for what comes every four",
        edit(ALARM, SILENT, put("period", 60)),
        "programs-watchdog",
    ),
    Mistake(
        "above",
        "the silence alarm rings when there is sound",
        edit(ALARM, SILENT, put("comparisonOperator", "GreaterThanThreshold")),
        "programs-watchdog",
    ),
    Mistake("repeat", "the sign of life comes every four hours", worded(RELEASE, "4m", "4h"), "programs-watchdog"),
    Mistake(
        "dimension",
        "the dimension is called Topic",
        edit(ALARM, SILENT, put("dimensions", {"Topic": "watchdog"})),
        "programs-alarm",
    ),
    Mistake(
        "namespace",
        "AWS/RSD has no metrics",
        edit(ALARM, SILENT, put("namespace", "AWS/RSD"), put("dimensions", {})),
        "programs-alarm",
    ),
    Mistake(
        "event",
        "GuardDuty sends a Finding, not Findings",
        source_of(lambda one: one.update({"detail-type": ["GuardDuty Findings"]})),
        "programs-pattern",
    ),
    Mistake(
        "event-source",
        "GuardDuty's findings are looked for at Security Hub",
        source_of(lambda one: one.update(source=["aws.securityhub"])),
        "programs-pattern",
    ),
    Mistake(
        "call",
        "a call of CloudTrail has a letter more",
        worded("security-record-off", "StopLogging", "StopLoggings"),
        "programs-pattern",
    ),
    Mistake(
        "per-cent",
        "a budget tells at 0.8 per cent",
        edit(BUDGET, "budget-budget", put("notifications[1].threshold", 0.8)),
        "programs-budget",
    ),
    Mistake(
        "tag",
        "a budget counts the tag Project",
        edit(BUDGET, "budget-budget", put("costFilters[0].values", ["user:Project$acme-demo"])),
        "programs-budget",
    ),
    Mistake(
        "tag-value",
        "a budget counts another environment's project",
        edit(BUDGET, "budget-budget", put("costFilters[0].values", ["user:project$acme-staging"])),
        "programs-budget",
    ),
    Mistake(
        "budget-label",
        "a budget on Google Cloud counts another project's label",
        edit("gcp:billing/budget:Budget", "budget-budget", put("budgetFilter.labels", {"project": "acme-demo"})),
        "programs-budget",
        stack="demo-gcp",
    ),
    Mistake(
        "resource-kind",
        "an alert looks at pods, and the metric counts entries of containers",
        worded("alert-policies-silent", "k8s_container", "k8s_pod"),
        "programs-alert",
        stack="demo-gcp",
    ),
    Mistake(
        "metric-label",
        "a mail's subject names a label that the metric has not",
        worded("alert-policies-alerts", "metric.label.alert}", "metric.label.alertname}"),
        "programs-alert",
        stack="demo-gcp",
    ),
    Mistake(
        "absent",
        "an alert waits two minutes for what comes every four",
        edit(ALERT, "alert-policies-silent", put("conditions[0].conditionAbsent.duration", "120s")),
        "programs-watchdog",
        stack="demo-gcp",
    ),
    Mistake(
        "audit-call",
        "an alert on audit logs means a call that there is not",
        worded("record-alarms-keys", 'CreateServiceAccountKey"', 'CreateServiceAccountKeys"'),
        "programs-filter",
        stack="demo-gcp",
    ),
    Mistake(
        "alert-name",
        "a metric from logs counts an alert that is called otherwise",
        worded("alert-metrics-watchdog", 'alert="Watchdog"', 'alert="Watchdogs"'),
        "watching-name",
        stack="demo-gcp",
    ),
    Mistake(
        "sink",
        "logs are sent to a bucket of logs that is not made",
        worded("record-sink", "buckets/acme-demo-gcp", "buckets/acme-demo"),
        "programs-sink",
        stack="demo-gcp",
    ),
    Mistake(
        "fires-never",
        "an alert's threshold is a hundred times what can be",
        worded(RULES, "vector(5)", "vector(500)"),
        None,
        "how much is too much is nothing that a manifest says",
    ),
    Mistake(
        "condition",
        "a condition of nodes is written small",
        worded(RULES, 'condition="Ready"', 'condition="ready"'),
        "watching-label",
    ),
    Mistake(
        "interval",
        "targets are asked every ten minutes, and rates are of five",
        edit("kubernetes:helm.sh/v3:Release", RELEASE, put("values.prometheus.prometheusSpec.scrapeInterval", "10m")),
        "watching-interval",
    ),
    Mistake(
        "channel",
        "an alert names a channel that is not the stack's",
        worded("alert-policies-alerts", "acme.example-", "acme.example-0"),
        "programs-alert",
        stack="demo-gcp",
    ),
]
