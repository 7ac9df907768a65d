"""Data: what must be there when all else is gone. Backups of file systems, and the keys of what outlives a stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard import cards
from trainyard.policies.analyzed import retained_urns
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, list_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BACKUP_SELECTION,
    BUCKET,
    BUCKET_ENCRYPTION,
    CLOUD_SQL,
    DATABASE,
    DATABASE_CLUSTER,
    EFS,
    EFS_BACKUP_POLICY,
    FILESTORE,
    GCP_BACKUP_ASSOCIATION,
    GCP_BACKUP_PLAN,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    KEYS,
    LUSTRE,
    OTHER_FSX,
)

DATABASES = (DATABASE, DATABASE_CLUSTER)
FSX = (LUSTRE, *OTHER_FSX)
ENCRYPTED = tuple(card.type for card in cards.BY_TYPE.values() if card.key_input or card.stateful)
"""Types that a key may encrypt."""


@stack_rule(
    "file-system-without-backups",
    "A file system is backed up every day.",
    types=(
        EFS,
        EFS_BACKUP_POLICY,
        BACKUP_SELECTION,
        *OTHER_FSX,
        FILESTORE,
        GCP_BACKUP_PLAN,
        GCP_BACKUP_ASSOCIATION,
    ),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.13", "NIST 800-53r5 CP-9"),
    fix="Use the shared file system as it is; its backup policy, or plan, is made with it.",
    config={"minDays": {"type": "number", "minimum": 1, "maximum": 90, "default": 7}},
)
def file_system_without_backups(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """EFS by its own policy or a plan of AWS Backup, FSx by its days, Filestore by a plan of Backup and DR. Lustre,
    which is scratch space, is another rule's on AWS, and has no backups on Google Cloud."""
    for system in resources.of(EFS):
        states = [
            value_at(policy.inputs, "backupPolicy", "status")
            for policy in resources.referring(system, "fileSystemId", EFS_BACKUP_POLICY)
        ]
        if "ENABLED" not in states and not resources.referring(system, "resources", BACKUP_SELECTION):
            yield system, f"backups are {states[0]}" if states else "has no backup policy"
    for system in resources.of(*OTHER_FSX):
        days = number_at(system.inputs, "automaticBackupRetentionDays", default=30)  # what AWS takes
        if days < config["minDays"]:
            yield system, f"backups are kept {count(round(days), 'day')}; at least {config['minDays']:.0f} are required"
    for system in resources.of(FILESTORE):
        plans = [
            plan
            for each in resources.referring(system, "resource", GCP_BACKUP_ASSOCIATION)
            for plan in resources.of(GCP_BACKUP_PLAN)
            if each in resources.referring(plan, "backupPlan", GCP_BACKUP_ASSOCIATION)
        ]
        kept = [rule for plan in plans for rule in list_at(plan.inputs, "backupRules") if _is_daily(rule)]
        days = max((number_at(rule, "backupRetentionDays", default=0) for rule in kept), default=0)
        if not kept:
            yield system, "no plan of Backup and DR backs it up every day"
        elif days < config["minDays"]:
            yield system, f"backups are kept {count(round(days), 'day')}; at least {config['minDays']:.0f} are required"


def _is_daily(rule: Any) -> bool:
    """Whether a rule makes a backup on every day."""
    return value_at(rule, "standardSchedule", "recurrenceType") in ("DAILY", "HOURLY")


@stack_rule(
    "key-gone-before-its-data",
    "A key stays as long as anything that it encrypts: also after the stack is destroyed.",
    types=(*KEYS, GCP_CRYPTO_KEY, *ENCRYPTED, *DATABASES, BUCKET, BUCKET_ENCRYPTION, GCP_BUCKET, CLOUD_SQL, *FSX),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SC-12", "ISO 27001:2022 A.8.24", "NIST 800-53r5 CP-9"),
    fix="Give the key retain_on_delete, as the environment's key has, and schedule its deletion when its data may go.",
)
def key_gone_before_its_data(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A snapshot that nobody can decrypt is no backup. The engine does not tell a policy what a destroy leaves."""
    retained = retained_urns.get()
    if retained is None:
        raise NotApplicable("the engine does not tell what a destroy leaves behind; `trainyard check` does")
    for key in resources.of(*KEYS, GCP_CRYPTO_KEY):
        if value_at(key.inputs, "deletionPolicy") in ("ABANDON", "PREVENT"):  # Google's provider leaves it, or refuses
            continue
        left = (
            (resource, what)
            for resource in resources.all
            if resource is not key and _encrypted(resource, key, resources)
            for what in (_left(resource, retained),)
            if what
        )
        resource, what = next(left, (None, "")) if key.urn not in retained else (None, "")
        if resource is not None:
            goes = "goes with the stack once its protection is lifted" if key.protect else "goes with the stack"
            yield key, f"{goes}, and {what} of {resource.name} can never be read again"


def _left(resource: RecordedResource, retained: frozenset[str]) -> str:
    """What a destroy leaves of a resource; empty where it leaves nothing."""
    inputs = resource.inputs
    if resource.urn in retained:
        return "all"
    if resource.type in DATABASES:
        if not is_on(inputs, "skipFinalSnapshot"):
            return "the final snapshot"
        return "every backup" if value_at(inputs, "deleteAutomatedBackups") in (False, "false") else ""
    if resource.type == CLOUD_SQL:
        left = is_on(inputs, "settings", "retainBackupsOnDelete") or is_set(inputs, "settings", "finalBackupConfig")
        return "every backup" if left else ""
    if resource.type in (BUCKET, GCP_BUCKET):
        return "" if is_on(inputs, "forceDestroy") else "every object"
    skipped = value_at(inputs, "skipFinalBackup", default=resource.type == LUSTRE)  # Lustre leaves none unless asked
    return "the final backup" if resource.type in FSX and skipped in (False, "false") else ""


def _encrypted(resource: RecordedResource, key: RecordedResource, resources: Resources) -> bool:
    """Whether a resource is made of the key; a bucket's default encryption is a resource of its own."""
    parts = (resource, *(resources.referring(resource, "bucket", BUCKET_ENCRYPTION) if resource.type == BUCKET else ()))
    return any(key.urn in made_of for part in parts for made_of in part.property_dependencies.values())
