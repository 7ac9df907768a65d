"""Mistakes in what programs and alerts on Google Cloud are told of other things."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import Mistake, edit, put
from tests.rehearsal.works.mistakes_programs import swapped

ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
METRIC = "gcp:logging/metric:Metric"
STACK = "demo-gcp"

MISTAKES = [
    Mistake(
        "alert-metric",
        "the alert on silence watches a metric of another name",
        edit(
            ALERT,
            "alert-policies-silent",
            swapped("acme-demo-gcp-watchdog", "acme-demo-gcp-heartbeat", "conditions", 0, "conditionAbsent", "filter"),
        ),
        "programs-alert",
        stack=STACK,
    ),
    Mistake(
        "metric-cluster",
        "the metric of signs of life counts those of another cluster",
        edit(
            METRIC,
            "alert-metrics-watchdog",
            swapped('cluster_name="acme-demo-gcp"', 'cluster_name="acme-demo"', "filter"),
        ),
        "programs-filter",
        stack=STACK,
    ),
    Mistake(
        "metric-namespace",
        "the metric of alerts counts those of a namespace that is not there",
        edit(
            METRIC,
            "alert-metrics-alerts",
            swapped('namespace_name="monitoring"', 'namespace_name="observability"', "filter"),
        ),
        "programs-filter",
        stack=STACK,
    ),
    Mistake(
        "metric-pods",
        "the metric of alerts counts lines of pods that are called otherwise",
        edit(METRIC, "alert-metrics-alerts", swapped("^alert-log-", "^alert-logs-", "filter")),
        "programs-filter",
        stack=STACK,
    ),
    Mistake(
        "database-name",
        "the database that is made is called otherwise than the server connects to",
        edit("gcp:sql/database:Database", "acme-demo-gcp-mlflow-mlflow", put("name", "tracking")),
        "programs-database",
        stack=STACK,
    ),
    Mistake(
        "policies-off",
        "the cluster lost Dataplane V2, and with it whoever enforces policies",
        edit("gcp:container/cluster:Cluster", "cluster-cluster", put("datapathProvider", "LEGACY_DATAPATH")),
        "programs-policies-off",
        stack=STACK,
    ),
    Mistake(
        "bucket",
        "a team is told of a bucket by the beginning of its name",
        edit(
            "kubernetes:core/v1:ConfigMap",
            "teams-vision-storage",
            put("data.CHECKPOINTS_URI", "gs://acme-demo-gcp-checkpoint/teams/vision"),
        ),
        "programs-bucket",
        stack=STACK,
    ),
]
