"""What roles of Google Cloud hold: the predefined ones that environments use, and recorded custom ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.recorded.read import UnreadableInput, texts_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_CUSTOM_ROLES

_READING: Final = ("storage.objects.get", "storage.objects.list")
_WRITING: Final = (
    "storage.objects.create", "storage.objects.delete", "storage.objects.update", "storage.multipartUploads.create",
    "storage.multipartUploads.abort", "storage.multipartUploads.listParts", "storage.multipartUploads.list",
    "storage.objects.restore", "storage.objects.move",
)  # fmt: skip
_FOLDERS: Final = ("storage.folders.get", "storage.folders.list", "storage.managedFolders.get",
                   "storage.managedFolders.list")  # fmt: skip
_FOLDERS_WRITTEN: Final = ("storage.folders.create", "storage.folders.delete", "storage.folders.rename")
_OWNING: Final = (
    "storage.objects.getIamPolicy", "storage.objects.setIamPolicy", "storage.objects.overrideUnlockedRetention",
    "storage.objects.setRetention", "storage.managedFolders.create", "storage.managedFolders.delete",
    "storage.managedFolders.getIamPolicy", "storage.managedFolders.setIamPolicy",
)  # fmt: skip

PERMISSIONS: Final[Mapping[str, frozenset[str]]] = {
    role: frozenset(permissions)
    for role, permissions in {
        "roles/storage.objectViewer": (*_READING, *_FOLDERS),
        "roles/storage.objectCreator": (
            "storage.objects.create", "storage.folders.create", "storage.managedFolders.create",
            "storage.multipartUploads.create", "storage.multipartUploads.abort", "storage.multipartUploads.listParts",
        ),
        "roles/storage.objectUser": (
            *_READING, *_WRITING, *_FOLDERS, *_FOLDERS_WRITTEN, "storage.managedFolders.create",
            "storage.managedFolders.delete",
        ),
        "roles/storage.legacyBucketReader": (
            "storage.buckets.get", "storage.objects.list", "storage.multipartUploads.list",
            "storage.managedFolders.get", "storage.managedFolders.list",
        ),
        "roles/storage.objectAdmin": (*_READING, *_WRITING, *_FOLDERS, *_FOLDERS_WRITTEN, *_OWNING),
        "roles/storage.admin": (
            *_READING, *_WRITING, *_FOLDERS, *_FOLDERS_WRITTEN, *_OWNING, "storage.buckets.get", "storage.buckets.list",
            "storage.buckets.create", "storage.buckets.update", "storage.buckets.delete",
            "storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy",
        ),
        "roles/cloudkms.cryptoKeyEncrypterDecrypter": (
            "cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt",
        ),
        "roles/cloudkms.cryptoKeyEncrypter": ("cloudkms.cryptoKeyVersions.useToEncrypt",),
        "roles/cloudkms.cryptoKeyDecrypter": ("cloudkms.cryptoKeyVersions.useToDecrypt",),
        "roles/secretmanager.secretAccessor": ("secretmanager.versions.access",),
        "roles/artifactregistry.reader": (
            "artifactregistry.repositories.downloadArtifacts", "artifactregistry.repositories.get",
            "artifactregistry.repositories.list",
        ),
        "roles/artifactregistry.writer": (
            "artifactregistry.repositories.downloadArtifacts", "artifactregistry.repositories.get",
            "artifactregistry.repositories.list", "artifactregistry.repositories.uploadArtifacts",
        ),
        "roles/container.defaultNodeServiceAccount": (
            "autoscaling.sites.writeMetrics", "logging.logEntries.create", "monitoring.metricDescriptors.create",
            "monitoring.metricDescriptors.list", "monitoring.timeSeries.create",
        ),
        "roles/logging.logWriter": ("logging.logEntries.create", "logging.logEntries.route"),
        "roles/monitoring.metricWriter": (
            "monitoring.metricDescriptors.create", "monitoring.metricDescriptors.get",
            "monitoring.metricDescriptors.list", "monitoring.monitoredResourceDescriptors.get",
            "monitoring.monitoredResourceDescriptors.list", "monitoring.timeSeries.create",
        ),
        "roles/iam.workloadIdentityUser": (
            "iam.serviceAccounts.get", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.getOpenIdToken",
            "iam.serviceAccounts.list",
        ),
        "roles/iam.serviceAccountUser": (
            "iam.serviceAccounts.actAs", "iam.serviceAccounts.get", "iam.serviceAccounts.list",
        ),
        "roles/iam.serviceAccountTokenCreator": (
            "iam.serviceAccounts.get", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.getOpenIdToken",
            "iam.serviceAccounts.implicitDelegation", "iam.serviceAccounts.list", "iam.serviceAccounts.signBlob",
            "iam.serviceAccounts.signJwt",
        ),
        "roles/cloudsql.instanceUser": ("cloudsql.instances.get", "cloudsql.instances.login"),
        "roles/run.invoker": ("run.jobs.run", "run.routes.invoke"),
        "roles/run.servicesInvoker": ("run.routes.invoke",),
        "roles/run.jobsExecutor": ("run.jobs.run",),
        "roles/run.viewer": ("run.jobs.get", "run.jobs.list", "run.services.get", "run.services.list"),
        "roles/pubsub.publisher": ("pubsub.topics.publish",),
        "roles/pubsub.subscriber": (
            "pubsub.snapshots.seek", "pubsub.subscriptions.consume", "pubsub.topics.attachSubscription",
        ),
        "roles/pubsub.viewer": (
            "pubsub.subscriptions.get", "pubsub.subscriptions.list", "pubsub.topics.get", "pubsub.topics.list",
        ),
        "roles/bigquery.dataViewer": (
            "bigquery.datasets.get", "bigquery.tables.export", "bigquery.tables.get", "bigquery.tables.getData",
            "bigquery.tables.list",
        ),
        "roles/bigquery.metadataViewer": ("bigquery.datasets.get", "bigquery.tables.get", "bigquery.tables.list"),
        "roles/bigquery.dataEditor": (
            "bigquery.datasets.get", "bigquery.tables.create", "bigquery.tables.delete", "bigquery.tables.export",
            "bigquery.tables.get", "bigquery.tables.getData", "bigquery.tables.list", "bigquery.tables.update",
            "bigquery.tables.updateData",
        ),
        "roles/bigquery.jobUser": ("bigquery.jobs.create",),
        "roles/bigquery.readSessionUser": ("bigquery.readsessions.create", "bigquery.readsessions.getData"),
        "roles/eventarc.eventReceiver": ("eventarc.events.receiveEvent",),
        "roles/storage.legacyBucketWriter": (
            "storage.buckets.get", "storage.objects.list", "storage.objects.create", "storage.objects.delete",
            "storage.multipartUploads.create", "storage.multipartUploads.abort", "storage.multipartUploads.list",
        ),
        "roles/storage.bucketViewer": ("storage.buckets.get", "storage.buckets.list"),
        "roles/logging.viewer": ("logging.logEntries.list", "logging.logs.list"),
        "roles/cloudtrace.agent": ("cloudtrace.traces.patch",),
        "roles/iap.httpsResourceAccessor": ("iap.webServiceVersions.accessViaIAP",),
        "roles/cloudsql.client": ("cloudsql.instances.connect", "cloudsql.instances.get"),
        "roles/cloudsql.viewer": ("cloudsql.instances.get", "cloudsql.instances.list"),
    }.items()
}  # fmt: skip
"""Permissions by predefined role, of the services that are asked about here (Google Cloud, "IAM roles and permissions
index", and Cloud Storage, "IAM roles for Cloud Storage", as generally known in 2026-11; not read again for this)."""


class Roles:
    """Roles by the name that grants give them."""

    def __init__(self, resources: Resources) -> None:
        self._custom = {
            str(role_id): role
            for role in resources.of(*GCP_CUSTOM_ROLES)
            if isinstance(role_id := role.inputs.get("roleId"), str)
        }

    def permissions(self, role: str) -> frozenset[str] | None:
        """What a role holds; None where nobody has recorded it and it is not in the table."""
        if role in PERMISSIONS:
            return PERMISSIONS[role]
        custom = self._custom.get(role.rpartition("/roles/")[2]) if "/roles/" in role else None
        if custom is None:
            return None
        try:
            return frozenset(texts_at(custom.inputs, "permissions"))
        except UnreadableInput:
            return None
