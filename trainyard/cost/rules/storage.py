"""File systems, buckets and log groups."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions import DAYS_A_MONTH
from trainyard.conventions.aws import TEAM_LOGS
from trainyard.cost.context import CostEntry, PriceContext, unpriced
from trainyard.cost.model import always
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, number_at, value_at
from trainyard.recorded.types import FLOW_LOG, LIFECYCLE

PURPOSES = ("data", "checkpoints", "artifacts")
"""Purposes of buckets: the last part of their logical names (`components/aws/storage.py`)."""
_GIB_OF_12000_IOPS = 24_000
"""Storage (GiB) that each 12,000 metadata IOPS come with, of a file system of two such parts or more."""


def lustre(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Provisioned capacity, whose price is that of its throughput class, and backups where it keeps any."""
    gib, deployment = (
        number_at(resource.inputs, "storageCapacity"),
        str(value_at(resource.inputs, "deploymentType") or "SCRATCH_1"),
    )
    kind = str(value_at(resource.inputs, "storageType") or "SSD").lower()
    key = f"fsx.lustre.{deployment.lower().replace('_', '-')}.{kind}"
    if deployment.startswith("PERSISTENT"):
        key += f".{number_at(resource.inputs, 'perUnitStorageThroughput'):.0f}"
    yield context.line(resource, f"{gib:g} GiB provisioned", key, always(gib))
    if number_at(resource.inputs, "automaticBackupRetentionDays", default=0) > 0:
        backups = context.usage("lustre_backup_percent", gib / 100)
        yield context.line(resource, "backups", "fsx.lustre.backup", backups)
    if value_at(resource.inputs, "metadataConfiguration", "mode") == "USER_PROVISIONED":
        above = number_at(resource.inputs, "metadataConfiguration", "iops", default=0) - _metadata_iops_included(gib)
        if above > 0:
            yield context.line(
                resource, "metadata IOPS above those included", "fsx.lustre.metadata-iops", always(above)
            )


def _metadata_iops_included(gib: float) -> float:
    """Metadata IOPS that come with so much storage (FSx for Lustre user guide, "File system metadata performance")."""
    if gib >= 2 * _GIB_OF_12000_IOPS:
        return 12_000.0 * (gib // _GIB_OF_12000_IOPS)
    return next(
        (iops for least, iops in ((12_000, 12_000.0), (4_800, 6_000.0), (2_400, 3_000.0)) if gib >= least), 1_500.0
    )


def file_system(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What is stored, and the throughput that is used or provisioned."""
    one_zone = is_set(resource.inputs, "availabilityZoneName")
    where, key = (" in one zone", "efs.one-zone") if one_zone else ("", "efs.standard")
    yield context.line(resource, f"stored files{where}", key, context.usage("shared_files_gb"))
    mode = value_at(resource.inputs, "throughputMode") or "bursting"
    if mode == "elastic":
        yield context.line(resource, "reads", "efs.elastic.read", context.usage("shared_files_read_gb"))
        yield context.line(resource, "writes", "efs.elastic.write", context.usage("shared_files_written_gb"))
    elif mode == "provisioned":
        provisioned = number_at(resource.inputs, "provisionedThroughputInMibps")
        yield context.line(resource, "provisioned throughput", "efs.provisioned", always(provisioned))


def file_system_backup(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Backups of a shared file system by AWS Backup, about as large as the files."""
    if value_at(resource.inputs, "backupPolicy", "status") == "ENABLED":
        yield context.line(resource, "backups", "efs.backup", context.usage("shared_files_gb"))


def bucket(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Stored objects and requests; what is stored is an assumption by the bucket's purpose."""
    last = resource.name.rpartition("-")[2]
    key = f"{last}_bucket_gb" if last in PURPOSES else "other_bucket_gb"
    stored = context.usage(key)
    yield context.line(resource, "stored objects", "s3.standard", stored)
    if last == "data":
        turnover = context.assumed("data_superseded_percent_a_month").value / 100
        kept = stored.times(turnover * _superseded_days(resource, context) / DAYS_A_MONTH)
        yield context.line(resource, "overwritten and deleted objects", "s3.standard", kept)
    yield context.line(resource, "writes and listings", "s3.put", context.usage("bucket_puts_thousand"))
    yield context.line(resource, "reads", "s3.get", context.usage("bucket_gets_thousand"))


def _superseded_days(resource: RecordedResource, context: PriceContext) -> float:
    """Days that a bucket keeps superseded versions: the longest of its rules, none where no rule says."""
    return max(
        (
            number_at(rule, "noncurrentVersionExpiration", "noncurrentDays", default=0)
            for lifecycle in context.resources.referring(resource, "bucket", LIFECYCLE)
            for rule in list_at(lifecycle.inputs, "rules")
        ),
        default=0,
    )


def log_group(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """What is logged, and what is kept of it once the retention is filled."""
    if value_at(resource.inputs, "logGroupClass") not in (None, "STANDARD"):
        yield unpriced(
            resource, "log group", f"class {value_at(resource.inputs, 'logGroupClass')} has no price in the catalogue"
        )
        return
    logged = context.usage(_log_key(resource, context))
    yield context.line(resource, "logs that come in", "logs.ingestion", logged)
    days = number_at(resource.inputs, "retentionInDays", default=0)
    months = days / DAYS_A_MONTH if days else context.assumed("log_kept_months_at_most").value
    kept = logged.times(months * context.assumed("log_compression_percent").value / 100)
    yield context.line(resource, "logs that are kept", "logs.storage", kept)


def _log_key(resource: RecordedResource, context: PriceContext) -> str:
    if str(value_at(resource.inputs, "name") or "").startswith("/aws/eks/"):
        return "control_plane_log_gb"
    if str(value_at(resource.inputs, "name") or "").endswith(f"/{TEAM_LOGS}"):
        return "container_log_gb"
    for flow_log in context.resources.of(FLOW_LOG):
        if resource in context.resources.referred(flow_log, "logDestination", resource.type):
            return "flow_log_gb"
    return "other_log_gb"


def image_repository(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Stored images, an assumption; nodes of the region pull them for nothing."""
    yield context.line(resource, "stored images", "ecr.storage", context.usage("repository_images_gb"))
