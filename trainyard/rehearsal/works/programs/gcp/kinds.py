"""Kinds of resources that filters of logs and of figures ask for, and that nothing is of.

What a service calls its things (`compute.googleapis.com/Instance`, as inventories and permissions have it) is often
guessed where Logging and Monitoring have a word of their own (`gce_instance`). Sources: Cloud Logging and Cloud
Monitoring, "Monitored resource types"; Cloud Asset Inventory, "Asset types"; Vertex AI, "Audit and logs of custom
training" (entries of jobs are of `ml_job`), as generally known in 2026-11. There are more kinds than are listed here:
of another one nothing is said unless it is a listed one with a letter wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_LOG_EXCLUSION, GCP_LOG_METRIC, GCP_LOG_SINK
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.names_of_aws import slip
from trainyard.rehearsal.works.programs.gcp.monitored import LABELS

RULE: Final = "programs-filter"
_KIND: Final = re.compile(r"resource\.type\"?\s*=\s*\"([^\"]+)\"")
_IS_NOT: Final = re.compile(r"\bNOT\b|(?<![\w\"])-\w|!=")
_JOBS: Final = "ml_job"
_INSTEAD: Final[Mapping[str, str]] = {
    "aiplatform.googleapis.com/CustomJob": _JOBS,
    "aiplatform.googleapis.com/HyperparameterTuningJob": _JOBS,
    "aiplatform.googleapis.com/TrainingPipeline": _JOBS,
    "compute.googleapis.com/Disk": "gce_disk",
    "compute.googleapis.com/Instance": "gce_instance",
    "container.googleapis.com/Cluster": "gke_cluster",
    "container.googleapis.com/NodePool": "gke_nodepool",
    "dataflow.googleapis.com/Job": "dataflow_step",
    "file.googleapis.com/Instance": "filestore_instance",
    "k8s.io/Node": "k8s_node",
    "k8s.io/Pod": "k8s_pod",
    "pubsub.googleapis.com/Subscription": "pubsub_subscription",
    "pubsub.googleapis.com/Topic": "pubsub_topic",
    "run.googleapis.com/Job": "cloud_run_job",
    "run.googleapis.com/Service": "cloud_run_revision",
    "sqladmin.googleapis.com/Instance": "cloudsql_database",
    "storage.googleapis.com/Bucket": "gcs_bucket",
}
"""Types of things as inventories name them, and the kind of their entries."""
_OF_FIGURES: Final[Mapping[str, str]] = {
    _JOBS: "cloudml_job",
    "dataflow_step": "dataflow_job",
    "gke_cluster": "k8s_cluster",
}
"""Kinds of entries, and what figures of the same things are of."""
_ALSO: Final = frozenset(
    {
        "aws_ec2_instance", "bigquery_project", "cloud_dataproc_cluster", "cloud_dataproc_job", "cloudkms_cryptokey",
        "cloudkms_keyring", "cloudsql_instance", "cloudsql_instance_database", "dataflow_step", "deployment",
        "dns_query", "folder", "gae_app", "gce_autoscaler", "gce_backend_service", "gce_firewall_rule",
        "gce_forwarding_rule", "gce_health_check", "gce_image", "gce_instance_group", "gce_instance_group_manager",
        "gce_instance_template", "gce_network", "gce_project", "gce_reserved_address", "gce_route", "gce_snapshot",
        "gce_target_pool", "http_load_balancer", "iam_role", "internal_http_lb_rule", "k8s_scale", "l7_lb_rule",
        "logging_bucket", "logging_exclusion", "logging_log", "logging_sink", "metric", "organization",
        "pubsub_snapshot", "spanner_instance", "tcp_ssl_proxy_rule", "threat_detector", "vpc_access_connector",
    }
)  # fmt: skip
"""Kinds that the table of labels has not: none of these is another one with a letter wrong."""


def check(stack: Stack) -> None:
    """Every filter of entries, and every condition of an alert."""
    for type_ in (GCP_LOG_METRIC, GCP_LOG_SINK, GCP_LOG_EXCLUSION):
        for view in stack.of_type(type_):
            _filter(view, "filter", "no entry of a log")
    for alert in stack.of_type(GCP_ALERT_POLICY):
        for at, _ in alert.items("conditions"):
            _filter(alert, f"{at}.conditionMatchedLog.filter", "no entry of a log")
            for kind in ("conditionThreshold", "conditionAbsent"):
                _filter(alert, f"{at}.{kind}.filter", "no figure", _OF_FIGURES)


def _filter(view: View, path: str, what: str, otherwise: Mapping[str, str] | None = None) -> None:
    """`otherwise`: where figures have another kind than entries. What is excluded may be of no kind that there is."""
    text = view.text(path) or ""
    for kind in dict.fromkeys(_KIND.findall(text)) if not _IS_NOT.search(text) else ():
        instead = _INSTEAD.get(kind)
        if instead is not None:
            found = (otherwise or {}).get(instead, instead)
            view.error(RULE, path, f"{what} is of {show(kind)}: nothing is meant", allowed=found)
        elif "/" not in kind and kind not in LABELS and kind not in _ALSO and (hint := slip(kind, LABELS)):
            view.error(RULE, path, f"{what} is of {show(kind)}: nothing is meant", hint=hint)
