"""How alerts of a cluster reach people on Google Cloud: from the lines of its alert log, by Cloud Monitoring, no key.

The cluster's program `alert-log` writes each alert to its log, which GKE collects. A metric counts the lines by alert,
and a policy tells people of each. Another metric counts the lines of Prometheus' watchdog, which come every few minutes
while everything works: where they stop, a second policy tells people that no alert would arrive.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.logging as logging
import pulumi_gcp.monitoring as monitoring

from trainyard.components.gcp.channels import email_channels
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.monitoring import ALERT_LOG, MONITORING_NAMESPACE, RUNBOOKS
from trainyard.monitoring.alerts.platform import WATCHDOG

SILENT_SECONDS = 900
"""How long the watchdog may be missing: three times as long as Alertmanager takes between two lines at most."""
CLOSE_SECONDS = 1800
"""When an incident ends of itself, with no more lines: the shortest that Cloud Monitoring takes."""
CHIP_BUSY: Final = "kubernetes.io/container/accelerator/tensorcore_utilization"
"""Percent of a chip's TensorCore that is used, of each container that holds one: GKE's system metrics have it of
the hardware, whatever the program exports (Cloud Monitoring, "GKE system metrics"; the name as several programs ask
for it, read 2026-11-26)."""
BUSY_FROM_PERCENT: Final = 2
"""As of a GPU: what a program does at start-up is no work (`monitoring/alerts/gpu.py`)."""
SHOWN = ("alert", "level", "namespace", "summary", "runbook")
"""Fields of a line that people are told."""


class AlertMetricsArgs(TypedDict):
    """What `AlertMetrics` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    cluster_name: str
    """Name of the cluster whose log is read."""


class AlertMetrics(pulumi.ComponentResource):
    """What counts the lines of a cluster's alert log. `depends_on` is what it waits for: services.

    It takes minutes until a policy may name a new metric, so that these are made long before the policies.
    """

    alerts: pulumi.Output[str]
    """Name of the metric that counts alerts."""
    watchdog: pulumi.Output[str]
    """Name of the metric that counts the watchdog's lines."""

    def __init__(self, name: str, args: AlertMetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:AlertMetrics", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        lines = [
            'resource.type="k8s_container"',
            f'resource.labels.cluster_name="{args["cluster_name"]}"',
            f'resource.labels.namespace_name="{MONITORING_NAMESPACE}"',
            f'resource.labels.pod_name=~"^{ALERT_LOG}-"',
            'jsonPayload.status="firing"',
        ]

        def metric(short: str, what: str, which: str, fields: Sequence[str]) -> logging.Metric:
            return logging.Metric(
                f"{name}-{short}",
                project=args["project"],
                name=f"{args['cluster_name']}-{short}",
                description=f"{what} of cluster {args['cluster_name']}, from its alert log.",
                filter=" AND ".join([*lines, which]),
                label_extractors={field: f"EXTRACT(jsonPayload.{field})" for field in fields} or None,
                metric_descriptor={
                    "metric_kind": "DELTA",
                    "value_type": "INT64",
                    "unit": "1",
                    "labels": [{"key": field, "value_type": "STRING"} for field in fields],
                },
                opts=child,
            )

        self.alerts = metric("alerts", "Alerts", f'jsonPayload.alert!="{WATCHDOG}"', SHOWN).name
        self.watchdog = metric("watchdog", "Signs of life", f'jsonPayload.alert="{WATCHDOG}"', ()).name
        register(self)


class AlertPoliciesArgs(TypedDict):
    """What `AlertPolicies` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    cluster_name: str
    """Name of the cluster, for whoever reads what is told."""
    alerts_metric: pulumi.Input[str]
    """The metric `AlertMetrics.alerts`."""
    watchdog_metric: pulumi.Input[str]
    """The metric `AlertMetrics.watchdog`."""
    emails: Sequence[str]
    """Who is told."""
    labels: Mapping[str, str]
    """Labels of channels and policies, which Google calls the user's."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""
    idle_chip_minutes: NotRequired[int]
    """Minutes after which people are told of a pod whose TPU chips did nothing. Default: there are no slices."""


class AlertPolicies(pulumi.ComponentResource):
    """Who is told of a cluster's alerts, and of their silence. `depends_on` is what it waits for: the cluster."""

    def __init__(self, name: str, args: AlertPoliciesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:AlertPolicies", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        cluster, labels = args["cluster_name"], dict(args["labels"])
        runbooks = args.get("runbooks", RUNBOOKS)
        channels = email_channels(name, args["project"], f"Alerts of {cluster}", args["emails"], child, labels)
        monitoring.AlertPolicy(
            f"{name}-alerts",
            project=args["project"],
            display_name=f"{cluster}: alerts",
            combiner="OR",
            conditions=[
                {
                    "display_name": "an alert of the cluster's own monitoring",
                    "condition_threshold": {
                        "filter": _of(args["alerts_metric"]),
                        "comparison": "COMPARISON_GT",
                        "threshold_value": 0,
                        "duration": "0s",
                        "aggregations": [{"alignment_period": "60s", "per_series_aligner": "ALIGN_DELTA"}],
                    },
                }
            ],
            documentation={
                "subject": f"${{metric.label.alert}} ${{metric.label.namespace}} ({cluster})",
                "content": "${metric.label.summary}\n\nRunbook: ${metric.label.runbook}",
                "mime_type": "text/markdown",
            },
            alert_strategy={"auto_close": f"{CLOSE_SECONDS}s"},
            notification_channels=channels,
            user_labels=labels,
            opts=child,
        )
        monitoring.AlertPolicy(
            f"{name}-silent",
            project=args["project"],
            display_name=f"{cluster}: monitoring is silent",
            combiner="OR",
            severity="CRITICAL",
            conditions=[
                {
                    "display_name": "the watchdog says nothing",
                    "condition_absent": {
                        "filter": _of(args["watchdog_metric"]),
                        "duration": f"{SILENT_SECONDS}s",
                        "aggregations": [
                            {
                                "alignment_period": "300s",
                                "per_series_aligner": "ALIGN_DELTA",
                                "cross_series_reducer": "REDUCE_SUM",
                            }
                        ],
                    },
                }
            ],
            documentation={
                "content": f"Monitoring of {cluster} is silent: no alert would arrive. {runbooks}/watchdog.md",
                "mime_type": "text/markdown",
            },
            notification_channels=channels,
            user_labels=labels,
            opts=child,
        )
        if "idle_chip_minutes" in args:
            monitoring.AlertPolicy(
                f"{name}-idle-chips",
                opts=child,
                **_idle_chips(cluster, args["project"], args["idle_chip_minutes"], runbooks, channels, labels),
            )
        register(self)


def _idle_chips(
    cluster: str,
    project: pulumi.Input[str],
    minutes: int,
    runbooks: str,
    channels: Sequence[pulumi.Input[str]],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """A pod holds chips and none of them computed for so long. Where figures are missing nothing is said."""
    return {
        "project": project,
        "display_name": f"{cluster}: TPU chips are held and idle",
        "combiner": "OR",
        "severity": "WARNING",
        "conditions": [
            {
                "display_name": f"no chip of a pod computed for {minutes} minutes",
                "condition_threshold": {
                    "filter": f'resource.type="k8s_container" AND resource.labels.cluster_name="{cluster}"'
                    f' AND metric.type="{CHIP_BUSY}"',
                    "comparison": "COMPARISON_LT",
                    "threshold_value": BUSY_FROM_PERCENT,
                    "duration": f"{minutes * 60}s",
                    "evaluation_missing_data": "EVALUATION_MISSING_DATA_INACTIVE",
                    "aggregations": [
                        {
                            "alignment_period": "60s",
                            "per_series_aligner": "ALIGN_MAX",
                            "cross_series_reducer": "REDUCE_MAX",
                            "group_by_fields": ["resource.label.namespace_name", "resource.label.pod_name"],
                        }
                    ],
                },
            }
        ],
        "documentation": {
            "subject": f"TPU chips idle: ${{resource.label.namespace_name}} ({cluster})",
            "content": "${resource.label.pod_name} holds TPU chips and computes on none of them. Ask its owner, or take"
            f" the chips back and keep the job: {runbooks}/gpu-idle.md",
            "mime_type": "text/markdown",
        },
        "alert_strategy": {"auto_close": f"{CLOSE_SECONDS}s"},
        "notification_channels": list(channels),
        "user_labels": dict(labels),
    }


def _of(metric: pulumi.Input[str]) -> pulumi.Output[str]:
    return pulumi.Output.concat(
        'resource.type="k8s_container" AND metric.type="logging.googleapis.com/user/', metric, '"'
    )
