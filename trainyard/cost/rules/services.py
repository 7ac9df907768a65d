"""The database, keys, secrets and alarms."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.model import Amounts, always
from trainyard.cost.scene import Found, Scene, number, read, unpriced
from trainyard.recorded.model import RecordedResource

FREE_INSIGHTS_DAYS = 7
"""Retention of Performance Insights that costs nothing (RDS user guide, as generally known)."""

BILLED_ROTATIONS = 2
"""Of a key: the first and the second rotation add a key's price each, later ones nothing (KMS pricing, as known)."""


def database(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Instances, one or two zones, storage that grows to its limit, backups, monitoring and the password's secret."""
    engine, size = str(read(resource, "engine")), str(read(resource, "instanceClass"))
    copies = 2 if read(resource, "multiAz") else 1
    where = "2 zones" if copies == 2 else "1 zone"
    hours = always(copies * HOURS_A_MONTH)
    yield scene.line(resource, f"{size} in {where}", f"rds.{engine}.{size}", hours)
    gib = number(resource, "allocatedStorage")
    most = max(gib, number(resource, "maxAllocatedStorage", default=gib))
    kind = str(read(resource, "storageType") or "gp2")
    storage = Amounts(gib, gib, most).times(copies)
    yield scene.line(resource, f"storage, {gib:g} to {most:g} GiB in {where}", f"rds.{kind}", storage)
    if read(resource, "iops") or read(resource, "storageThroughput"):
        yield unpriced(resource, "provisioned IOPS and throughput", "no price in catalog/aws_services.csv")
    if number(resource, "backupRetentionPeriod", default=0) > 0:
        percent = scene.usage("database_backup_percent", 1 / 100)
        backups = Amounts(percent.floor * gib, percent.expected * gib, percent.ceiling * most)
        yield scene.line(resource, "backups beyond the free allowance", "rds.backup", backups)
    interval = number(resource, "monitoringInterval", default=0)
    if interval:
        logged = scene.usage("enhanced_monitoring_gb", copies * 60 / interval)
        yield scene.line(resource, "enhanced monitoring", "logs.ingestion", logged)
    if read(resource, "databaseInsightsMode") == "advanced":
        yield unpriced(resource, "Database Insights, advanced", "no price in catalog/aws_services.csv")
    elif number(resource, "performanceInsightsRetentionPeriod", default=0) > FREE_INSIGHTS_DAYS:
        yield unpriced(resource, "Performance Insights beyond 7 days", "no price in catalog/aws_services.csv")
    if read(resource, "manageMasterUserPassword"):
        yield scene.line(resource, "password, as a managed secret", "secret", always(1))


def key(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """By the month, more once it has been rotated, and by requests."""
    yield scene.line(resource, "key", "kms.key", always(1))
    if read(resource, "enableKeyRotation"):
        rotated = Amounts(0, 0, BILLED_ROTATIONS)
        yield scene.line(resource, "first two rotations", "kms.key", rotated, note="none in the first year")
    yield scene.line(resource, "requests", "kms.requests", scene.usage("kms_requests_ten_thousand"))


def secret(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """By the month and by requests."""
    yield scene.line(resource, "secret", "secret", always(1))
    yield scene.line(resource, "requests", "secret.requests", scene.usage("secret_requests_ten_thousand"))


def budget_action(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Two budgets with actions are free in an account; others may have taken them."""
    days = Amounts(0, 0, 365 / 12)
    yield scene.line(resource, "budget action", "budget.action", days, note="free for the account's first two")


def alarm(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """By the month, at standard resolution."""
    yield scene.line(resource, "alarm", "cloudwatch.alarm", always(1))
