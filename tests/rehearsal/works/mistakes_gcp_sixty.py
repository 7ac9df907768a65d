"""Thirty-six of sixty mistakes that a tired engineer makes on Google Cloud, one at a time, in the example stacks; the
other twenty-four, of managed training, are in `mistakes_managed_sixty.py`.

They were written from the components alone, before anything was looked up of what tells them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Recorded, drop, edit, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, steps

NAT, FIREWALL, ADDRESS = (
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/firewall:Firewall",
    "gcp:compute/globalAddress:GlobalAddress",
)
ZONE, RECORD = "gcp:dns/managedZone:ManagedZone", "gcp:dns/recordSet:RecordSet"
KEY, METRIC, SINK = (
    "gcp:kms/cryptoKey:CryptoKey",
    "gcp:logging/metric:Metric",
    "gcp:logging/projectSink:ProjectSink",
)
POLICY, CHANNEL = (
    "gcp:monitoring/alertPolicy:AlertPolicy",
    "gcp:monitoring/notificationChannel:NotificationChannel",
)
BUDGET, SQL, BUCKET = (
    "gcp:billing/budget:Budget",
    "gcp:sql/databaseInstance:DatabaseInstance",
    "gcp:storage/bucket:Bucket",
)
CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
LUSTRE, FILESTORE = "gcp:lustre/instance:Instance", "gcp:filestore/instance:Instance"
IN_FOLDER = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"
IN_PROJECT = "gcp:projects/iAMMember:IAMMember"
ON_KEY = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
PROVISIONING = "kubernetes:kueue.x-k8s.io/v1beta2:ProvisioningRequestConfig"
CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
STACK = "large-gcp"


def said(type_: str, name: str, path: str, old: str, new: str) -> Change:
    """One part of a text replaced by another."""

    def into(inputs: dict[str, Any]) -> None:
        value = follow(inputs, *steps(path))
        assert isinstance(value, str) and old in value, value
        put(path, value.replace(old, new))(inputs)

    return edit(type_, name, into)


def no_longer_waits(type_: str, name: str, for_type: str) -> Change:
    """A resource that no longer waits for those of a type, nor does the component that it is in."""

    def change(resources: Recorded) -> list[RecordedResource]:
        gone = {item.urn for item in resources if item.type == for_type}
        (meant,) = (item for item in resources if (item.type, item.name) == (type_, name))
        assert gone & set(meant.dependencies), f"{name} waits for no {for_type}"
        return [
            replace(item, dependencies=tuple(urn for urn in item.dependencies if urn not in gone))
            if item.urn in (meant.urn, meant.parent)
            else item
            for item in resources
        ]

    return change


REFUSED = {
    "a number of ports that is no power of two": (edit(NAT, "network-nat", put("maxPortsPerVm", 5000)), STACK),
    "mapping by endpoint beside dynamic ports": (
        edit(NAT, "network-nat", put("enableEndpointIndependentMapping", True)),
        STACK,
    ),
    "ports of a protocol that has none": (
        edit(FIREWALL, "network-webhooks", put("allows[0].protocol", "icmp")),
        "demo-gcp",
    ),
    "a range that does not begin where it may": (
        edit(ADDRESS, "network-private-services", put("address", "10.0.17.0")),
        STACK,
    ),
    "a key that rotates every hour": (edit(KEY, "northwind-production-data", put("rotationPeriod", "3600s")), STACK),
    "a filter that lost a quote": (
        said(METRIC, "alert-metrics-alerts", "filter", 'namespace_name="monitoring"', 'namespace_name="monitoring'),
        STACK,
    ),
    "a label that the metric does not declare": (
        edit(METRIC, "alert-metrics-alerts", put("labelExtractors.team", "EXTRACT(jsonPayload.team)")),
        STACK,
    ),
    "an alert by log without a rate": (
        edit(POLICY, "record-alarms-keys", put("alertStrategy.notificationRateLimit", DROP)),
        STACK,
    ),
    "logs of two weeks in the lesser edition": (
        edit(
            SQL,
            "northwind-production-mlflow",
            put("settings.backupConfiguration.transactionLogRetentionDays", 14),
        ),
        STACK,
    ),
    "versions where nothing may be overwritten": (
        edit(BUCKET, "northwind-production-logs", put("versioning.enabled", True)),
        STACK,
    ),
    "a window of a day a month": (
        edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow.recurrence", "FREQ=MONTHLY")),
        STACK,
    ),
    "a queued pool that is never empty": (
        edit(POOL, "gpu-nodes-train-flex-start", put("autoscaling.totalMinNodeCount", 1)),
        STACK,
    ),
}

SILENT = {
    "names answered with addresses that no wall lets by": (
        edit(
            RECORD,
            "google-apis-private",
            put("rrdatas", ["199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7"]),
        ),
        STACK,
    ),
    "an alias of a name that the zone does not have": (
        edit(RECORD, "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
        STACK,
    ),
    "a zone of another network": (
        edit(
            ZONE,
            "google-apis-googleapis",
            put("privateVisibilityConfig.networks[0].networkUrl", "projects/northwind-ml/global/networks/default"),
        ),
        "demo-gcp",
    ),
    "Lustre squashes who makes the folders": (
        edit(
            LUSTRE,
            "northwind-production-lustre",
            put("accessRulesOptions.accessRules[0].squashMode", "ROOT_SQUASH"),
        ),
        STACK,
    ),
    "Filestore squashes who makes the folders": (
        edit(
            FILESTORE,
            "northwind-production-shared",
            put("fileShares.nfsExportOptions[0].squashMode", "ROOT_SQUASH"),
        ),
        STACK,
    ),
    "the newest checkpoints are deleted after a month": (
        edit(
            BUCKET,
            "northwind-production-checkpoints",
            put("lifecycleRules[1].condition", {"age": 30}),
        ),
        STACK,
    ),
    "logs deleted before they may be": (
        edit(BUCKET, "northwind-production-logs", put("lifecycleRules[0].condition.age", 30)),
        STACK,
    ),
    "lines of another namespace are counted": (
        said(METRIC, "alert-metrics-alerts", "filter", 'namespace_name="monitoring"', 'namespace_name="observability"'),
        STACK,
    ),
    "lines of a pod of another name are counted": (
        said(METRIC, "alert-metrics-watchdog", "filter", '"^alert-log-"', '"^alertlog-"'),
        "demo-gcp",
    ),
    "a message names a label that the metric has not": (
        edit(POLICY, "alert-policies-alerts", put("documentation.content", "${metric.label.title}")),
        STACK,
    ),
    "a line must be written every minute for an hour": (
        edit(POLICY, "alert-policies-alerts", put("conditions[0].conditionThreshold.duration", "3600s")),
        STACK,
    ),
    "a channel that is off": (
        edit(CHANNEL, "alert-policies-ml-platform@northwind.example", put("enabled", False)),
        STACK,
    ),
    "changes of rights are looked for in the log of reads": (
        said(
            POLICY,
            "record-alarms-rights",
            "conditions[0].conditionMatchedLog.filter",
            "cloudaudit.googleapis.com/activity",
            "cloudaudit.googleapis.com/data_access",
        ),
        STACK,
    ),
    "a method without its service": (
        said(
            POLICY,
            "record-alarms-keys",
            "conditions[0].conditionMatchedLog.filter",
            "google.iam.admin.v1.CreateServiceAccountKey",
            "CreateServiceAccountKey",
        ),
        "eu-gcp",
    ),
    "logs go to a bucket that nobody made": (
        edit(
            SINK,
            "record-sink",
            put("destination", "logging.googleapis.com/projects/northwind-ml/locations/us-east4/buckets/northwind"),
        ),
        STACK,
    ),
    "logs go nowhere": (drop(SINK, "record-sink"), "eu-gcp"),
    "nodes that may only read": (
        edit(
            POOL,
            "gpu-nodes-dev-on-demand",
            put("nodeConfig.oauthScopes", ["https://www.googleapis.com/auth/devstorage.read_only"]),
        ),
        STACK,
    ),
    "what pods write is not collected": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put("loggingConfig.enableComponents", ["SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER"]),
        ),
        "demo-gcp",
    ),
    "a team's right on another team's folder": (
        edit(IN_FOLDER, "team-foundation-checkpoints", put("managedFolder", "teams/perception/")),
        STACK,
    ),
    "a request for longer than the nodes run": (
        edit(
            PROVISIONING,
            "kueue-provisioning-train-flex-start",
            put("spec.parameters.maxRunDurationSeconds", "604800"),
        ),
        STACK,
    ),
    "a budget of a label that nothing carries": (
        edit(BUDGET, "budget-budget", put("budgetFilter.labels", {"project": "northwind"})),
        STACK,
    ),
    "volumes by a key that disks may not use": (
        said(CLASS, "disks-class", "parameters.disk-encryption-kms-key", "-platform", "-data"),
        STACK,
    ),
    "the nodes' role in another project": (
        edit(IN_PROJECT, "cluster-nodes-defaultNodeServiceAccount", put("project", "northwind-dev")),
        STACK,
    ),
    "a file system that does not wait for its key": (
        no_longer_waits(FILESTORE, "northwind-production-shared", ON_KEY),
        STACK,
    ),
}
