"""Storage by purpose: data, checkpoints, artifacts.

| tier | where | what lifecycle does |
| --- | --- | --- |
| data | S3, and FSx for Lustre in front of it | overwritten and deleted objects stay recoverable for a time |
| checkpoints | S3 | never touches a current object; superseded versions go, the newest few of each key last |
| artifacts | S3 | superseded versions go after the retention; current objects move to infrequent access |
| home directories and code | EFS, where asked | moves idle files to cheaper classes |

Each has a key of its own, the file systems that of the data; access to the buckets is logged to a fourth bucket.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

import pulumi

from trainyard.components.aws.buckets import (
    Bucket,
    BucketArgs,
    LifecycleRuleArgs,
    abort_incomplete_uploads,
    expire_delete_markers,
)
from trainyard.components.aws.lustre import LustreArgs, LustreFileSystem
from trainyard.components.aws.perimeter import BoundToArgs
from trainyard.components.aws.shared_files import SharedFileSystem
from trainyard.components.outputs import register

INFREQUENT_ACCESS_MINIMUM_DAYS = 30
"""Days before which S3 refuses a transition to STANDARD_IA (S3 User Guide, "Lifecycle transitions", 2026-11)."""

DELETED_CHECKPOINT_DAYS = 180
"""Days after which even the newest superseded versions of a checkpoint are deleted. See `checkpoint_rules`."""

ACCESS_LOG_DAYS = 365


class BucketReference(TypedDict):
    """A bucket, as those who use it name it."""

    name: pulumi.Output[str]
    """Name of the bucket."""
    arn: pulumi.Output[str]
    """ARN of the bucket."""
    configured_name: pulumi.Output[str]
    """Name of the bucket, known once it encrypts what it gets."""


class LustreReference(TypedDict):
    """What a static PersistentVolume of the FSx driver needs."""

    id: pulumi.Output[str]
    """Id of the file system, `fs-…`."""
    dns_name: pulumi.Output[str]
    """Host name of the file system."""
    data_mount_name: pulumi.Output[str]
    """Name under which clients mount the directory that mirrors the data."""
    scratch_mount_name: pulumi.Output[str]
    """Name under which clients mount the directory of the teams' scratch folders."""


class SharedReference(TypedDict):
    """What static PersistentVolumes of the EFS driver need."""

    id: pulumi.Output[str]
    """Id of the file system, `fs-…`."""
    arn: pulumi.Output[str]
    """ARN of the file system."""
    access_point_ids: Mapping[str, pulumi.Output[str]]
    """Id of the access point of each directory, by the directory's name."""
    access_point_arns: Mapping[str, pulumi.Output[str]]
    """ARN of the access point of each directory, by the directory's name."""


class StorageKeysArgs(TypedDict):
    """The KMS key of each tier."""

    data: pulumi.Input[str]
    """Key of the data bucket and of the file systems."""
    checkpoints: pulumi.Input[str]
    """Key of the checkpoints bucket."""
    artifacts: pulumi.Input[str]
    """Key of the artifacts bucket."""


class StorageTiersArgs(TypedDict):
    """The storage of one environment."""

    account_id: pulumi.Input[str]
    """Id of the AWS account, 12 digits."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC that the file systems' subnets are in."""
    bound_to: NotRequired[BoundToArgs]
    """Where the buckets may be used from. Absent: from anywhere that a right reaches."""
    client_security_group_ids: Mapping[str, pulumi.Input[str]]
    """Groups of the nodes that mount the file systems, by a short name that stays (`cluster`)."""
    key_arns: StorageKeysArgs
    """KMS keys of everything but the access logs."""
    data_version_days: int
    """Days that an overwritten or deleted object of the data stays recoverable, at least 1."""
    checkpoint_expire_days: int
    """Days after which a superseded version of a checkpoint is deleted, at least 1."""
    checkpoint_keep_versions: int
    """How many superseded versions of each key stay longer than that, 1 to 100."""
    multipart_cleanup_days: int
    """Days after which, in every bucket, the parts of an upload that was never completed are deleted; at least 1."""
    artifact_retention_days: int
    """Days that superseded versions of artifacts are kept, at least 1."""
    artifact_transition_days: int
    """Days after which an artifact moves to infrequent access, at least 30."""
    protect: bool
    """Whether Pulumi refuses to delete or replace buckets and file systems."""
    lustre: NotRequired[LustreArgs | None]
    """FSx for Lustre, linked to the data bucket. Absent or None: the data tier is S3 alone."""
    data_folders: NotRequired[Sequence[str]]
    """Folders that the file system's data directory has from the start: `teams/vision/`. Default: none."""
    scratch_folders: NotRequired[Sequence[str]]
    """Folders that training pods write to in its scratch directory: `teams/vision/`. Default: none."""
    shared_file_system_subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]] | None]
    """Subnets of an EFS file system, one a zone, by the zone's name. Absent, None or empty: no EFS."""
    shared_directories: NotRequired[Sequence[str]]
    """Directories of the EFS file system, one a team. Default: none."""


class StorageTiers(pulumi.ComponentResource):
    """The buckets and file systems of an environment."""

    data_bucket: BucketReference
    """The bucket of the data tier."""
    checkpoints_bucket: BucketReference
    """The bucket of the checkpoints tier."""
    artifacts_bucket: BucketReference
    """The bucket of the artifacts tier."""
    log_target: pulumi.Output[str]
    """Name of the bucket that receives access logs, known once it lets them in."""
    lustre: LustreReference | None
    """The FSx for Lustre file system of the data tier; None where there is none."""
    shared: SharedReference | None
    """The EFS file system of the teams' homes; None where there is none."""

    def __init__(self, name: str, args: StorageTiersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for a number of days or versions that S3 or FSx would refuse."""
        _check(name, args)
        super().__init__("trainyard:index:StorageTiers", name, None, opts)
        cleanup = abort_incomplete_uploads(args["multipart_cleanup_days"])

        def bound(bucket_args: BucketArgs) -> BucketArgs:
            return {**bucket_args, "bound_to": args["bound_to"]} if "bound_to" in args else bucket_args

        logs = Bucket(
            f"{name}-logs",
            bound(
                {
                    "lifecycle_rules": [*_log_rules(), expire_delete_markers(), cleanup],
                    "log_source_account_id": args["account_id"],
                    # S3 delivers no access logs under object lock: this is the next best, lifted with the protection.
                    "keep_objects": args["protect"],
                    "protect": args["protect"],
                }
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.log_target = logs.log_target

        def bucket(
            purpose: Literal["data", "checkpoints", "artifacts"], rules: list[LifecycleRuleArgs]
        ) -> BucketReference:
            made = Bucket(
                tier_name(name, purpose),
                bound(
                    {
                        "lifecycle_rules": [*rules, expire_delete_markers(), cleanup],
                        "key_arn": args["key_arns"][purpose],
                        "access_log_bucket": logs.log_target,
                        "protect": args["protect"],
                    }
                ),
                opts=pulumi.ResourceOptions(parent=self),
            )
            return {"name": made.bucket_name, "arn": made.bucket_arn, "configured_name": made.configured_name}

        # Whoever ingests data may overwrite and delete them, and the file system follows minutes later: the versions
        # are the only way back.
        self.data_bucket = bucket("data", [_expire_superseded(args["data_version_days"])])
        self.checkpoints_bucket = bucket(
            "checkpoints", checkpoint_rules(args["checkpoint_expire_days"], args["checkpoint_keep_versions"])
        )
        self.artifacts_bucket = bucket(
            "artifacts", artifact_rules(args["artifact_retention_days"], args["artifact_transition_days"])
        )
        self.lustre = self._lustre(name, args)
        self.shared = self._shared_file_system(name, args)
        register(self)

    def _lustre(self, name: str, args: StorageTiersArgs) -> LustreReference | None:
        lustre = args.get("lustre")
        if lustre is None:
            return None
        made = LustreFileSystem(
            f"{name}-lustre",
            {
                "lustre": lustre,
                "account_id": args["account_id"],
                "vpc_id": args["vpc_id"],
                "client_security_group_ids": args["client_security_group_ids"],
                "key_arn": args["key_arns"]["data"],
                "data_bucket_name": self.data_bucket["configured_name"],
                "data_bucket_arn": self.data_bucket["arn"],
                "data_folders": args.get("data_folders", ()),
                "scratch_folders": args.get("scratch_folders", ()),
                "protect": args["protect"],
            },
            opts=pulumi.ResourceOptions(parent=self),
        )
        return {
            "id": made.file_system_id,
            "dns_name": made.dns_name,
            "data_mount_name": made.data_mount_name,
            "scratch_mount_name": made.scratch_mount_name,
        }

    def _shared_file_system(self, name: str, args: StorageTiersArgs) -> SharedReference | None:
        subnet_ids = args.get("shared_file_system_subnet_ids")
        if not subnet_ids:
            return None
        made = SharedFileSystem(
            f"{name}-shared",
            {
                "account_id": args["account_id"],
                "vpc_id": args["vpc_id"],
                "subnet_ids": subnet_ids,
                "directories": args.get("shared_directories", ()),
                "client_security_group_ids": args["client_security_group_ids"],
                "key_arn": args["key_arns"]["data"],
                "protect": args["protect"],
            },
            opts=pulumi.ResourceOptions(parent=self),
        )
        return {
            "id": made.file_system_id,
            "arn": made.file_system_arn,
            "access_point_ids": made.access_point_ids,
            "access_point_arns": made.access_point_arns,
        }


def tier_name(name: str, purpose: str) -> str:
    """Logical name of the bucket of a purpose of the component `name`."""
    return f"{name}-{purpose}"


def checkpoint_rules(expire_days: int, keep_versions: int) -> list[LifecycleRuleArgs]:
    """Lifecycle of checkpoints: no rule expires a current object, so the newest checkpoint of every key stays.

    A version is superseded when its key is written again (`last.pt`) or deleted (a job that keeps the last three
    steps). The newest `keep_versions` superseded versions of a key outlive `expire_days`, so a checkpoint that was
    overwritten with garbage can be taken back however old it is. On its own that rule would keep every pruned step
    for ever, since a deleted key never gets `keep_versions` newer ones: the second rule ends it.
    """
    return [
        {**_expire_superseded(expire_days), "superseded_keep_versions": keep_versions},
        _expire_superseded(max(expire_days, DELETED_CHECKPOINT_DAYS), "expire-all-superseded-versions"),
    ]


def artifact_rules(retention_days: int, transition_days: int) -> list[LifecycleRuleArgs]:
    """Lifecycle of artifacts: superseded versions stay for the retention, current objects get cheaper, never fewer."""
    return [
        _expire_superseded(retention_days),
        {"id": "infrequent-access", "infrequent_access_days": transition_days},
    ]


def _log_rules() -> list[LifecycleRuleArgs]:
    return [
        {"id": "expire-access-logs", "expire_days": ACCESS_LOG_DAYS},
        _expire_superseded(INFREQUENT_ACCESS_MINIMUM_DAYS),
    ]


def _expire_superseded(days: int, rule_id: str = "expire-superseded-versions") -> LifecycleRuleArgs:
    return {"id": rule_id, "superseded_expire_days": days}


def _check(name: str, args: StorageTiersArgs) -> None:
    bounds = (
        ("data_version_days", args["data_version_days"], 1, None),
        ("checkpoint_expire_days", args["checkpoint_expire_days"], 1, None),
        ("checkpoint_keep_versions", args["checkpoint_keep_versions"], 1, 100),
        ("multipart_cleanup_days", args["multipart_cleanup_days"], 1, None),
        ("artifact_retention_days", args["artifact_retention_days"], 1, None),
        ("artifact_transition_days", args["artifact_transition_days"], INFREQUENT_ACCESS_MINIMUM_DAYS, None),
    )
    for field, value, low, high in bounds:
        if value < low or (high is not None and value > high):
            allowed = f"at least {low}" if high is None else f"{low} to {high}"
            raise ValueError(f"{name}: {field} is {value}, must be {allowed}")
