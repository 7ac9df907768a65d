"""Sixty-five more mistakes of Google Cloud's resources, written when those of `mistakes_gcp_third.py` were mended."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import DROP, both, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUCKET,
    BUDGET,
    CHANNEL,
    CLUSTER,
    FILESTORE,
    FIREWALL,
    IN_FOLDER,
    IN_PROJECT,
    KEY,
    LUSTRE,
    METRIC,
    NAT,
    ON_KEY,
    POLICY,
    POOL,
    RECORD,
    SINK,
    SQL,
    STACK,
    ZONE,
    said,
)
from tests.rehearsal.works.mistakes_gcp_third import (
    ADDRESS,
    AUDIT,
    CONNECTION,
    EXCLUSION,
    LOG_BUCKET,
    OF,
    ON_BUCKET,
    SERVICE,
    SUBNET,
    TPU,
    TRAIN,
    USER,
    WORKLOADS,
)

FLEX = "gpu-nodes-train-flex-start"
DATABASE = "gcp:sql/database:Database"
ACCOUNT = "gcp:serviceaccount/account:Account"

REFUSED = {
    "an autoscaler's limits by zone and in total": (edit(POOL, TRAIN, put("autoscaling.maxNodeCount", 4)), STACK),
    "spot nodes of a reservation": (edit(POOL, TRAIN, put("nodeConfig.spot", True)), STACK),
    "a run without an end, queued": (edit(POOL, FLEX, put("nodeConfig.maxRunDuration", "864000s")), STACK),
    "flex-start that repairs": (edit(POOL, FLEX, put("management.autoRepair", True)), STACK),
    "nothing surges and nothing may be missing": (
        edit(POOL, TRAIN, put("upgradeSettings.maxUnavailable", 0)),
        STACK,
    ),
    "a pool in a zone of another region": (edit(POOL, "cluster-cpu", put("nodeLocations[1]", "us-east1-b")), STACK),
    "a boot disk's type that the machine has not": (
        edit(POOL, TRAIN, put("nodeConfig.diskType", "pd-standard")),
        STACK,
    ),
    "a range of the control plane that is a /24": (
        edit(CLUSTER, "cluster-cluster", put("privateClusterConfig.masterIpv4CidrBlock", "10.0.32.0/24")),
        STACK,
    ),
    "a scope of upgrades that there is not": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put("maintenancePolicy.maintenanceExclusions[0].exclusionOptions.scope", "NO_MINOR_UPGRADE"),
        ),
        STACK,
    ),
    "an account's id of two letters": (edit(ACCOUNT, "cluster-nodes", put("accountId", "np")), STACK),
    "a filter of a log with single quotes": (
        said(METRIC, "alert-metrics-alerts", "filter", '"firing"', "'firing'"),
        STACK,
    ),
    "a bucket in a zone": (edit(BUCKET, f"{OF}-data", put("location", "us-east4-a")), STACK),
    "a throughput that Lustre has not": (
        edit(LUSTRE, f"{OF}-lustre", put("perUnitStorageThroughput", "750")),
        STACK,
    ),
}

SILENT = {
    "a key of another project": (
        edit(
            BUCKET,
            f"{OF}-data",
            put(
                "encryption.defaultKmsKeyName",
                f"projects/northwind-dev/locations/us-east4/keyRings/{OF}-keys/cryptoKeys/{OF}-data",
            ),
        ),
        STACK,
    ),
    "a key of another place": (
        edit(
            POOL,
            "cluster-cpu",
            put(
                "nodeConfig.bootDiskKmsKey",
                f"projects/northwind-ml/locations/us-central1/keyRings/{OF}-keys/cryptoKeys/{OF}-platform",
            ),
        ),
        STACK,
    ),
    "nodes' account of another project": (
        edit(
            POOL, "cluster-cpu", put("nodeConfig.serviceAccount", f"{OF}-nodes@northwind-dev.iam.gserviceaccount.com")
        ),
        STACK,
    ),
    "nodes' account by a slip": (
        edit(POOL, "cluster-cpu", put("nodeConfig.serviceAccount", f"{OF}-node@northwind-ml.iam.gserviceaccount.com")),
        STACK,
    ),
    "the pool of another cluster": (
        edit(POOL, "cluster-cpu", put("cluster", f"projects/northwind-ml/locations/us-east4/clusters/{OF}-2")),
        STACK,
    ),
    "Lustre in another network": (
        edit(LUSTRE, f"{OF}-lustre", put("network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "Filestore in another network": (
        edit(FILESTORE, f"{OF}-shared", put("networks[0].network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "Lustre in a zone without GPUs": (edit(LUSTRE, f"{OF}-lustre", put("location", "us-east4-c")), STACK),
    "Lustre in another region": (edit(LUSTRE, f"{OF}-lustre", put("location", "us-central1-a")), STACK),
    "Filestore in another region": (edit(FILESTORE, f"{OF}-shared", put("location", "us-central1")), STACK),
    "the database in another region": (
        edit(SQL, f"{OF}-mlflow", put("region", "us-central1"), put("encryptionKeyName", DROP)),
        STACK,
    ),
    "the data far from the GPUs": (
        edit(BUCKET, f"{OF}-data", put("location", "asia-southeast1"), put("encryption", DROP)),
        STACK,
    ),
    "the log bucket in another region": (
        edit(LOG_BUCKET, "record-logs", put("location", "us-central1"), put("cmekSettings", DROP)),
        STACK,
    ),
    "the sink's bucket in another place": (
        said(SINK, "record-sink", "destination", "us-east4", "us-central1"),
        STACK,
    ),
    "the exclusion keeps what it should not": (
        edit(EXCLUSION, "record-not-global", put("filter", "severity>=EMERGENCY")),
        STACK,
    ),
    "an exclusion that is off": (edit(EXCLUSION, "record-not-global", put("disabled", True)), STACK),
    "logs kept for a day": (edit(LOG_BUCKET, "record-logs", put("retentionDays", 1)), STACK),
    "reads are recorded of a person less": (
        edit(AUDIT, "record-storage", put("auditLogConfigs[1].exemptedMembers", ["user:ann@northwind.example"])),
        STACK,
    ),
    "only writes are recorded": (
        edit(AUDIT, "record-storage", put("auditLogConfigs", [{"logType": "DATA_WRITE"}])),
        STACK,
    ),
    "the mean of lines": (
        edit(
            POLICY,
            "alert-policies-alerts",
            put("conditions[0].conditionThreshold.aggregations[0].perSeriesAligner", "ALIGN_MEAN"),
        ),
        STACK,
    ),
    "silence of a day": (
        edit(
            POLICY,
            "alert-policies-silent",
            put("conditions[0].conditionAbsent.duration", "86400s"),
        ),
        STACK,
    ),
    "a metric of another kind": (
        said(
            POLICY,
            "alert-policies-silent",
            "conditions[0].conditionAbsent.filter",
            "logging.googleapis.com/user/",
            "custom.googleapis.com/",
        ),
        STACK,
    ),
    "a message's label that the resource has not": (
        said(
            POLICY,
            "record-alarms-rights",
            "documentation.content",
            "${resource.label.project_id}",
            "${resource.label.project}",
        ),
        STACK,
    ),
    "a rule by log of another method": (
        said(
            POLICY,
            "record-alarms-keys",
            "conditions[0].conditionMatchedLog.filter",
            "CreateServiceAccountKey",
            "CreateServiceAccountKeys",
        ),
        STACK,
    ),
    "a budget by quarter": (edit(BUDGET, "budget-budget", put("budgetFilter.calendarPeriod", "YEAR")), STACK),
    "a budget of one service": (
        edit(BUDGET, "budget-budget", put("budgetFilter.services", ["services/compute.googleapis.com"])),
        STACK,
    ),
    "a budget's channel by a slip": (
        edit(
            BUDGET,
            "budget-budget",
            put("allUpdatesRule.monitoringNotificationChannels", ["budget-ml-platforms@northwind.example-e8985fcb"]),
        ),
        STACK,
    ),
    "a team's folder in the bucket of data": (
        edit(IN_FOLDER, "team-foundation-checkpoints", put("bucket", f"{OF}-data-d04bb20c")),
        STACK,
    ),
    "a folder's right of another folder": (
        edit(IN_FOLDER, "team-foundation-checkpoints", put("managedFolder", "teams/foundations/")),
        STACK,
    ),
    "a right that ended": (
        edit(
            ON_BUCKET,
            "team-foundation-data",
            put("condition", {"title": "until", "expression": 'request.time < timestamp("2025-01-01T00:00:00Z")'}),
        ),
        STACK,
    ),
    "a right on objects by the bucket's name": (
        edit(
            ON_BUCKET,
            "team-foundation-data",
            put(
                "condition",
                {"title": "data", "expression": 'resource.name.startsWith("projects/_/buckets/northwind-data/")'},
            ),
        ),
        STACK,
    ),
    "an account of Kubernetes that nobody makes": (
        edit(ON_BUCKET, "ingest-data", put("member", f"{WORKLOADS}/ns/ingest/sa/ingester")),
        STACK,
    ),
    "the nodes' right to read images in another project": (
        edit(IN_PROJECT, "cluster-nodes-reader", put("project", "northwind-images")),
        STACK,
    ),
    "a peering of another network": (
        edit(CONNECTION, "network-private-services", put("network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "the range of peering in another network": (
        edit(ADDRESS, "network-private-services", put("network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "a firewall that denies before it allows": (
        edit(
            FIREWALL, "network-webhooks", put("denies", [{"protocol": "all"}]), put("allows", DROP), put("priority", 10)
        ),
        STACK,
    ),
    "NAT of one subnet's range by name": (
        edit(
            NAT, "network-nat", put("subnetworks[0].name", "projects/northwind-ml/regions/us-east4/subnetworks/default")
        ),
        STACK,
    ),
    "jumbo frames on one side": (edit("gcp:compute/network:Network", "network-vpc", put("mtu", 1460)), STACK),
    "a subnet of one network, a cluster of another": (
        edit(SUBNET, "network-nodes", put("network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "the database's name in another instance": (
        edit(DATABASE, f"{OF}-mlflow-mlflow", put("instance", f"{OF}-runs")),
        STACK,
    ),
    "the user of another instance": (edit(USER, f"{OF}-mlflow-mlflow", put("instance", f"{OF}-runs")), STACK),
    "a user by IAM with a password": (edit(USER, f"{OF}-mlflow-mlflow", put("type", "CLOUD_IAM_USER")), STACK),
    "a zone of nearly Google's name": (
        edit(ZONE, "google-apis-googleapis", put("dnsName", "google-apis.com.")),
        STACK,
    ),
    "one address of four": (
        edit(RECORD, "google-apis-private", put("rrdatas", ["199.36.153.8"])),
        STACK,
    ),
    "nobody may use the disks' key": (drop(ON_KEY, f"{OF}-platform-disks"), STACK),
    "a key for another purpose": (edit(KEY, f"{OF}-tracking", put("purpose", "MAC")), STACK),
    "a service that is switched off with the stack": (
        edit(SERVICE, "services-container", put("disableOnDestroy", True)),
        STACK,
    ),
    "a compact placement in two zones": (
        edit(POOL, "gpu-nodes-train-spot", put("nodeLocations", ["us-east4-a", "us-east4-b"])),
        STACK,
    ),
    "the slice in a zone that has none": (edit(POOL, TPU, put("nodeLocations", ["us-east4-c"])), STACK),
    "a reservation by another key": (
        edit(POOL, TRAIN, put("nodeConfig.reservationAffinity.key", "compute.googleapis.com/reservation")),
        STACK,
    ),
    "no room on the disk of the nodes": (edit(POOL, TRAIN, put("nodeConfig.diskSizeGb", 20)), STACK),
    "channels that are gone": (
        both(
            drop(CHANNEL, "alert-policies-finance@northwind.example"),
            drop(CHANNEL, "alert-policies-ml-platform@northwind.example"),
        ),
        STACK,
    ),
}
