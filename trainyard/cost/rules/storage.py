"""File systems, buckets and log groups."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.cost.model import always
from trainyard.cost.scene import Found, Scene, number, read, unpriced
from trainyard.recorded.model import RecordedResource

FLOW_LOG = "aws:ec2/flowLog:FlowLog"

PURPOSES = ("data", "checkpoints", "artifacts")
"""Of buckets, the last part of their logical names (`components/aws/storage.py`)."""

DAYS_A_MONTH = 365 / 12


def lustre(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Provisioned capacity, whose price is that of its throughput class, and backups where it keeps any."""
    gib, deployment = number(resource, "storageCapacity"), str(read(resource, "deploymentType") or "SCRATCH_1")
    kind = str(read(resource, "storageType") or "SSD").lower()
    key = f"fsx.lustre.{deployment.lower().replace('_', '-')}.{kind}"
    if deployment.startswith("PERSISTENT"):
        key += f".{number(resource, 'perUnitStorageThroughput'):.0f}"
    yield scene.line(resource, f"{gib:g} GiB provisioned", key, always(gib))
    if number(resource, "automaticBackupRetentionDays", default=0) > 0:
        backups = scene.usage("lustre_backup_percent", gib / 100)
        yield scene.line(resource, "backups", "fsx.lustre.backup", backups)
    mode = read(resource, "metadataConfiguration", "mode")
    if mode == "USER_PROVISIONED":
        yield unpriced(resource, "metadata IOPS", "provisioned ones have no price in catalog/aws_services.csv")


def file_system(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """What is stored, and the throughput that is used or provisioned."""
    if read(resource, "availabilityZoneName"):
        yield unpriced(resource, "One Zone storage", "no price in catalog/aws_services.csv")
        return
    yield scene.line(resource, "stored files", "efs.standard", scene.usage("shared_files_gb"))
    mode = read(resource, "throughputMode") or "bursting"
    if mode == "elastic":
        yield scene.line(resource, "reads", "efs.elastic.read", scene.usage("shared_files_read_gb"))
        yield scene.line(resource, "writes", "efs.elastic.write", scene.usage("shared_files_written_gb"))
    elif mode == "provisioned":
        provisioned = number(resource, "provisionedThroughputInMibps")
        yield scene.line(resource, "provisioned throughput", "efs.provisioned", always(provisioned))


def file_system_backup(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Backups of a shared file system by AWS Backup, about as large as the files."""
    if read(resource, "backupPolicy", "status") == "ENABLED":
        yield scene.line(resource, "backups", "efs.backup", scene.usage("shared_files_gb"))


def bucket(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """Stored objects and requests; what is stored is an assumption by the bucket's purpose."""
    last = resource.name.rpartition("-")[2]
    key = f"{last}_bucket_gb" if last in PURPOSES else "other_bucket_gb"
    yield scene.line(resource, "stored objects", "s3.standard", scene.usage(key))
    yield scene.line(resource, "writes and listings", "s3.put", scene.usage("bucket_puts_thousand"))
    yield scene.line(resource, "reads", "s3.get", scene.usage("bucket_gets_thousand"))


def log_group(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """What is logged, and what is kept of it once the retention is filled."""
    if read(resource, "logGroupClass") not in (None, "STANDARD"):
        yield unpriced(resource, "log group", f"class {read(resource, 'logGroupClass')} has no price in the catalogue")
        return
    logged = scene.usage(_log_key(resource, scene))
    yield scene.line(resource, "logs that come in", "logs.ingestion", logged)
    days = number(resource, "retentionInDays", default=0)
    months = days / DAYS_A_MONTH if days else scene.assumed("log_kept_months_at_most").value
    kept = logged.times(months * scene.assumed("log_compression_percent").value / 100)
    yield scene.line(resource, "logs that are kept", "logs.storage", kept)


def _log_key(resource: RecordedResource, scene: Scene) -> str:
    if str(read(resource, "name") or "").startswith("/aws/eks/"):
        return "control_plane_log_gb"
    for flow_log in scene.of_type(FLOW_LOG):
        if resource in scene.referred(flow_log, "logDestination", resource.type):
            return "flow_log_gb"
    return "other_log_gb"
