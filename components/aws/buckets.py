"""An S3 bucket with everything that a bucket of the environment must have.

Versioned, encrypted by default, never public, reachable over TLS 1.2 or later only, with its access logged and a
lifecycle. The bucket that receives the access logs is made by the same component: S3 delivers access logs only to a
bucket whose default encryption is SSE-S3 (Amazon S3 User Guide, "Enabling Amazon S3 server access logging", 2026-11).
"""

import re
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.s3 as s3

from trainyard.components.aws.perimeter import BoundToArgs, bucket_binding
from trainyard.components.outputs import register

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,54}")
"""Logical names that a bucket may have: Pulumi appends 8 characters to make the bucket's name, which S3 limits to
63."""


LOCK_MODES = ("governance", "compliance")


class LifecycleRuleArgs(TypedDict):
    """One rule of a bucket's lifecycle, for all of its objects: what it does is what is given beside the id."""

    id: str
    """Name of the rule, unique in its bucket."""
    expire_days: NotRequired[int]
    """Days after which a current object is deleted."""
    expire_delete_markers: NotRequired[bool]
    """Takes away delete markers with no version left under them, which slow listing. It deletes no data."""
    superseded_expire_days: NotRequired[int]
    """Days after which a superseded version of an object is deleted."""
    superseded_keep_versions: NotRequired[int]
    """How many of the newest superseded versions of each key `superseded_expire_days` leaves. Default: none."""
    infrequent_access_days: NotRequired[int]
    """Days after which a current object moves to infrequent access, at least 30."""
    abort_uploads_days: NotRequired[int]
    """Days after which the parts of a multipart upload that was never completed are deleted: they are billed and
    invisible."""


class ObjectLockArgs(TypedDict):
    """How long nobody changes or deletes an object. It holds from the bucket's first object on, and is never off."""

    mode: str
    """governance: who has `s3:BypassGovernanceRetention` may delete all the same. compliance: nobody may, root neither.
    """
    days: int
    """Days, at least 1."""


class BucketArgs(TypedDict):
    """What differs between the environment's buckets."""

    lifecycle_rules: Sequence[LifecycleRuleArgs]
    """The rules of its lifecycle, at least one."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the bucket."""
    key_arn: NotRequired[pulumi.Input[str]]
    """KMS key of the default encryption, and the only one that writers may name. Absent: SSE-S3."""
    access_log_bucket: NotRequired[pulumi.Input[str]]
    """`log_target` of the bucket that receives the access logs, under `<logical name>/`. Absent: access is not logged
    (the log bucket itself)."""
    bound_to: NotRequired[BoundToArgs]
    """Where the bucket may be used from. Absent: from anywhere that a right reaches."""
    log_source_account_id: NotRequired[pulumi.Input[str]]
    """Makes this a log bucket: S3 may deliver the access logs of this account's buckets here."""
    trail_arn: NotRequired[pulumi.Input[str]]
    """Makes this the bucket of a trail: CloudTrail may deliver that trail's files here."""
    object_lock: NotRequired[ObjectLockArgs]
    """Object lock of everything that is written here. Default: none; S3 delivers access logs to no bucket that has it
    (Amazon S3 User Guide, "Object Lock considerations", 2026-11)."""
    keep_objects: NotRequired[bool]
    """Whether nobody deletes an object or one of its versions, the lifecycle apart, before the bucket's policy is
    changed. Default False."""
    retain: NotRequired[bool]
    """Whether a destroy of the stack leaves the bucket where it is. Default False."""


class Bucket(pulumi.ComponentResource):
    """One bucket with its configuration. `force_destroy` is off: a bucket with content is never deleted by the way."""

    bucket_name: pulumi.Output[str]
    """Name of the bucket."""
    bucket_arn: pulumi.Output[str]
    """ARN of the bucket."""
    log_target: pulumi.Output[str]
    """Name of the bucket, known once its policy lets access logs in."""
    configured_name: pulumi.Output[str]
    """Name of the bucket, known once it is versioned and encrypts what it gets, for what puts an object into it."""

    def __init__(self, name: str, args: BucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError when `name` cannot begin a bucket's name, and for a lock that S3 does not know."""
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"bucket {name!r}: the name must have 2 to 55 characters: lower-case letters, digits and hyphens"
            )
        _check_lock(name, args)
        super().__init__("trainyard:index:Bucket", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        bucket = s3.Bucket(
            name,
            force_destroy=False,
            object_lock_enabled=True if "object_lock" in args else None,  # at its creation
            opts=pulumi.ResourceOptions(
                parent=self, protect=args["protect"], retain_on_delete=args.get("retain", False) or None
            ),
        )
        self.bucket_name = bucket.bucket
        self.bucket_arn = bucket.arn

        public_access = s3.BucketPublicAccessBlock(
            f"{name}-public-access",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child,
        )
        s3.BucketOwnershipControls(
            f"{name}-ownership",
            bucket=bucket.id,
            rule={"object_ownership": "BucketOwnerEnforced"},
            # S3 answers "conflicting operation in progress" to two changes of a bucket's access at once.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[public_access]),
        )
        versioning = s3.BucketVersioning(
            f"{name}-versioning",
            bucket=bucket.id,
            versioning_configuration={"status": "Enabled"},
            opts=child,
        )
        if "object_lock" in args:
            lock = args["object_lock"]
            s3.BucketObjectLockConfiguration(
                f"{name}-object-lock",
                bucket=bucket.id,
                rule={"default_retention": {"mode": lock["mode"].upper(), "days": lock["days"]}},
                opts=pulumi.ResourceOptions(parent=self, depends_on=[versioning]),
            )
        encryption = s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption", bucket=bucket.id, rules=[_encryption_rule(args.get("key_arn"))], opts=child
        )
        s3.BucketLifecycleConfiguration(
            f"{name}-lifecycle",
            bucket=bucket.id,
            rules=[_lifecycle_rule(rule) for rule in args["lifecycle_rules"]],
            # Rules for superseded versions mean something else, or nothing, before versioning is on.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[versioning]),
        )
        policy = s3.BucketPolicy(
            f"{name}-policy",
            bucket=bucket.id,
            policy=pulumi.Output.json_dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        *_statements(bucket.arn, args),
                        *_record_statements(bucket.arn, args),
                        *(bucket_binding(bucket.arn, args["bound_to"]) if "bound_to" in args else ()),
                    ],
                }
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[public_access]),
        )
        # S3 checks at once that it may write there.
        self.log_target = pulumi.Output.all(bucket.bucket, policy.urn).apply(lambda known: known[0])
        self.configured_name = pulumi.Output.all(bucket.bucket, versioning.urn, encryption.urn, policy.urn).apply(
            lambda known: known[0]
        )
        if "access_log_bucket" in args:
            s3.BucketLogging(
                f"{name}-logging",
                bucket=bucket.id,
                target_bucket=args["access_log_bucket"],
                target_prefix=f"{name}/",
                opts=child,
            )
        register(self)


def bucket_arn_pattern(name: str) -> str:
    """ARN of the bucket of that logical name, before there is one: Pulumi appends a hyphen and seven hex digits."""
    return f"arn:aws:s3:::{name}-{'?' * 7}"


def _check_lock(name: str, args: BucketArgs) -> None:
    lock = args.get("object_lock")
    if lock is None:
        return
    if lock["mode"] not in LOCK_MODES or lock["days"] < 1:
        raise ValueError(
            f"bucket {name!r}: object_lock is {lock['mode']} for {lock['days']} days, must be "
            f"{' or '.join(LOCK_MODES)} for at least 1"
        )
    if "log_source_account_id" in args:
        raise ValueError(f"bucket {name!r}: S3 delivers access logs to no bucket that has an object lock")


def abort_incomplete_uploads(days: int) -> LifecycleRuleArgs:
    """The rule that deletes what is left of uploads that were never completed, after so many days."""
    return {"id": "abort-incomplete-uploads", "abort_uploads_days": days}


def expire_delete_markers() -> LifecycleRuleArgs:
    """The rule that deletes delete markers with no version left under them."""
    return {"id": "expire-delete-markers", "expire_delete_markers": True}


def _lifecycle_rule(rule: LifecycleRuleArgs) -> s3.BucketLifecycleConfigurationRuleArgsDict:
    found: s3.BucketLifecycleConfigurationRuleArgsDict = {
        "id": rule["id"],
        "status": "Enabled",
        "filter": {"prefix": ""},  # the whole bucket
    }
    if "expire_days" in rule:
        found["expiration"] = {"days": rule["expire_days"]}
    if rule.get("expire_delete_markers"):
        found["expiration"] = {"expired_object_delete_marker": True}
    if "superseded_expire_days" in rule:
        superseded: s3.BucketLifecycleConfigurationRuleNoncurrentVersionExpirationArgsDict = {
            "noncurrent_days": rule["superseded_expire_days"]
        }
        if "superseded_keep_versions" in rule:
            superseded["newer_noncurrent_versions"] = rule["superseded_keep_versions"]
        found["noncurrent_version_expiration"] = superseded
    if "infrequent_access_days" in rule:
        found["transitions"] = [{"days": rule["infrequent_access_days"], "storage_class": "STANDARD_IA"}]
    if "abort_uploads_days" in rule:
        found["abort_incomplete_multipart_upload"] = {"days_after_initiation": rule["abort_uploads_days"]}
    return found


def _encryption_rule(key_arn: pulumi.Input[str] | None) -> s3.BucketServerSideEncryptionConfigurationRuleArgsDict:
    if key_arn is None:
        return {"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}
    return {
        "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key_arn},
        "bucket_key_enabled": True,  # one KMS request a bucket and hour instead of one an object
    }


def _statements(bucket_arn: pulumi.Output[str], args: BucketArgs) -> list[dict[str, Any]]:
    key_arn, log_source_account_id = args.get("key_arn"), args.get("log_source_account_id")
    objects = pulumi.Output.concat(bucket_arn, "/*")
    # {"AWS": "*"} is everyone, as "*" is.
    statements: list[dict[str, Any]] = [
        {
            "Sid": "DenyPlainHttp",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": "s3:*",
            "Resource": [bucket_arn, objects],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
        {
            "Sid": "DenyOldTls",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": "s3:*",
            "Resource": [bucket_arn, objects],
            "Condition": {"NumericLessThan": {"s3:TlsVersion": "1.2"}},
        },
    ]
    # CloudTrail writes its digests, which prove that no file was changed, with the service's own key.
    if key_arn is not None and "trail_arn" not in args:
        statements += [
            _deny_writes("DenyOtherEncryption", objects, {"s3:x-amz-server-side-encryption": "aws:kms"}),
            _deny_writes("DenyOtherKeys", objects, {"s3:x-amz-server-side-encryption-aws-kms-key-id": key_arn}),
        ]
    if log_source_account_id is not None:
        statements.append(
            {
                "Sid": "AccessLogDelivery",
                "Effect": "Allow",
                "Principal": {"Service": "logging.s3.amazonaws.com"},
                "Action": "s3:PutObject",
                "Resource": objects,
                "Condition": {"StringEquals": {"aws:SourceAccount": log_source_account_id}},
            }
        )
    return statements


def _record_statements(bucket_arn: pulumi.Output[str], args: BucketArgs) -> list[dict[str, Any]]:
    """What a bucket that holds a record lets in, and what it keeps."""
    objects = pulumi.Output.concat(bucket_arn, "/*")
    statements: list[dict[str, Any]] = []
    if "trail_arn" in args:
        of_the_trail = {"aws:SourceArn": args["trail_arn"]}
        cloudtrail = {"Effect": "Allow", "Principal": {"Service": "cloudtrail.amazonaws.com"}}
        statements += [
            {
                **cloudtrail,
                "Sid": "TrailLooks",
                "Action": "s3:GetBucketAcl",
                "Resource": bucket_arn,
                "Condition": {"StringEquals": of_the_trail},
            },
            {
                **cloudtrail,
                "Sid": "TrailDelivery",
                "Action": "s3:PutObject",
                "Resource": objects,
                "Condition": {"StringEquals": {**of_the_trail, "s3:x-amz-acl": "bucket-owner-full-control"}},
            },
        ]
    if args.get("keep_objects", False):
        statements.append(
            {
                "Sid": "KeepObjects",
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": ["s3:DeleteObject", "s3:DeleteObjectVersion"],
                "Resource": objects,
            }
        )
    return statements


def _deny_writes(sid: str, objects: pulumi.Output[str], required: dict[str, pulumi.Input[str]]) -> dict[str, Any]:
    """A write may leave the encryption to the bucket's default; one that names an encryption must name `required`.

    StringNotEquals also holds for an absent key: `aws:kms` without a key id would take the AWS-managed key.
    """
    return {
        "Sid": sid,
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "s3:PutObject",
        "Resource": objects,
        "Condition": {"Null": {"s3:x-amz-server-side-encryption": "false"}, "StringNotEquals": required},
    }
