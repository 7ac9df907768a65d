"""Forty wrong values that somebody writes into managed training on Google Cloud, one at a time, in the small example.

They were written before anything was known of what tells them: 23 were told at first.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.refusals.builders import DROP

Row = tuple[str, str, Any]
"""`kind:name` of the resource, the input's path, its wrong value."""

EDITOR = "RuntimeTemplate:editors-e2-standard-4"
CLOSED = "ConsumerQuotaOverride:ceilings-custom_model_training_nvidia_h100_gpus"
CURVES, STORE = "AiTensorboard:tracking-curves", "AiMetadataStore:tracking-store"
IMAGES, AGENT = "Repository:hooli-research-images", "IamMemberRemove:custom-code-agent"
PULLS = "RepositoryIamMember:managed-jobs-images"
PEOPLE, MAY, ACTS = "IAMCustomRole:managed-people", "IAMMember:managed-jobs", "IAMMember:managed-research@hooli.example"
ACCOUNT, BUDGET = "Account:managed-jobs", "Budget:budget-budget"
FAILED, MAIL = "AlertPolicy:managed-jobs-failed", "NotificationChannel:managed-jobs-ml@hooli.example"
DATA, STORED = "Bucket:hooli-research-data", "BucketIAMMember:managed-jobs-artifacts"
KEY, RING = "CryptoKey:hooli-research-tracking", "KeyRing:hooli-research-keys"
SUBNET, SERVICE = "Subnetwork:network-nodes", "Service:services-aiplatform"

FORTY: list[Row] = [
    # editors
    (EDITOR, "idleShutdownConfig.idleTimeout", "1h"),
    (EDITOR, "idleShutdownConfig.idleTimeout", "3600"),
    (EDITOR, "machineSpec.machineType", "e2-standard-3"),
    (EDITOR, "machineSpec.machineType", "m5.large"),
    (EDITOR, "machineSpec", {"machineType": "n1-standard-4", "acceleratorType": "nvidia-l4", "acceleratorCount": 1}),
    (EDITOR, "machineSpec", {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4",
                             "acceleratorCount": 3}),
    (EDITOR, "dataPersistentDiskSpec.diskType", "gp3"),
    (EDITOR, "dataPersistentDiskSpec.diskSizeGb", "5"),
    (EDITOR, "location", "us-central1-a"),
    (EDITOR, "encryptionSpec.kmsKeyName", "hooli-research-tracking"),
    (EDITOR, "networkSpec.subnetwork", "network-nodes"),
    (EDITOR, "displayName", DROP),
    (EDITOR, "labels.Owner", "ml@hooli.example"),
    # quotas
    (CLOSED, "overrideValue", "-2"),
    (CLOSED, "overrideValue", "none"),
    (CLOSED, "service", "vertex.googleapis.com"),
    # tracking
    (CURVES, "region", "central1"),
    (CURVES, "encryptionSpec.kmsKeyName", "projects/hooli-research/keyRings/k/cryptoKeys/t"),
    (STORE, "name", "Default Store"),
    # images, accounts and rights
    (IMAGES, "format", "OCI"),
    (IMAGES, "repositoryId", "Hooli_Images"),
    (IMAGES, "location", "us-central-1"),
    (PULLS, "role", "roles/artifactregistry.reading"),
    (PULLS, "member", "hooli-research-jobs@hooli-research.iam.gserviceaccount.com"),
    (PEOPLE, "roleId", "hooli-research-people"),
    (PEOPLE, "permissions[0]", "aiplatform.customJobs.submit"),
    (PEOPLE, "stage", "GENERAL"),
    (MAY, "member", "serviceaccount:jobs"),
    (MAY, "role", "aiplatform.user"),
    (ACCOUNT, "accountId", "jobs"),
    (ACCOUNT, "accountId", "Hooli_Research_Jobs"),
    (AGENT, "role", "roles/aiplatform.customCodeAgent"),
    # money, telling, storage
    (BUDGET, "amount.specifiedAmount.units", "10,168"),
    (BUDGET, "thresholdRules[0].spendBasis", "ACTUAL_SPEND"),
    (BUDGET, "billingAccount", "hooli"),
    (FAILED, "combiner", "ANY"),
    (MAIL, "type", "mail"),
    (DATA, "publicAccessPrevention", "block"),
    (KEY, "rotationPeriod", "90d"),
    (SUBNET, "privateIpGoogleAccess", "yes"),
]  # fmt: skip

WHY: dict[tuple[str, str], str] = {
    (EDITOR, "networkSpec.subnetwork"): "the provider's own word for it is `the name`: whether the last part of it is "
    "enough nobody writes",
    (EDITOR, "displayName"): "the SDK refuses it while the program runs, so that it is in no recording",
}
"""Rows that nothing tells of a recording, and why."""
