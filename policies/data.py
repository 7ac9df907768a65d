"""Data: versions, retention, protection from deletion, backups, and a durable copy of what is fast but fragile."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard import cards
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, list_at, number_at, texts_at, value_at
from trainyard.recorded.replicas import is_replica
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_VERSIONING,
    CLOUD_SQL,
    DATA_REPOSITORY_ASSOCIATION,
    DATABASE,
    DATABASE_CLUSTER,
    EKS_CLUSTER,
    GCP_BUCKET,
    GKE_CLUSTER,
    LIFECYCLE,
    LUSTRE,
)

DELETION_PROTECTION = (DATABASE, DATABASE_CLUSTER, EKS_CLUSTER)
"""Types whose service has a protection of its own, which holds for a console too."""
PROTECTED_UNLESS_SAID = (CLOUD_SQL, GKE_CLUSTER)
STATEFUL = tuple(card.type for card in cards.BY_TYPE.values() if card.stateful)
PROTECTED = (*STATEFUL, EKS_CLUSTER)
"""What Pulumi must not delete or replace by itself. A control plane holds no data, and everything runs on it."""


@stack_rule(
    "bucket-without-versioning",
    "Every bucket keeps the versions of its objects.",
    types=(BUCKET, GCP_BUCKET, BUCKET_VERSIONING),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.13", "NIST 800-53r5 CP-9"),
    fix="Use the storage tiers as they are; they switch versioning on.",
)
def bucket_without_versioning(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Overwriting and deleting are then reversible until the lifecycle rules say otherwise."""
    for bucket in resources.of(BUCKET):
        states = [
            value_at(found.inputs, "versioningConfiguration", "status")
            for found in resources.referring(bucket, "bucket", BUCKET_VERSIONING)
        ]
        # S3 switches it on with the lock, and takes no other state then.
        if "Enabled" not in states and not is_on(bucket.inputs, "objectLockEnabled"):
            yield bucket, f"versioning is {states[0] if states else 'not configured'}"
    for bucket in resources.of(GCP_BUCKET):
        # A hierarchical namespace, for checkpoints, excludes versions; soft delete then is the net. Where nobody
        # overwrites an object in its time, there is nothing to keep versions of.
        kept = is_set(bucket.inputs, "retentionPolicy", "retentionPeriod")
        if not kept and not any(
            is_on(bucket.inputs, key, "enabled") for key in ("versioning", "hierarchicalNamespace")
        ):
            yield bucket, "versioning is not enabled"


@resource_rule(
    "artifact-versions-kept-too-short",
    "Superseded artifacts and models stay long enough to be audited.",
    types=(LIFECYCLE, GCP_BUCKET),
    severity=Severity.MEDIUM,
    controls=("ISO 27001:2022 A.5.33", "NIST 800-53r5 AU-11"),
    fix="Raise storage.artifactRetentionDays.",
    config={"minDays": {"type": "number", "minimum": 1, "default": 90}},
)
def artifact_versions_kept_too_short(resource: RecordedResource, config: Config) -> Iterator[str]:
    """The bucket of artifacts is told by its name."""
    if "artifact" not in resource.name:
        return
    if resource.type == GCP_BUCKET:
        for rule in list_at(resource.inputs, "lifecycleRules"):
            age = value_at(rule, "condition", "daysSinceNoncurrentTime")
            if value_at(rule, "action", "type") == "Delete" and age is not None:
                kept = number_at(rule, "condition", "daysSinceNoncurrentTime")
                if kept < config["minDays"]:
                    yield (
                        f"superseded versions go after {count(round(kept), 'day')}; at least "
                        f"{config['minDays']:.0f} are required"
                    )
        return
    for rule in list_at(resource.inputs, "rules"):
        if not is_set(rule, "noncurrentVersionExpiration", "noncurrentDays"):
            continue
        days = number_at(rule, "noncurrentVersionExpiration", "noncurrentDays")
        if value_at(rule, "status") == "Enabled" and days < config["minDays"]:
            yield (
                f"superseded versions go after {count(round(days), 'day')}; at least "
                f"{config['minDays']:.0f} are required"
            )


@resource_rule(
    "stateful-resource-unprotected",
    "What holds data or the key to it is protected from deletion.",
    types=(*STATEFUL, *DELETION_PROTECTION, *PROTECTED_UNLESS_SAID),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.10", "NIST 800-53r5 CP-9"),
    fix="Leave protect at true. To tear the environment down, write that down in policyExceptions (README).",
)
def stateful_resource_unprotected(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Pulumi's own protection, and the service's where it has one."""
    if resource.type in PROTECTED and not resource.protect:
        if _refuses_deletion(resource):
            yield "is not protected: a rename or a removed line ends an update in the middle, where its service refuses"
        else:
            yield "is not protected: a rename or a removed line deletes it"
    if resource.type in DELETION_PROTECTION and not is_on(resource.inputs, "deletionProtection"):
        yield "deletionProtection is off"
    if resource.type in PROTECTED_UNLESS_SAID and value_at(resource.inputs, "deletionProtection") in (False, "false"):
        yield "deletionProtection is off"
    if is_on(resource.inputs, "forceDestroy"):
        yield "forceDestroy deletes a bucket with all that is in it"


def _refuses_deletion(resource: RecordedResource) -> bool:
    """Whether a service's own protection is on, by itself or as it is where nothing is said."""
    if resource.type in PROTECTED_UNLESS_SAID:
        return value_at(resource.inputs, "deletionProtection") not in (False, "false")
    return resource.type in DELETION_PROTECTION and is_on(resource.inputs, "deletionProtection")


@resource_rule(
    "database-without-backups",
    "A database is backed up every day and once more before it is deleted.",
    types=(DATABASE, DATABASE_CLUSTER, CLOUD_SQL),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.13", "NIST 800-53r5 CP-9"),
    fix="Raise mlflow.database.backupRetentionDays.",
    config={"minDays": {"type": "number", "minimum": 1, "maximum": 35, "default": 7}},
)
def database_without_backups(resource: RecordedResource, config: Config) -> Iterator[str]:
    """A mistake is noticed in days; the tracking database is the record of every run. A replica's are its source's."""
    if is_replica(resource):
        return
    if resource.type == CLOUD_SQL:
        backups = value_at(resource.inputs, "settings", "backupConfiguration")
        kept = number_at(backups, "backupRetentionSettings", "retainedBackups", default=7)  # one a day; 7 by default
        if not is_on(backups, "enabled"):
            yield "settings.backupConfiguration.enabled is off"
        elif kept < config["minDays"]:
            yield f"{kept:.0f} daily backups are kept; at least {config['minDays']:.0f} are required"
        return
    unsaid = 1 if resource.type == DATABASE_CLUSTER else 0  # RDS keeps those of a cluster a day, of an instance none
    days = number_at(resource.inputs, "backupRetentionPeriod", default=unsaid)
    if days < config["minDays"]:
        yield f"backups are kept {count(round(days), 'day')}; at least {config['minDays']:.0f} are required"
    if is_on(resource.inputs, "skipFinalSnapshot"):
        yield "skipFinalSnapshot: nothing is left of it after a destroy"


@stack_rule(
    "lustre-without-durable-bucket",
    "A Lustre file system writes what changes to a bucket, or is backed up.",
    types=(LUSTRE, DATA_REPOSITORY_ASSOCIATION, BUCKET),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.13", "NIST 800-53r5 CP-9"),
    fix="Keep storage.lustre linked to the data bucket.",
)
def lustre_without_durable_bucket(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Links only count to buckets of the stack, whose versioning and protection are judged here too."""
    for system in resources.of(LUSTRE):
        links = resources.referring(system, "fileSystemId", DATA_REPOSITORY_ASSOCIATION)
        durable = [
            link
            for link in links
            if any(refers(link, "dataRepositoryPath", bucket) for bucket in resources.of(BUCKET))
            and {"NEW", "CHANGED"} <= set(texts_at(link.inputs, "s3", "autoExportPolicy", "events"))
        ]
        if not durable and not number_at(system.inputs, "automaticBackupRetentionDays", default=0):
            what = "is linked to no bucket" if not links else "does not export new and changed files to a bucket"
            yield system, f"{what}, and has no backups"
