"""Ninety-two mistakes of Google Cloud's resources, 24 of them refused, written before anything was looked up of what
tells them.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Recorded, both, drop, edit, put
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
from trainyard.recorded.model import RecordedResource

ON_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
LOG_BUCKET = "gcp:logging/projectBucketConfig:ProjectBucketConfig"
EXCLUSION = "gcp:logging/projectExclusion:ProjectExclusion"
AUDIT = "gcp:projects/iAMAuditConfig:IAMAuditConfig"
SERVICE = "gcp:projects/service:Service"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
ADDRESS = "gcp:compute/globalAddress:GlobalAddress"
CONNECTION = "gcp:servicenetworking/connection:Connection"
ROUTER = "gcp:compute/router:Router"
FOLDER = "gcp:storage/managedFolder:ManagedFolder"
SECRET = "gcp:secretmanager/regionalSecret:RegionalSecret"
SECRET_VERSION = "gcp:secretmanager/regionalSecretVersion:RegionalSecretVersion"
USER = "gcp:sql/user:User"
OF = "northwind-production"
TRAIN, TPU = "gpu-nodes-train-reserved", "tpu-slices-v6e-on-demand-1"
WORKLOADS = (
    "principal://iam.googleapis.com/projects/555512345678/locations/global/workloadIdentityPools/"
    "northwind-ml.svc.id.goog/subject"
)


def another(type_: str, name: str, /, **inputs: Any) -> Change:
    """A second resource like the one of that type and name, with other inputs."""

    def change(resources: Recorded) -> list[RecordedResource]:
        found = [item for item in resources if (item.type, item.name) == (type_, name)]
        assert len(found) == 1, found
        body = {**copy.deepcopy(dict(found[0].inputs)), **inputs}
        made = replace(found[0], name=f"{name}-2", urn=f"{found[0].urn}-2", id=f"{found[0].id}-2", inputs=body)
        return [*resources, made]

    return change


REFUSED = {
    "a taint's effect in Kubernetes' spelling": (
        edit(POOL, TRAIN, put("nodeConfig.taints[0].effect", "NoSchedule")),
        STACK,
    ),
    "an unknown key of an accelerator": (
        edit(POOL, TRAIN, put("nodeConfig.guestAccelerators[0].driverVersion", "LATEST")),
        STACK,
    ),
    "more GPUs than the machine has": (edit(POOL, TRAIN, put("nodeConfig.guestAccelerators[0].count", 16)), STACK),
    "a machine's GPU of another kind": (
        edit(POOL, TRAIN, put("nodeConfig.guestAccelerators[0].type", "nvidia-h100-80gb")),
        STACK,
    ),
    "a label that Kubernetes keeps for itself": (
        edit(POOL, TRAIN, put("nodeConfig.labels.kubernetes~io/hostname", "train")),
        STACK,
    ),
    "a range of pods that the subnet has not": (
        edit(CLUSTER, "cluster-cluster", put("ipAllocationPolicy.clusterSecondaryRangeName", "pod")),
        STACK,
    ),
    "two secondary ranges of one name": (
        edit(SUBNET, "network-nodes", put("secondaryIpRanges[1].rangeName", "pods")),
        STACK,
    ),
    "flow logs of more than everything": (edit(SUBNET, "network-nodes", put("logConfig.flowSampling", 50)), STACK),
    "a firewall that allows and denies": (
        edit(FIREWALL, "network-webhooks", put("denies", [{"protocol": "udp"}])),
        STACK,
    ),
    "sources on the way out": (
        edit(FIREWALL, "network-webhooks", put("direction", "EGRESS")),
        STACK,
    ),
    "an encrypting key with an algorithm of signatures": (
        edit(KEY, f"{OF}-data", put("versionTemplate.algorithm", "EC_SIGN_P256_SHA256")),
        STACK,
    ),
    "a key that is destroyed within the hour": (
        edit(KEY, f"{OF}-data", put("destroyScheduledDuration", "3600s")),
        STACK,
    ),
    "soft deletion of three days": (
        edit(BUCKET, f"{OF}-data", put("softDeletePolicy.retentionDurationSeconds", 259200)),
        STACK,
    ),
    "a storage class on its way up": (
        edit(BUCKET, f"{OF}-artifacts", put("lifecycleRules[1].action.storageClass", "INFREQUENT")),
        STACK,
    ),
    "a database of a tier that the edition has not": (
        edit(SQL, f"{OF}-mlflow", put("settings.edition", "ENTERPRISE_PLUS")),
        STACK,
    ),
    "a database of odd memory": (edit(SQL, f"{OF}-mlflow", put("settings.tier", "db-custom-4-5000")), STACK),
    "an alignment shorter than a minute": (
        edit(
            POLICY,
            "alert-policies-alerts",
            put("conditions[0].conditionThreshold.aggregations[0].alignmentPeriod", "30s"),
        ),
        STACK,
    ),
    "a threshold on a budget's wrong basis": (
        edit(BUDGET, "budget-budget", put("thresholdRules[3].spendBasis", "FORECAST")),
        STACK,
    ),
    "budget of no whole number": (
        edit(BUDGET, "budget-budget", put("amount.specifiedAmount.units", "620000.50")),
        STACK,
    ),
    "a share of Filestore with a dash first": (
        edit(FILESTORE, f"{OF}-shared", put("fileShares.name", "home-directories-of-teams")),
        STACK,
    ),
    "a file system's name with a dash": (edit(LUSTRE, f"{OF}-lustre", put("filesystem", "scratch-space")), STACK),
    "a record's name outside its zone": (
        edit(RECORD, "google-apis-private", put("name", "private.googleapis.com")),
        STACK,
    ),
    "a sink to a bucket by its name alone": (edit(SINK, "record-sink", put("destination", f"{OF}")), STACK),
    "a workload pool of the number": (
        edit(CLUSTER, "cluster-cluster", put("workloadIdentityConfig.workloadPool", "555512345678.svc.id.goog")),
        STACK,
    ),
}

SILENT = {
    "the key's right is at another key": (
        edit(
            ON_KEY,
            f"{OF}-tracking-sql",
            put(
                "cryptoKeyId",
                f"projects/northwind-ml/locations/us-east4/keyRings/{OF}-keys/cryptoKeys/{OF}-data",
            ),
        ),
        STACK,
    ),
    "the key may only be decrypted with": (
        edit(ON_KEY, f"{OF}-platform-disks", put("role", "roles/cloudkms.cryptoKeyDecrypter")),
        STACK,
    ),
    "the log bucket's key for storage's agent": (
        edit(
            ON_KEY,
            f"{OF}-record-logging",
            put("member", "serviceAccount:service-555512345678@gcp-sa-logging.iam.gserviceaccount.com"),
        ),
        STACK,
    ),
    "the key's right for Compute Engine's default account": (
        edit(
            ON_KEY,
            f"{OF}-platform-disks",
            put("member", "serviceAccount:555512345678-compute@developer.gserviceaccount.com"),
        ),
        STACK,
    ),
    "Lustre's agent may not read what is imported": (drop(ON_BUCKET, f"{OF}-lustre-imports"), STACK),
    "the team's account in another namespace": (
        edit(ON_BUCKET, "team-foundation-data", put("member", f"{WORKLOADS}/ns/foundation/sa/trainer")),
        STACK,
    ),
    "workloads by the project's id instead of its number": (
        edit(
            ON_BUCKET,
            "ingest-data",
            put(
                "member",
                "principal://iam.googleapis.com/projects/northwind-ml/locations/global/workloadIdentityPools/"
                "northwind-ml.svc.id.goog/subject/ns/ingest/sa/ingest",
            ),
        ),
        STACK,
    ),
    "workloads of another project's pool": (
        edit(
            ON_BUCKET,
            "ingest-data",
            put("member", f"{WORKLOADS.replace('northwind-ml', 'northwind-dev')}/ns/ingest/sa/ingest"),
        ),
        STACK,
    ),
    "the nodes' role that no longer writes metrics": (
        edit(IN_PROJECT, "cluster-nodes-defaultNodeServiceAccount", put("role", "roles/logging.logWriter")),
        STACK,
    ),
    "nodes may write images": (
        edit(IN_PROJECT, "cluster-nodes-reader", put("role", "roles/artifactregistry.writer")),
        STACK,
    ),
    "NAT for the nodes' range and no pods": (
        edit(NAT, "network-nat", put("subnetworks[0].sourceIpRangesToNats", ["PRIMARY_IP_RANGE"])),
        STACK,
    ),
    "NAT with a port for each of 32 ways": (edit(NAT, "network-nat", put("maxPortsPerVm", 64)), STACK),
    "NAT of another router": (edit(NAT, "network-nat", put("router", "network-router-2")), STACK),
    "a router of another network": (
        edit(ROUTER, "network-router", put("network", "projects/northwind-ml/global/networks/default")),
        STACK,
    ),
    "webhooks from another range than the control plane's": (
        edit(FIREWALL, "network-webhooks", put("sourceRanges", ["10.0.48.0/28"])),
        STACK,
    ),
    "webhooks allowed for a tag that no node has": (
        edit(FIREWALL, "network-webhooks", put("targetTags", ["gke-node"])),
        STACK,
    ),
    "the firewall of Lustre is off": (edit(FIREWALL, f"{OF}-lustre-servers", put("disabled", True)), STACK),
    "Lustre's port in another protocol": (
        edit(FIREWALL, f"{OF}-lustre-servers", put("allows[0].protocol", "udp")),
        STACK,
    ),
    "Lustre lets in the range of pods alone": (
        edit(LUSTRE, f"{OF}-lustre", put("accessRulesOptions.accessRules[0].ipAddressRanges", ["10.2.0.0/15"])),
        STACK,
    ),
    "Filestore lets in another subnet": (
        edit(FILESTORE, f"{OF}-shared", put("fileShares.nfsExportOptions[0].ipRanges", ["10.10.0.0/20"])),
        STACK,
    ),
    "Filestore for reading": (
        edit(FILESTORE, f"{OF}-shared", put("fileShares.nfsExportOptions[0].accessMode", "READ_ONLY")),
        STACK,
    ),
    "nodes without private access to Google": (
        both(
            edit(SUBNET, "network-nodes", put("privateIpGoogleAccess", False)),
            edit(NAT, "network-nat", put("subnetworks[0].sourceIpRangesToNats", ["LIST_OF_SECONDARY_IP_RANGES"])),
        ),
        STACK,
    ),
    "a zone of DNS that everybody sees": (
        edit(ZONE, "google-apis-googleapis", put("visibility", "public"), put("privateVisibilityConfig", DROP)),
        STACK,
    ),
    "an alias of everything of one level too many": (
        edit(RECORD, "google-apis-all", put("name", "*.storage.googleapis.com.")),
        STACK,
    ),
    "reserved nodes in a zone where the machines are not": (
        edit(POOL, TRAIN, put("nodeLocations", ["us-east4-a"])),
        STACK,
    ),
    "a reservation that is consumed by any": (
        edit(
            POOL,
            TRAIN,
            put("nodeConfig.reservationAffinity", {"consumeReservationType": "ANY_RESERVATION"}),
        ),
        STACK,
    ),
    "the label of DRANET is gone": (
        edit(POOL, TRAIN, put("nodeConfig.labels.cloud~google~com/gke-networking-dra-driver", DROP)),
        STACK,
    ),
    "the network's profile is gone": (edit(POOL, TRAIN, put("networkConfig", DROP)), STACK),
    "a driver that nobody installs": (
        edit(
            POOL,
            TRAIN,
            put(
                "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "INSTALLATION_DISABLED"
            ),
        ),
        STACK,
    ),
    "the label of queued nodes is gone": (
        edit(POOL, "gpu-nodes-train-flex-start", put("nodeConfig.labels.cloud~google~com/gke-queued", DROP)),
        STACK,
    ),
    "nodes whose GPUs are shared by time": (
        edit(
            POOL,
            TRAIN,
            put(
                "nodeConfig.guestAccelerators[0].gpuSharingConfig",
                {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4},
            ),
        ),
        STACK,
    ),
    "a taint of another key": (edit(POOL, TRAIN, put("nodeConfig.taints[0].key", "nvidia.com/gpus")), STACK),
    "pods may have the node's account": (
        edit(POOL, "gpu-nodes-dev-on-demand", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
        STACK,
    ),
    "nodes of the network's default account": (
        edit(POOL, "cluster-cpu", put("nodeConfig.serviceAccount", DROP)),
        STACK,
    ),
    "the slice's topology of another count": (edit(POOL, TPU, put("placementPolicy.tpuTopology", "2x4")), STACK),
    "no node ever for the slice": (edit(POOL, TPU, put("autoscaling.totalMaxNodeCount", 2)), STACK),
    "FUSE's driver is not installed": (
        edit(CLUSTER, "cluster-cluster", put("addonsConfig.gcsFuseCsiDriverConfig.enabled", False)),
        STACK,
    ),
    "Lustre's driver is not installed": (
        edit(CLUSTER, "cluster-cluster", put("addonsConfig.lustreCsiDriverConfig", DROP)),
        STACK,
    ),
    "the metrics of GPUs are not collected": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put("monitoringConfig.enableComponents", ["SYSTEM_COMPONENTS", "STORAGE", "HPA", "POD"]),
        ),
        STACK,
    ),
    "the window of maintenance is shorter than it may be in a month": (
        edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow.endTime", "2026-01-03T03:00:00Z")),
        STACK,
    ),
    "checkpoints are moved to archive after a day": (
        edit(
            BUCKET,
            f"{OF}-checkpoints",
            put(
                "lifecycleRules[3]",
                {"action": {"type": "SetStorageClass", "storageClass": "ARCHIVE"}, "condition": {"age": 1}},
            ),
        ),
        STACK,
    ),
    "old versions that nobody keeps count of": (
        edit(BUCKET, f"{OF}-data", put("versioning.enabled", False)),
        STACK,
    ),
    "a rule by a prefix that no object has": (
        edit(BUCKET, f"{OF}-artifacts", put("lifecycleRules[1].condition.matchesPrefixes", ["gs://artifacts/"])),
        STACK,
    ),
    "logs of buckets to the bucket that they are of": (
        edit(BUCKET, f"{OF}-data", put("logging.logBucket", f"{OF}-data-d04bb20c")),
        STACK,
    ),
    "nobody may deliver the logs of buckets": (drop(ON_BUCKET, f"{OF}-logs-delivery"), STACK),
    "the budget counts another label's value": (
        edit(BUDGET, "budget-budget", put("budgetFilter.labels.project", "northwind-prod")),
        STACK,
    ),
    "the budget of another project's number": (
        edit(BUDGET, "budget-budget", put("budgetFilter.projects", ["projects/555512345687"])),
        STACK,
    ),
    "thresholds in per cent": (edit(BUDGET, "budget-budget", put("thresholdRules[1].thresholdPercent", 80)), STACK),
    "the alert waits for its figure to fall": (
        edit(POLICY, "alert-policies-alerts", put("conditions[0].conditionThreshold.comparison", "COMPARISON_LT")),
        STACK,
    ),
    "an alert of a resource that writes no such metric": (
        said(POLICY, "alert-policies-silent", "conditions[0].conditionAbsent.filter", "k8s_container", "k8s_pod"),
        STACK,
    ),
    "an alert that names no channel": (
        edit(POLICY, "alert-policies-alerts", put("notificationChannels", [])),
        STACK,
    ),
    "a mail address without its sign": (
        edit(
            CHANNEL,
            "alert-policies-ml-platform@northwind.example",
            put("labels.email_address", "ml-platform.northwind.example"),
        ),
        STACK,
    ),
    "a channel that is of another project": (
        edit(CHANNEL, "alert-policies-ml-platform@northwind.example", put("project", "northwind-dev")),
        STACK,
    ),
    "the sink keeps only mistakes": (edit(SINK, "record-sink", put("filter", "severity>=ERRORS")), STACK),
    "everything is excluded everywhere": (
        edit(SINK, "record-sink", put("exclusions", [{"name": "noise", "filter": "severity>=DEFAULT"}])),
        STACK,
    ),
    "reads of another service are recorded": (
        edit(AUDIT, "record-storage", put("service", "storage-api.googleapis.com")),
        STACK,
    ),
    "a version that is off": (
        edit(SECRET_VERSION, f"{OF}-mlflow-password", put("enabled", False)),
        STACK,
    ),
    "the secret ends in a month": (edit(SECRET, f"{OF}-mlflow-password", put("ttl", "2592000s")), STACK),
    "the password of yesterday": (edit(USER, f"{OF}-mlflow-mlflow", put("passwordWoVersion", DROP)), STACK),
    "backups where the data may not be": (
        edit(SQL, f"{OF}-mlflow", put("settings.backupConfiguration.location", "eu")),
        STACK,
    ),
    "a database without its network": (
        edit(
            SQL,
            f"{OF}-mlflow",
            put("settings.ipConfiguration.privateNetwork", "projects/northwind-ml/global/networks/default"),
        ),
        STACK,
    ),
    "a database that does not grow": (
        edit(SQL, f"{OF}-mlflow", put("settings.diskAutoresizeLimit", 60)),
        STACK,
    ),
    "fourteen connections": (
        edit(
            SQL,
            f"{OF}-mlflow",
            lambda inputs: inputs["settings"]["databaseFlags"].append({"name": "max_connections", "value": "14"}),
        ),
        STACK,
    ),
    "the folder's right for objects' names alone": (
        edit(IN_FOLDER, "team-foundation-checkpoints", put("role", "roles/storage.objectCreator")),
        STACK,
    ),
    "the metric counts what is no longer firing": (
        said(METRIC, "alert-metrics-alerts", "filter", 'jsonPayload.status="firing"', 'jsonPayload.state="firing"'),
        STACK,
    ),
    "the range of peering has no purpose": (edit(ADDRESS, "network-private-services", put("purpose", DROP)), STACK),
    "a service that is not turned on": (drop(SERVICE, "services-lustre"), STACK),
    "the peering's range is a quarter": (edit(ADDRESS, "network-private-services", put("prefixLength", 26)), STACK),
}
