"""What the services of Google Cloud need of keys that things are encrypted with: each has an account of its own.

Source: Cloud KMS, "Customer-managed encryption keys", and the services' pages on it (of Backup for GKE it is the
account of GKE that uses a plan's key: "About Backup for GKE CMEK encryption"), as generally known in 2026-11; the
domains of the accounts as in IAM, "Service agents".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_ACCOUNT,
    GCP_BACKUP_VAULT,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_DATASET,
    GCP_EDITOR_TEMPLATE,
    GCP_IMAGE_REPOSITORY,
    GCP_LOG_BUCKET,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SECRET,
    GCP_SERVICE_IDENTITY,
    GCP_TENSORBOARD,
    GCP_TOPIC,
    GKE_CLUSTER,
    STORAGE_CLASS,
)
from trainyard.rehearsal.context import Stack, View, expand
from trainyard.rehearsal.works.rights.gcp.grants import REGIONAL_SECRET
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need

AGENTS: Final[Mapping[str, str]] = {
    "storage": "gs-project-accounts",
    "compute": "compute-system",
    "container": "container-engine-robot",
    "sqladmin": "gcp-sa-cloud-sql",
    "secretmanager": "gcp-sa-secretmanager",
    "artifactregistry": "gcp-sa-artifactregistry",
    "pubsub": "gcp-sa-pubsub",
    "file": "cloud-filer",
    "lustre": "gcp-sa-lustre",
    "backupdr": "gcp-sa-backupdr",
    "logging": "gcp-sa-logging",
    "aiplatform": "gcp-sa-aiplatform",
    "dataform": "gcp-sa-dataform",
    "run": "serverless-robot-prod",
    "iap": "gcp-sa-iap",
    "monitoring": "gcp-sa-monitoring-notification",
    "storagetransfer": "storage-transfer-service",
    "bigquery": "bigquery-encryption",
    "redis": "cloud-redis",
    "alloydb": "gcp-sa-alloydb",
    "spanner": "gcp-sa-spanner",
    "eventarc": "gcp-sa-eventarc",
}
"""Domains of the accounts of services, before `.iam.gserviceaccount.com`, by the service."""

_ENCRYPTED: Final[tuple[tuple[str, str, str, str], ...]] = (
    (GCP_BUCKET, "encryption.defaultKmsKeyName", "storage", "keep objects in the bucket"),
    (CLOUD_SQL, "encryptionKeyName", "sqladmin", "make the database"),
    (GKE_CLUSTER, "databaseEncryption.keyName", "container", "encrypt the cluster's secrets"),
    (GKE_NODE_POOL, "nodeConfig.bootDiskKmsKey", "compute", "start nodes, whose disks are encrypted"),
    (GCP_SECRET, "replication.auto.customerManagedEncryption.kmsKeyName", "secretmanager", "keep the secret"),
    (
        GCP_SECRET, "replication.userManaged.replicas[].customerManagedEncryption.kmsKeyName", "secretmanager",
        "keep the secret",
    ),
    (REGIONAL_SECRET, "customerManagedEncryption.kmsKeyName", "secretmanager", "keep the secret"),
    (GCP_IMAGE_REPOSITORY, "kmsKeyName", "artifactregistry", "keep images"),
    (GCP_TOPIC, "kmsKeyName", "pubsub", "keep messages"),
    ("gcp:filestore/instance:Instance", "kmsKeyName", "file", "make the file system"),
    ("gcp:lustre/instance:Instance", "kmsKey", "lustre", "make the file system"),
    (GCP_BACKUP_VAULT, "encryptionConfig.kmsKeyName", "backupdr", "keep backups"),
    (GCP_LOG_BUCKET, "cmekSettings.kmsKeyName", "logging", "keep logs in the bucket"),
    (GCP_TENSORBOARD, "encryptionSpec.kmsKeyName", "aiplatform", "keep curves"),
    ("gcp:vertex/aiMetadataStore:AiMetadataStore", "encryptionSpec.kmsKeyName", "aiplatform", "keep runs"),
    (GCP_EDITOR_TEMPLATE, "encryptionSpec.kmsKeyName", "aiplatform", "start editors"),
    (GCP_EDITOR_TEMPLATE, "encryptionSpec.kmsKeyName", "compute", "make disks of editors"),
    (GCP_RUN_SERVICE, "template.encryptionKey", "run", "start instances, whose image is encrypted"),
    (GCP_RUN_JOB, "template.template.encryptionKey", "run", "start the job, whose image is encrypted"),
    ("gcp:dataform/config:Config", "defaultKmsKeyName", "dataform", "keep notebooks"),
    (GCP_DATASET, "defaultEncryptionConfiguration.kmsKeyName", "bigquery", "keep tables"),
    ("gcp:bigquery/table:Table", "encryptionConfiguration.kmsKeyName", "bigquery", "keep the table"),
    ("gcp:compute/disk:Disk", "diskEncryptionKey.kmsKeySelfLink", "compute", "make the disk"),
    ("gcp:compute/regionDisk:RegionDisk", "diskEncryptionKey.kmsKeySelfLink", "compute", "make the disk"),
    ("gcp:compute/instance:Instance", "bootDisk.kmsKeySelfLink", "compute", "make the machine's disk"),
    ("gcp:compute/instanceTemplate:InstanceTemplate", "disks[].diskEncryptionKey.kmsKeySelfLink", "compute",
     "make disks of machines"),
    ("gcp:compute/regionInstanceTemplate:RegionInstanceTemplate", "disks[].diskEncryptionKey.kmsKeySelfLink", "compute",
     "make disks of machines"),
    ("gcp:redis/instance:Instance", "customerManagedKey", "redis", "make the cache"),
    ("gcp:alloydb/cluster:Cluster", "encryptionConfig.kmsKeyName", "alloydb", "make the database"),
    ("gcp:spanner/database:Database", "encryptionConfig.kmsKeyName", "spanner", "make the database"),
    ("gcp:gkebackup/backupPlan:BackupPlan", "backupConfig.encryptionKey.gcpKmsEncryptionKey", "container",
     "keep backups"),
    ("gcp:vertex/aiEndpoint:AiEndpoint", "encryptionSpec.kmsKeyName", "aiplatform", "serve models"),
    ("gcp:vertex/aiDataset:AiDataset", "encryptionSpec.kmsKeyName", "aiplatform", "keep the data set"),
    ("gcp:vertex/aiIndex:AiIndex", "encryptionSpec.kmsKeyName", "aiplatform", "keep the index"),
    ("gcp:eventarc/channel:Channel", "cryptoKeyName", "eventarc", "keep events"),
    (STORAGE_CLASS, "parameters.disk-encryption-kms-key", "compute", "make disks of the class"),
)  # fmt: skip
"""What is encrypted: its type, the input that names the key, the service that uses it, what fails."""

_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    "kmsKeySelfLink": ("kmsKeyServiceAccount", "diskEncryptionServiceAccount"),
}
"""Inputs that name a key, and those beside them that name the account to use it as."""
_USES: Final = ("cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt")
ROLE: Final = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


def needs(stack: Stack) -> Iterator[Need]:
    """What recorded keys have to allow."""
    keys = {str(key.id) for key in stack.resources.of(GCP_CRYPTO_KEY) if key.id and not key.read}
    for type_, path, service, purpose in _ENCRYPTED:
        for view in stack.of_type(type_):
            if view.resource.read:
                continue
            for at, name in expand(view.inputs, path):
                key = str(name).partition("/cryptoKeyVersions/")[0]
                who = _asks(stack, view, at, service) if key in keys else None
                if who is not None:
                    yield _need(view, at, key, who, purpose)


def _asks(stack: Stack, view: View, at: str, service: str) -> tuple[str, tuple[Caller, ...]] | None:
    """Who asks for a key: the account that a disk names beside it, else the service's own; None where that account is
    not known, or none of the recording."""
    above, _, last = at.rpartition(".")
    own = next((path for name in _NAMED.get(last, ()) if not view.lacks(path := f"{above}.{name}".lstrip("."))), "")
    if not own:
        return agents(stack, service)
    email = view.text(own)
    if email not in {account.outputs.get("email") for account in stack.resources.of(GCP_ACCOUNT)}:
        return None
    return f"the account {email}", (Caller(f"account {email}", account=str(email)),)


def _need(view: View, at: str, key: str, who: tuple[str, tuple[Caller, ...]], purpose: str) -> Need:
    words, callers = who
    return Need(
        view,
        at,
        "rights-key",
        callers,
        words,
        purpose,
        tuple(Deed(use, key) for use in _USES),
        f"a CryptoKeyIAMMember of the key that gives it {ROLE}",
    )


def agents(stack: Stack, service: str, called: str = "") -> tuple[str, tuple[Caller, ...]]:
    """A service's own account in words, and as who asks: by its domain, and by its address where the stack has asked
    for it."""
    domain = f"{AGENTS[service]}.iam.gserviceaccount.com"
    words = f"the account of {called or service} itself (…@{domain})"
    emails = [
        identity.resource.outputs.get("email")
        for identity in stack.of_type(GCP_SERVICE_IDENTITY)
        if identity.text("service") == f"{service}.googleapis.com"
    ]
    by_address = [Caller(words, account=email) for email in emails if isinstance(email, str)]
    return words, (Caller(words, agent=domain), *by_address)
