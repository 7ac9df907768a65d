"""Twenty-four of forty other mistakes on Google Cloud, written when those of `mistakes_gcp_sixty.py` were told; the
other sixteen, of managed training, are in `mistakes_managed_forty.py`.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUDGET,
    CLUSTER,
    FILESTORE,
    NAT,
    ON_KEY,
    POLICY,
    POOL,
    SINK,
    SQL,
    STACK,
    said,
)

CONNECTION = "gcp:servicenetworking/connection:Connection"
SECRET, USER = "gcp:secretmanager/regionalSecret:RegionalSecret", "gcp:sql/user:User"
FOLDER = "gcp:storage/managedFolder:ManagedFolder"
IN_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIMS = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"


def lets_iam_in(inputs: dict[str, Any]) -> None:
    """A database into which accounts log in by IAM."""
    inputs["settings"]["databaseFlags"].append({"name": "cloudsql.iam_authentication", "value": "on"})


REFUSED = {
    "a slice of more chips than its machines have": (
        edit(POOL, "tpu-slices-v6e-on-demand-1", put("placementPolicy.tpuTopology", "4x8")),
        STACK,
    ),
    "no node more and none less in an upgrade": (
        edit(POOL, "cluster-cpu", put("upgradeSettings.maxSurge", 0)),
        STACK,
    ),
    "a secret elsewhere than its key": (
        edit(SECRET, "northwind-production-mlflow-password", put("location", "us-central1")),
        STACK,
    ),
    "a peering with a range that there is not": (
        edit(CONNECTION, "network-private-services", put("reservedPeeringRanges", ["private-services"])),
        STACK,
    ),
    "a flag of a value that it has not": (
        edit(SQL, "northwind-production-mlflow", put("settings.databaseFlags[9].value", "dll")),
        STACK,
    ),
    "a file system below the least size": (
        edit(FILESTORE, "northwind-production-shared", put("fileShares.capacityGb", 1000)),
        STACK,
    ),
    "a folder without its slash": (edit(FOLDER, "mlflow-artifacts", put("name", "mlflow")), "eu-gcp"),
    "no upgrade until the version's end": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put("maintenancePolicy.maintenanceExclusions[0].exclusionOptions.scope", "NO_UPGRADES"),
        ),
        STACK,
    ),
    "a group of people of any name": (
        edit(CLUSTER, "cluster-cluster", put("authenticatorGroupsConfig.securityGroup", "ml@northwind.example")),
        STACK,
    ),
}

SILENT = {
    "reserved nodes that are not": (
        edit(
            POOL,
            "gpu-nodes-train-reserved",
            put("nodeConfig.reservationAffinity", {"consumeReservationType": "NO_RESERVATION"}),
        ),
        STACK,
    ),
    "spot nodes at the full price": (edit(POOL, "gpu-nodes-tune-spot", put("nodeConfig.spot", DROP)), STACK),
    "a user that nobody logs in as": (edit(USER, "northwind-production-mlflow-mlflow", put("name", "tracking")), STACK),
    "data are mounted from where none are put": (
        edit(VOLUME, "volumes-foundation-data-volume", put("spec.mountOptions[1]", "only-dir=datasets")),
        STACK,
    ),
    "checkpoints in the bucket of data": (
        said(
            VOLUME,
            "volumes-foundation-checkpoints-volume",
            "spec.csi.volumeHandle",
            "-checkpoints-dec5c8c5",
            "-data-d04bb20c",
        ),
        STACK,
    ),
    "another team's scratch space": (
        said(
            VOLUME,
            "volumes-foundation-scratch-volume",
            "spec.csi.volumeAttributes.filesystem",
            "foundation",
            "perception",
        ),
        STACK,
    ),
    "a way out for pods alone": (
        edit(
            NAT,
            "network-nat",
            put("subnetworks[0].sourceIpRangesToNats", ["LIST_OF_SECONDARY_IP_RANGES"]),
            put("subnetworks[0].secondaryIpRangeNames", ["pods"]),
        ),
        "demo-gcp",
    ),
    "a budget that tells nobody": (
        edit(BUDGET, "budget-budget", put("allUpdatesRule.monitoringNotificationChannels", [])),
        "eu-gcp",
    ),
    "logs between two levels that exclude each other": (
        edit(SINK, "record-sink", put("filter", "severity>=ERROR AND severity<=WARNING")),
        STACK,
    ),
    "silence is listened for in alerts": (
        said(POLICY, "alert-policies-silent", "conditions[0].conditionAbsent.filter", "-watchdog", "-alerts"),
        STACK,
    ),
    "the disks of another project": (
        said(ON_KEY, "northwind-production-platform-disks", "member", "555512345678", "555512345679"),
        STACK,
    ),
    "more interfaces than a machine has": (
        edit(CLAIMS, "teams-foundation-fabric-train", put("spec.spec.devices.requests[0].exactly.count", 16)),
        STACK,
    ),
    "nodes are requested for another flavor": (
        edit(
            QUEUE,
            "kueue-cluster-queue-foundation",
            put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", ["train-spot"]),
        ),
        STACK,
    ),
    "a server that asks for certificates nobody has": (
        edit(
            SQL,
            "acme-demo-gcp-mlflow",
            put("settings.ipConfiguration.sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"),
        ),
        "demo-gcp",
    ),
    "a role on the bucket that reads no object": (
        edit(IN_BUCKET, "team-foundation-data", put("role", "roles/storage.legacyBucketReader")),
        STACK,
    ),
}
