"""Thirty more mistakes of Google Cloud's resources, written when those of `mistakes_gcp_fifth.py` were mended."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import edit, put
from tests.rehearsal.works.mistakes_gcp_fifth import BACKUPS, CEILING, ROLE, SMALL
from tests.rehearsal.works.mistakes_gcp_fourth import ACCOUNT
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUCKET,
    BUDGET,
    CHANNEL,
    CLUSTER,
    FILESTORE,
    KEY,
    LUSTRE,
    METRIC,
    POLICY,
    POOL,
    SINK,
    SQL,
    STACK,
)
from tests.rehearsal.works.mistakes_gcp_third import AUDIT, OF, SECRET, TRAIN

IDLE = "alert-policies-idle-chips"
CHIPS = "conditions[0].conditionThreshold"

REFUSED = {
    "a cluster's name of too many letters": (
        edit(CLUSTER, "cluster-cluster", put("name", "northwind-production-training-us-east4-01")),
        STACK,
    ),
    "a platform of processors on a shared machine": (
        edit(POOL, "cluster-cpu", put("nodeConfig.minCpuPlatform", "Intel Sapphire Rapids")),
        STACK,
    ),
    "confidential nodes of a machine that has none": (
        edit(POOL, "cluster-cpu", put("nodeConfig.confidentialNodes", {"enabled": True})),
        STACK,
    ),
    "three threads of a core": (
        edit(POOL, "cluster-cpu", put("nodeConfig.advancedMachineFeatures", {"threadsPerCore": 3})),
        STACK,
    ),
    "a pool that does not follow its channel": (
        edit(POOL, TRAIN, put("management.autoUpgrade", False)),
        STACK,
    ),
    "pods in the range of services": (edit(POOL, TRAIN, put("networkConfig.podRange", "services")), STACK),
    "a private range that the internet may come from": (
        edit(
            SQL,
            f"{OF}-mlflow",
            put("settings.ipConfiguration.authorizedNetworks", [{"name": "office", "value": "10.0.0.0/8"}]),
        ),
        STACK,
    ),
    "parts of uploads by the state of their object": (
        edit(BUCKET, f"{OF}-data", put("lifecycleRules[1].condition.withState", "LIVE")),
        STACK,
    ),
    "a regional secret everywhere": (edit(SECRET, f"{OF}-mlflow-password", put("location", "global")), STACK),
    "buckets of a number": (
        edit(
            METRIC,
            "alert-metrics-watchdog",
            put("bucketOptions", {"explicitBuckets": {"bounds": [1, 10, 100]}}),
        ),
        STACK,
    ),
    "a rate of an alert by metric": (
        edit(
            POLICY,
            "alert-policies-silent",
            put("alertStrategy", {"notificationRateLimit": {"period": "300s"}}),
        ),
        STACK,
    ),
    "a budget of two periods": (
        edit(
            BUDGET,
            "budget-budget",
            put("budgetFilter.customPeriod", {"startDate": {"year": 2026, "month": 1, "day": 1}}),
        ),
        STACK,
    ),
    "a regional file system in a zone": (edit(FILESTORE, f"{OF}-shared", put("location", "us-east4-a")), STACK),
    "a service by its short name": (edit(AUDIT, "record-storage", put("service", "storage")), STACK),
    "a role's id with dashes": (edit(ROLE, "managed-jobs", put("roleId", "hooli-research-jobs")), SMALL),
    "a sink's name of two words": (edit(SINK, "record-sink", put("name", "northwind production")), STACK),
    "a name of an account that is a sentence": (
        edit(ACCOUNT, "cluster-nodes", put("displayName", "Nodes of the GKE cluster, which may read images and " * 3)),
        STACK,
    ),
}

SILENT = {
    "alerts' own lines are kept by nobody": (
        edit(
            SINK,
            "record-sink",
            put("exclusions", [{"name": "noise", "filter": 'resource.type="k8s_container"'}]),
        ),
        STACK,
    ),
    "no figures are taken for bad ones": (
        edit(POLICY, IDLE, put(f"{CHIPS}.evaluationMissingData", "EVALUATION_MISSING_DATA_ACTIVE")),
        STACK,
    ),
    "less than nothing": (edit(POLICY, IDLE, put(f"{CHIPS}.thresholdValue", 0)), STACK),
    "per cent as a share": (edit(POLICY, IDLE, put(f"{CHIPS}.thresholdValue", 0.02)), STACK),
    "training data in the archive": (edit(BUCKET, f"{OF}-data", put("storageClass", "ARCHIVE")), STACK),
    "GPUs behind the old interface": (edit(POOL, TRAIN, put("nodeConfig.gvnic.enabled", False)), STACK),
    "a key that is gone in a day": (edit(KEY, f"{OF}-data", put("destroyScheduledDuration", "86400s")), STACK),
    "a cluster that ends in a month": (edit(CLUSTER, "cluster-cluster", put("enableKubernetesAlpha", True)), STACK),
    "everybody with a login is let in": (
        edit(CLUSTER, "cluster-cluster", put("rbacBindingConfig.enableInsecureBindingSystemAuthenticated", True)),
        STACK,
    ),
    "a ceiling of another service": (
        edit(
            CEILING,
            "ceilings-custom_model_training_nvidia_h100_gpus",
            put("service", "compute.googleapis.com"),
        ),
        SMALL,
    ),
    "a backup a year, kept a month": (
        edit(
            BACKUPS,
            f"{OF}-shared-daily",
            put("backupRules[0].standardSchedule.recurrenceType", "YEARLY"),
            put("backupRules[0].standardSchedule.daysOfMonths", [1]),
            put("backupRules[0].standardSchedule.months", ["JANUARY"]),
        ),
        STACK,
    ),
    "half of the nodes are let in to the homes": (
        edit(FILESTORE, f"{OF}-shared", put("fileShares.nfsExportOptions[0].ipRanges", ["10.0.0.0/21"])),
        STACK,
    ),
    "half of the nodes are let in to Lustre": (
        edit(LUSTRE, f"{OF}-lustre", put("accessRulesOptions.accessRules[0].ipAddressRanges", ["10.0.0.0/21"])),
        STACK,
    ),
    "a domain with two letters changed": (
        edit(
            CHANNEL,
            "alert-policies-ml-platform@northwind.example",
            put("labels.email_address", "ml-platform@nortwhind.example"),
        ),
        STACK,
    ),
    "twice as many addresses as pods": (
        edit(CLUSTER, "cluster-cluster", put("defaultMaxPodsPerNode", 256)),
        STACK,
    ),
}
