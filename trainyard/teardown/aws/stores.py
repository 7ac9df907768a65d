"""What is left of what holds something: databases, file systems, buckets, images, keys, secrets, logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainyard.account.aws import RefusedError, tags_in
from trainyard.problems import count
from trainyard.teardown.aws.prices import added, monthly_usd_of_managed, usd
from trainyard.teardown.aws.search import Finder, Search
from trainyard.teardown.model import Left

GB: Final = 1e9

MOST_VERSIONS: Final = 20_000
"""Versions of a bucket's objects that are added up; of a larger one, a price is its least."""

_LOG_PREFIXES: Final = (
    "/aws/eks/{}",
    "/aws/rds/instance/{}",
    "/aws/fsx/{}",
    "/aws/lambda/{}",
    "/aws/containerinsights/{}",
    "/aws/vpc/{}",
    "/trainyard/{}",
    "{}",
)
"""Where services and we put log groups of an environment's names."""


def databases(search: Search) -> Iterator[Left]:
    """RDS instances."""
    for each, found in search.own("rds", "describe_db_instances", "DBInstances"):
        name = each["DBInstanceIdentifier"]
        price = added(
            usd(f"rds.{each['Engine']}.{each['DBInstanceClass']}", 2 if each.get("MultiAZ") else 1),
            usd(f"rds.{each.get('StorageType', 'gp3')}", each.get("AllocatedStorage", 0)),
        )
        command = f"aws rds delete-db-instance --db-instance-identifier {name} --region {search.region}"
        told = f"{each['DBInstanceClass']}, {each.get('AllocatedStorage', 0)} GiB, {each['DBInstanceStatus']}"
        yield Left("database", name, found, price, told, each["DBInstanceArn"], command)


def database_snapshots(search: Search) -> Iterator[Left]:
    """Copies of databases, the last one of a deleted database among them; at most at the database's size."""
    for each in search.account.each("rds", "describe_db_snapshots", "DBSnapshots", SnapshotType="manual"):
        found = search.whose(tags_in(each)) or ("name" if search.names(each["DBInstanceIdentifier"]) else None)
        if found is None:
            continue
        name, size = each["DBSnapshotIdentifier"], each.get("AllocatedStorage", 0)
        command = f"aws rds delete-db-snapshot --db-snapshot-identifier {name} --region {search.region}"
        told = f"of {each['DBInstanceIdentifier']}, at most {size} GiB"
        yield Left("database snapshot", name, found, usd("rds.backup", size), told, each["DBSnapshotArn"], command)


def lustre(search: Search) -> Iterator[Left]:
    """FSx file systems."""
    for each, found in search.own("fsx", "describe_file_systems", "FileSystems"):
        id_, size = each["FileSystemId"], each.get("StorageCapacity", 0)
        command = f"aws fsx delete-file-system --file-system-id {id_} --region {search.region}"
        told = f"{size} GiB, {each.get('Lifecycle', '')}"
        yield Left(
            "FSx file system", id_, found, usd(_lustre_key(each), size), told, each.get("ResourceARN", ""), command
        )


def _lustre_key(found: dict[str, Any]) -> str:
    lustre_ = found.get("LustreConfiguration") or {}
    kind = str(lustre_.get("DeploymentType", "")).lower().replace("_", "-")
    rate = lustre_.get("PerUnitStorageThroughput")
    return f"fsx.lustre.{kind}.ssd" + (f".{rate}" if rate else "")


def lustre_backups(search: Search) -> Iterator[Left]:
    """Backups of FSx, at most at the file system's size."""
    for each in search.account.each("fsx", "describe_backups", "Backups"):
        of = each.get("FileSystem", {})
        found = search.whose(tags_in(each)) or search.whose(tags_in(of))
        if found is None:
            continue
        id_, size = each["BackupId"], of.get("StorageCapacity", 0)
        command = f"aws fsx delete-backup --backup-id {id_} --region {search.region}"
        told = f"at most {size} GB"
        price, arn = usd("fsx.lustre.backup", size), each.get("ResourceARN", "")
        yield Left("FSx backup", id_, found, price, told, arn, command, made_of=of.get("FileSystemId", ""))


def file_systems(search: Search) -> Iterator[Left]:
    """EFS file systems, at what they hold."""
    for each, found in search.own("efs", "describe_file_systems", "FileSystems"):
        id_, size = each["FileSystemId"], each.get("SizeInBytes", {}).get("Value", 0)
        command = f"aws efs delete-file-system --file-system-id {id_} --region {search.region}"
        told = f"{size / GB:.1f} GB"
        price = usd("efs.standard", size / GB)
        yield Left("EFS file system", id_, found, price, told, each.get("FileSystemArn", ""), command)


def buckets(search: Search) -> Iterator[Left]:
    """Buckets with all versions of what they hold: an overwritten object is paid for as the newest is."""
    account = search.account
    for each in account.each("s3", "list_buckets", "Buckets"):
        name = each["Name"]
        try:
            tags = tags_in(account.call("s3", "get_bucket_tagging", Bucket=name))
        except RefusedError as error:
            if error.code not in ("NoSuchTagSet", "AccessDenied") and not error.is_absence:
                raise
            tags = {}
        found = search.whose(tags) or ("name" if search.names(name) else None)
        if found is None:
            continue
        place = account.call("s3", "get_bucket_location", Bucket=name).get("LocationConstraint") or "us-east-1"
        if place != search.region:
            told = f"in {place}"
            yield Left("bucket", name, found, None, told, f"arn:{account.partition}:s3:::{name}", "")
            continue
        count, size, whole = _content(search, name)
        told = f"{'' if whole else 'more than '}{count} versions, {size / GB:.1f} GB" if count else "empty"
        command = f"aws s3 rb s3://{name} --force  # versions first: docs/audit.md"
        yield Left(
            "bucket", name, found, usd("s3.standard", size / GB), told, f"arn:{account.partition}:s3:::{name}", command
        )


def _content(search: Search, bucket: str) -> tuple[int, int, bool]:
    """How many versions a bucket holds, how many bytes, and whether that is all; parts of open uploads too."""
    count = size = 0
    for version in search.account.each("s3", "list_object_versions", "Versions", Bucket=bucket):
        count, size = count + 1, size + version.get("Size", 0)
        if count >= MOST_VERSIONS:
            return count, size, False
    for upload in search.account.each("s3", "list_multipart_uploads", "Uploads", Bucket=bucket):
        count += 1
        for part in search.account.each(
            "s3", "list_parts", "Parts", Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
        ):
            size += part.get("Size", 0)
    return count, size, True


def images(search: Search) -> Iterator[Left]:
    """Repositories of images, those of the image cache among them, which ECR makes when an image is first pulled."""
    account = search.account
    for each in account.each("ecr", "describe_repositories", "repositories"):
        name, arn = each["repositoryName"], each["repositoryArn"]
        tags = tags_in(account.call("ecr", "list_tags_for_resource", resourceArn=arn))
        found = search.whose(tags) or ("name" if search.names(name) else None)
        if found is None:
            continue
        sizes = [
            image.get("imageSizeInBytes", 0)
            for image in account.each("ecr", "describe_images", "imageDetails", repositoryName=name)
        ]
        command = f"aws ecr delete-repository --repository-name {name} --force --region {search.region}"
        told = f"{count(len(sizes), 'image')}, {sum(sizes) / GB:.1f} GB"
        yield Left("image repository", name, found, usd("ecr.storage", sum(sizes) / GB), told, arn, command)


def keys(search: Search) -> Iterator[Left]:
    """KMS keys; one that waits for its deletion costs nothing."""
    for arn in search.arns("kms:key"):
        try:
            found = search.account.call("kms", "describe_key", KeyId=arn)["KeyMetadata"]
        except RefusedError as error:
            if error.is_absence:
                continue
            raise
        pending, id_ = found["KeyState"] == "PendingDeletion", found["KeyId"]
        command = f"aws kms schedule-key-deletion --key-id {id_} --region {search.region}"
        yield Left(
            "key", id_, "tag", 0.0 if pending else usd("kms.key"), found["KeyState"], arn, "" if pending else command
        )


def secrets(search: Search) -> Iterator[Left]:
    """Secrets, those that RDS makes for a database's master user among them."""
    for each in search.account.each("secretsmanager", "list_secrets", "SecretList"):
        found = search.whose(tags_in(each)) or ("name" if search.names(each["Name"]) else None)
        if found is not None and "DeletedDate" not in each:
            command = f"aws secretsmanager delete-secret --secret-id {each['ARN']} --region {search.region}"
            yield Left("secret", each["Name"], found, usd("secret"), "", each["ARN"], command)


def log_groups(search: Search) -> Iterator[Left]:
    """Log groups, those that EKS makes anew after its cluster is gone among them; those have no tags."""
    seen: set[str] = set()
    for own in dict.fromkeys((search.name, *search.clusters)):
        for prefix in _LOG_PREFIXES:
            for each in search.account.each(
                "logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix.format(own)
            ):
                name, arn = each["logGroupName"], each["arn"].removesuffix(":*")
                rest = name.removeprefix(prefix.format(own))
                if name in seen or rest[:1] not in ("", "/", "-"):
                    continue
                seen.add(name)
                yield _log_group(search, each, name, arn)


def _log_group(search: Search, each: dict[str, Any], name: str, arn: str) -> Left:
    size = each.get("storedBytes", 0)
    retention = each.get("retentionInDays")
    lasts = f"kept {count(retention, 'day')}" if retention else "kept for ever"
    command = f"aws logs delete-log-group --log-group-name {name} --region {search.region}"
    found = "tag" if arn in search.tagged else "name"
    if found == "name":
        lasts += "; made again by a service that wrote its last lines: it stays deleted once nothing writes any more"
    # An empty one that is kept for ever costs nothing today, and is written to by whoever made it.
    price = usd("logs.storage", size / GB)
    return Left(
        "log group", name, "tag" if found == "tag" else "name", price, f"{size / GB:.3f} GB, {lasts}", arn, command
    )


def alarms(search: Search) -> Iterator[Left]:
    """CloudWatch's alarms, each paid for as long as it is there."""
    by_name = {arn.rpartition(":alarm:")[2]: arn for arn in search.arns("cloudwatch:alarm")}
    if not by_name:
        return
    for each in search.account.each("cloudwatch", "describe_alarms", "MetricAlarms", AlarmNames=list(by_name)[:100]):
        name = each["AlarmName"]
        command = f"aws cloudwatch delete-alarms --alarm-names {name} --region {search.region}"
        yield Left(
            "alarm", name, "tag", usd("cloudwatch.alarm"), str(each.get("StateValue", "")), by_name[name], command
        )


def detectors(search: Search) -> Iterator[Left]:
    """GuardDuty's detector, paid for by what it reads."""
    for id_ in search.account.each("guardduty", "list_detectors", "DetectorIds"):
        found = search.account.call("guardduty", "get_detector", DetectorId=id_)
        if search.whose(tags_in(found)) is not None:
            account = search.account.identity["account"]
            arn = f"arn:{search.account.partition}:guardduty:{search.region}:{account}:detector/{id_}"
            command = f"aws guardduty delete-detector --detector-id {id_} --region {search.region}"
            yield Left("GuardDuty detector", id_, "tag", None, str(found.get("Status", "")), arn, command)


def apps(search: Search) -> Iterator[Left]:
    """SageMaker's apps: people's editors, paid for as machines while they run."""
    domains = {arn.rpartition("/")[2] for arn in search.arns("sagemaker:domain")}
    for domain in sorted(domains):
        for each in search.account.each("sagemaker", "list_apps", "Apps", DomainIdEquals=domain):
            if each.get("Status") in ("Deleted", "Deleting", "Failed"):
                continue
            type_ = str(each.get("ResourceSpec", {}).get("InstanceType", ""))
            price = 0.0 if type_ == "system" else monthly_usd_of_managed(type_)
            told = f"{each['AppType']}, {type_ or 'of a type that is not told'}, {each.get('Status', '')}"
            yield Left("SageMaker app", f"{domain}/{each.get('SpaceName', '')}/{each['AppName']}", "name", price, told)


FINDERS: Final[dict[str, tuple[Finder, tuple[str, ...]]]] = {
    "databases": (databases, ("rds:db",)),
    "database snapshots": (database_snapshots, ("rds:snapshot",)),
    "FSx file systems": (lustre, ("fsx:file-system",)),
    "FSx backups": (lustre_backups, ("fsx:backup",)),
    "EFS file systems": (file_systems, ("elasticfilesystem:file-system",)),
    "buckets": (buckets, ("s3",)),
    "image repositories": (images, ("ecr:repository",)),
    "keys": (keys, ("kms:key",)),
    "secrets": (secrets, ("secretsmanager:secret",)),
    "log groups": (log_groups, ("logs:log-group",)),
    "alarms": (alarms, ("cloudwatch:alarm",)),
    "GuardDuty detectors": (detectors, ("guardduty:detector",)),
    "SageMaker apps": (apps, ("sagemaker:app",)),
}
"""By what a person calls them: who lists them, and the kinds of ARN that they account for."""
