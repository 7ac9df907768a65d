"""The ninth set of mistakes of Google Cloud's resources: our own components, changed as engineers change them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tests.rehearsal.works.aws_changes import refer
from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, both, drop, edit, put

DEMO, LARGE, SMALL = "demo-gcp", "large-gcp", "small-gcp"
RUN, FABRIC, CACHE = "small-gcp with MLflow", "large-gcp with networks", "demo-gcp with a cache"

ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"
NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/globalAddress:GlobalAddress"
FIREWALL = "gcp:compute/firewall:Firewall"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
RECORD = "gcp:dns/recordSet:RecordSet"
FILES = "gcp:filestore/instance:Instance"
CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
KEY = "gcp:kms/cryptoKey:CryptoKey"
ON_KEY = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
ON_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
ON_FOLDER = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"
SQL = "gcp:sql/databaseInstance:DatabaseInstance"
IMAGES = "gcp:artifactregistry/repository:Repository"
BUDGET = "gcp:billing/budget:Budget"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
METRIC = "gcp:logging/metric:Metric"
SINK = "gcp:logging/projectSink:ProjectSink"
TEMPLATE = "gcp:colab/runtimeTemplate:RuntimeTemplate"
ON_TEMPLATE = "gcp:colab/runtimeTemplateIamMember:RuntimeTemplateIamMember"
VAULT_PLAN = "gcp:backupdisasterrecovery/backupPlan:BackupPlan"
SERVICE = "gcp:cloudrunv2/service:Service"
ON_SERVICE = "gcp:cloudrunv2/serviceIamMember:ServiceIamMember"
ACCOUNT = "gcp:serviceaccount/account:Account"
API = "gcp:projects/service:Service"
GKE_BACKUP = "gcp:gkebackup/backupPlan:BackupPlan"
VOLUME = "kubernetes:core/v1:PersistentVolume"
PARAMETERS = "kubernetes:networking.gke.io/v1:GKENetworkParamSet"

TELLS = "serviceAccount:service-123456789012@gcp-sa-monitoring-notification.iam.gserviceaccount.com"
RESERVED, SPOT = "gpu-nodes-train-reserved", "gpu-nodes-train-spot"


def made(type_: str, name: str, like: str, inputs: Mapping[str, Any]) -> Change:
    """A resource more, made by the component that makes one of the type `like`."""

    def change(resources: Recorded) -> list[Any]:
        one = next(found for found in resources if found.type == like)
        urn = f"{one.urn.rpartition('::')[0].rpartition('$')[0]}${type_}::{name}"
        new = replace(
            one, type=type_, name=name, urn=urn, id=f"{name}-1", inputs=copy.deepcopy(dict(inputs)), outputs={},
            property_dependencies={},
        )  # fmt: skip
        return [*resources, new]

    return change


def more(path: str, value: Any) -> Any:
    """Puts something at the end of a list."""

    def into(inputs: dict[str, Any]) -> None:
        held: Any = inputs
        for part in path.split("."):
            held = held[part]
        held.append(value)

    return into


def less(path: str, value: Any) -> Any:
    """Takes something out of a list."""

    def into(inputs: dict[str, Any]) -> None:
        held: Any = inputs
        for part in path.split("."):
            held = held[part]
        held.remove(value)

    return into


def without_label(inputs: dict[str, Any]) -> None:
    """Takes the label `summary` of a metric away on both sides."""
    labels = inputs["metricDescriptor"]["labels"]
    labels[:] = [one for one in labels if one["key"] != "summary"]
    del inputs["labelExtractors"]["summary"]


PLANNED = both(
    made(API, "services-gkebackup", API, {"service": "gkebackup.googleapis.com", "disableOnDestroy": False}),
    made(GKE_BACKUP, "cluster-daily", CLUSTER, {
        "name": "acme-demo-gcp-daily", "location": "us-central1",
        "retentionPolicy": {"backupDeleteLockDays": 0, "backupRetainDays": 14},
        "backupSchedule": {"cronSchedule": "0 3 * * *"},
        "backupConfig": {"allNamespaces": True, "includeVolumeData": True, "includeSecrets": True},
    }),
    refer(GKE_BACKUP, "cluster-daily", "cluster", CLUSTER, "cluster-cluster"),
)  # fmt: skip


def only(bucket_and_path: str) -> Change:
    """A condition on the rights of a team on the data: below a path of a bucket."""
    text = f'resource.name.startsWith("projects/_/buckets/{bucket_and_path}")'
    return edit(ON_BUCKET, "team-vision-data", put("condition", {"title": "of-vision", "expression": text}))


REFUSED: Final = (
    Mistake(
        "role-permission",
        "a permission that no service has (jobs are `create`d, not `run`)",
        edit(ROLE, "managed-people", more("permissions", "aiplatform.customJobs.run")),
        "gcp-permission",
        stack=SMALL,
    ),
    Mistake(
        "nat-both-mappings",
        "endpoint-independent mapping beside dynamic port allocation",
        edit(NAT, "network-nat", put("enableEndpointIndependentMapping", True)),
        "gcp-nat-ports",
        stack=DEMO,
    ),
    Mistake(
        "peering-range-external",
        "an external address reserved for private services",
        edit(ADDRESS, "network-private-services", put("addressType", "EXTERNAL")),
        "gcp-peering-range",
        stack=DEMO,
    ),
    Mistake(
        "cname-beside-a",
        "an A record of the name that has a CNAME (a neighbour's line copied)",
        edit(RECORD, "google-apis-private", put("name", "*.googleapis.com.")),
        "gcp-dns",
        stack=DEMO,
    ),
    Mistake(
        "share-anonymous",
        "an anonymous user of a share whose root is not squashed",
        edit(FILES, "northwind-production-shared", put("fileShares.nfsExportOptions[0].anonUid", 65534)),
        "gcp-filestore",
        stack=LARGE,
    ),
    Mistake(
        "calico-on-dataplane-v2",
        "network policy switched on beside Dataplane V2",
        edit(CLUSTER, "cluster-cluster", put("networkPolicy", {"enabled": True, "provider": "CALICO"})),
        "gke-network-policy",
        stack=DEMO,
    ),
    Mistake(
        "any-reservation-by-name",
        "any reservation, with the name of one",
        edit(POOL, RESERVED, put("nodeConfig.reservationAffinity.consumeReservationType", "ANY_RESERVATION")),
        "gcp-only-where",
        stack=LARGE,
    ),
    Mistake(
        "key-destroyed-in-an-hour",
        "versions of a key destroyed after an hour (a day is the least)",
        edit(KEY, "acme-demo-gcp-data", put("destroyScheduledDuration", "3600s")),
        "gcp-key-destroy",
        stack=DEMO,
    ),
    Mistake(
        "autoclass-beside-classes",
        "autoclass for a bucket whose lifecycle sets classes",
        edit(BUCKET, "acme-demo-gcp-artifacts", put("autoclass", {"enabled": True})),
        "gcs-autoclass",
        stack=DEMO,
    ),
    Mistake(
        "fabric-subnets-overlap",
        "the second RDMA subnet with the range of the first",
        edit(SUBNET, "fabric-networks-rdma-1", put("ipCidrRange", "10.1.16.0/20")),
        "gcp-range-overlap",
        stack=FABRIC,
    ),
    Mistake(
        "sql-flag-true",
        "a flag of a database set to `true`, which is on or off",
        edit(
            SQL,
            "acme-demo-gcp-mlflow",
            more("settings.databaseFlags", {"name": "cloudsql.iam_authentication", "value": "true"}),
        ),
        "gcp-sql-flag",
        stack=DEMO,
    ),
    Mistake(
        "cleanup-deletes-recent",
        "a cleanup that deletes by the number of versions to keep",
        edit(
            IMAGES,
            "images-acme-demo-gcp-hub",
            put("cleanupPolicies", [{"id": "few", "action": "DELETE", "mostRecentVersions": {"keepCount": 5}}]),
        ),
        "gcp-only-where",
        stack=CACHE,
    ),
    Mistake(
        "budget-credits-named",
        "credits named beside all of them included",
        edit(BUDGET, "budget-budget", put("budgetFilter.creditTypes", ["PROMOTION"])),
        "gcp-only-where",
        stack=DEMO,
    ),
    Mistake(
        "log-alert-without-rate",
        "an alert on log lines without a limit of notifications",
        edit(POLICY, "record-alarms-rights", put("alertStrategy", {"autoClose": "1800s"})),
        "gcp-alert",
        stack=DEMO,
    ),
    Mistake(
        "distribution-of-nothing",
        "a metric of a distribution without what to extract",
        edit(METRIC, "alert-metrics-alerts", put("metricDescriptor.valueType", "DISTRIBUTION")),
        "gcp-metric",
        stack=DEMO,
    ),
    Mistake(
        "editor-idle-minutes",
        "an editor that is shut down after five minutes without work (ten is the least)",
        edit(TEMPLATE, "editors-e2-standard-2", put("idleShutdownConfig.idleTimeout", "300s")),
        "managed-idle-timeout",
        stack=SMALL,
    ),
    Mistake(
        "weekly-on-no-day",
        "a weekly backup of homes, on no day",
        edit(
            VAULT_PLAN,
            "northwind-production-shared-daily",
            put("backupRules[0].standardSchedule.recurrenceType", "WEEKLY"),
        ),
        "gcp-backup",
        stack=LARGE,
    ),
    Mistake(
        "half-a-cpu",
        "half a CPU for a service that answers forty requests at once",
        edit(SERVICE, "tracking-server-service", put("template.containers[0].resources.limits.cpu", "500m")),
        "gcp-run",
        stack=RUN,
    ),
)

SILENT: Final = (
    Mistake(
        "webhooks-to-a-tag",
        "the control plane's way in, for nodes with a tag that none has",
        edit(FIREWALL, "network-webhooks", put("targetTags", ["gke-nodes"])),
        "flows-webhooks",
        stack=DEMO,
    ),
    Mistake(
        "nat-of-pods-only",
        "a way out for the pods' range alone: nodes pull no image",
        edit(
            NAT,
            "network-nat",
            put("subnetworks[0].sourceIpRangesToNats", ["LIST_OF_SECONDARY_IP_RANGES"]),
            put("subnetworks[0].secondaryIpRangeNames", ["pods"]),
        ),
        "flows-images",
        stack=DEMO,
    ),
    Mistake(
        "apis-restricted-unknown",
        "Google's APIs led to a name that the private zone does not know",
        edit(RECORD, "google-apis-all", put("rrdatas", ["restricted.googleapis.com."])),
        "paths-names",
        stack=DEMO,
    ),
    Mistake(
        "iap-may-not-invoke",
        "IAP before a service that it may not invoke",
        drop(ON_SERVICE, "tracking-server-iap"),
        "rights-run",
        stack=RUN,
    ),
    Mistake(
        "backup-without-agent",
        "backups of a cluster that has no backup agent",
        PLANNED,
        "programs-backup-agent",
        stack=DEMO,
    ),
    Mistake(
        "checkpoints-create-only",
        "a team that may write checkpoints and neither read nor replace them",
        edit(ON_FOLDER, "team-vision-checkpoints", put("role", "roles/storage.objectCreator")),
        "rights-volume",
        stack=DEMO,
    ),
    Mistake(
        "key-decrypts-only",
        "Cloud Storage may decrypt with a bucket's key and not encrypt",
        edit(ON_KEY, "acme-demo-gcp-checkpoints-storage", put("role", "roles/cloudkms.cryptoKeyDecrypter")),
        "rights-key",
        stack=DEMO,
    ),
    Mistake(
        "sql-connectors-only",
        "a database that takes connectors only, and a server that has none",
        edit(SQL, "acme-demo-gcp-mlflow", put("settings.connectorEnforcement", "REQUIRED")),
        "programs-database",
        stack=DEMO,
    ),
    Mistake(
        "fabric-subnet-twice",
        "two pod networks of one subnet (a neighbour's line copied)",
        refer(PARAMETERS, "pod-networks-rdma-3-parameters", "spec.vpcSubnet", SUBNET, "fabric-networks-rdma-2", "name"),
        "reference-pod-network",
        stack=FABRIC,
    ),
    Mistake(
        "alert-label-gone",
        "an alert's text with a label that its metric no longer has",
        edit(METRIC, "alert-metrics-alerts", without_label),
        "programs-alert",
        stack=DEMO,
    ),
    Mistake(
        "idle-of-another-cluster",
        "idle chips of a cluster that is called otherwise",
        edit(
            POLICY,
            "alert-policies-idle-chips",
            lambda inputs: inputs["conditions"][0]["conditionThreshold"].update(
                filter=inputs["conditions"][0]["conditionThreshold"]["filter"].replace(
                    "northwind-production", "northwind"
                )
            ),
        ),
        "programs-filter",
        stack=LARGE,
    ),
    Mistake(
        "channel-off",
        "alerts through a channel that is switched off",
        edit(CHANNEL, "alert-policies-ml-platform@acme.example", put("enabled", False)),
        "programs-switched-off",
        stack=DEMO,
    ),
    Mistake(
        "budget-of-no-label",
        "a budget of a label's value that nothing has",
        edit(BUDGET, "budget-budget", put("budgetFilter.labels.project", "acme-demo")),
        "programs-budget",
        stack=DEMO,
    ),
    Mistake(
        "sink-off",
        "the record's sink switched off",
        edit(SINK, "record-sink", put("disabled", True)),
        "programs-switched-off",
        stack=DEMO,
    ),
    Mistake(
        "share-for-pods",
        "homes exported to the pods' range: nodes mount them",
        edit(FILES, "northwind-production-shared", put("fileShares.nfsExportOptions[0].ipRanges", ["10.2.0.0/15"])),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "lustre-from-nodes",
        "the way in for Lustre's servers, from the nodes",
        edit(FIREWALL, "northwind-production-lustre-servers", put("sourceRanges", ["10.0.0.0/20"])),
        "flows-managed-lustre",
        stack=LARGE,
    ),
    Mistake(
        "mount-of-no-folder",
        "a mount of a folder that the team has no rights on",
        edit(VOLUME, "volumes-forecasting-checkpoints-volume", put("spec.mountOptions[1]", "only-dir=teams/forecast")),
        "rights-volume",
        stack=LARGE,
    ),
    Mistake(
        "handle-twice",
        "two volumes with one handle (a neighbour's line copied)",
        edit(
            VOLUME,
            "volumes-perception-home-volume",
            put(
                "spec.csi.volumeHandle",
                "modeInstance/us-east4/northwind-production-shared-71f7b3cc/home-forecasting-home",
            ),
        ),
        "reference-volume-handle",
        stack=LARGE,
    ),
    Mistake(
        "eight-pods",
        "eight pods a node: GKE's own fill it",
        edit(POOL, SPOT, put("maxPodsPerNode", 8)),
        "gke-pods",
        stack=DEMO,
    ),
    Mistake(
        "logs-without-workloads",
        "no logs of workloads, which the alerts' metric reads",
        edit(CLUSTER, "cluster-cluster", put("loggingConfig.enableComponents", ["SYSTEM_COMPONENTS", "APISERVER"])),
        "programs-filter",
        stack=DEMO,
    ),
    Mistake(
        "people-without-create",
        "people who may look at jobs and cancel them, and not create one",
        edit(ROLE, "managed-people", less("permissions", "aiplatform.customJobs.create")),
        "rights-people",
        stack=SMALL,
    ),
    Mistake(
        "editors-by-people-role",
        "editors opened by the role that may not apply their templates",
        refer(ON_TEMPLATE, "editors-n2-standard-8-research@hooli.example", "role", ROLE, "managed-jobs", "name"),
        "rights-editor",
        stack=SMALL,
    ),
    Mistake(
        "nodes-account-off",
        "nodes that run as an account that is switched off",
        edit(ACCOUNT, "cluster-nodes", put("disabled", True)),
        "programs-switched-off",
        stack=DEMO,
    ),
    Mistake(
        "condition-of-no-bucket",
        "rights below a path of a bucket that is called otherwise",
        only("acme-demo-gcp-data/objects/data/"),
        "rights-volume",
        stack=DEMO,
    ),
    Mistake(
        "lifecycle-of-no-prefix",
        "old versions cleared below a prefix that nobody writes to",
        edit(
            BUCKET,
            "acme-demo-gcp-checkpoints",
            put("lifecycleRules[0].condition.matchesPrefixes", ["checkpoints/"]),
            put("lifecycleRules[1].condition.matchesPrefixes", ["checkpoints/"]),
        ),
        "rights-nobody-writes",
        stack=DEMO,
    ),
    Mistake(
        "alarm-of-no-database",
        "an alarm on a database by its name, where the log has project and name",
        edit(
            POLICY,
            "backups-database",
            lambda inputs: inputs["conditions"][0]["conditionMatchedLog"].update(
                filter=inputs["conditions"][0]["conditionMatchedLog"]["filter"].replace("acme-ml:", "")
            ),
        ),
        "programs-filter",
        stack=DEMO,
    ),
)

HEALTHY: Final[Mapping[str, tuple[Change, str]]] = {
    "addresses of one's own for the way out": (
        both(
            made("gcp:compute/address:Address", "network-out", NAT, {"region": "us-central1", "name": "out"}),
            edit(
                NAT,
                "network-nat",
                put("natIpAllocateOption", "MANUAL_ONLY"),
                put("enableDynamicPortAllocation", False),
                put("maxPortsPerVm", DROP),
                put("enableEndpointIndependentMapping", True),
                put("natIps", ["network-out-1"]),
            ),
        ),
        DEMO,
    ),
    "autoclass for data": (
        edit(BUCKET, "acme-demo-gcp-data", put("autoclass", {"enabled": True, "terminalStorageClass": "NEARLINE"})),
        DEMO,
    ),
    "logins by IAM": (
        edit(
            SQL,
            "acme-demo-gcp-mlflow",
            more("settings.databaseFlags", {"name": "cloudsql.iam_authentication", "value": "on"}),
        ),
        DEMO,
    ),
    "certain credits in a budget": (
        edit(
            BUDGET,
            "budget-budget",
            put("budgetFilter.creditTypes", ["PROMOTION"]),
            put("budgetFilter.creditTypesTreatment", "INCLUDE_SPECIFIED_CREDITS"),
        ),
        DEMO,
    ),
    "a metric of a distribution": (
        made(
            METRIC,
            "waits",
            METRIC,
            {
                "name": "acme-demo-gcp-waits",
                "project": "acme-ml",
                "filter": 'resource.type="k8s_container" AND resource.labels.namespace_name="monitoring"',
                "metricDescriptor": {"metricKind": "DELTA", "valueType": "DISTRIBUTION", "unit": "s"},
                "valueExtractor": "EXTRACT(jsonPayload.seconds)",
                "bucketOptions": {"exponentialBuckets": {"numFiniteBuckets": 64, "growthFactor": 2, "scale": 0.01}},
            },
        ),
        DEMO,
    ),
    "thirty-two pods a node": (edit(POOL, SPOT, put("maxPodsPerNode", 32)), DEMO),
    "a channel for a program": (
        both(
            made("gcp:pubsub/topic:Topic", "alerts", POLICY, {"name": "alerts", "project": "acme-ml"}),
            made(
                "gcp:pubsub/topicIAMMember:TopicIAMMember",
                "alerts",
                POLICY,
                {
                    "topic": "alerts",
                    "project": "acme-ml",
                    "role": "roles/pubsub.publisher",
                    "member": TELLS,
                },
            ),
            made(API, "services-pubsub", API, {"service": "pubsub.googleapis.com", "disableOnDestroy": False}),
            made(
                CHANNEL,
                "program",
                CHANNEL,
                {
                    "displayName": "program",
                    "type": "pubsub",
                    "project": "acme-ml",
                    "labels": {"topic": "projects/acme-ml/topics/alerts"},
                },
            ),
            edit(POLICY, "record-alarms-rights", more("notificationChannels", "program-1")),
        ),
        DEMO,
    ),
    "backups of a cluster": (
        both(PLANNED, edit(CLUSTER, "cluster-cluster", put("addonsConfig.gkeBackupAgentConfig", {"enabled": True}))),
        DEMO,
    ),
    "images cleared up but for the newest": (
        edit(
            IMAGES,
            "images-acme-demo-gcp-hub",
            more("cleanupPolicies", {"id": "newest", "action": "KEEP", "mostRecentVersions": {"keepCount": 5}}),
        ),
        CACHE,
    ),
}
