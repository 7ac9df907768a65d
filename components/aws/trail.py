"""The record of who did what: a trail of CloudTrail with the objects of the tiers, in a bucket under object lock.

Management events are in it too, those of KMS among them, so every use of a key is on record; of all regions, because
IAM's and those of STS's global endpoint are events of us-east-1. Files are validated by a chain of digests, encrypted
with a key of their own that nothing else of the environment uses, and outlive the stack: key and bucket stay when it is
destroyed.
"""

import re
from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudtrail as cloudtrail
import pulumi_aws.kms as kms

from trainyard.components.aws.buckets import (
    Bucket,
    BucketArgs,
    abort_incomplete_uploads,
    bucket_arn_pattern,
    expire_delete_markers,
)
from trainyard.components.aws.key_policies import KeyUses, key_policy
from trainyard.components.aws.perimeter import BoundToArgs
from trainyard.components.outputs import register

_TRAIL_NAME = re.compile(r"(?=.{3,128}$)[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")


class AuditTrailArgs(TypedDict):
    """What `AuditTrail` needs."""

    trail_name: str
    """Name of the trail, unique in the account's region: 3 to 128 letters, digits and single `.`, `_` or `-`."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits."""
    region: pulumi.Input[str]
    """Region of trail, bucket and key."""
    administrator_arns: Sequence[pulumi.Input[str]]
    """Roles and users that may change the trail's key, whoever deploys among them; wildcards are patterns."""
    bucket_arns: Sequence[pulumi.Input[str]]
    """Buckets whose objects' reads and writes are recorded, at least one."""
    access_log_bucket: pulumi.Input[str]
    """Bucket that receives the access logs of the trail's own bucket."""
    bound_to: NotRequired[BoundToArgs]
    """Where the bucket may be read from. Absent: from anywhere that a right reaches."""
    retention_days: int
    """Days that files are kept, at least `lock_days`."""
    lock: str
    """governance: who has `s3:BypassGovernanceRetention` may delete a file all the same; compliance: nobody may."""
    lock_days: int
    """Days in which nobody changes or deletes a file, at least 1."""
    protect: bool
    """Whether Pulumi refuses to take bucket, key and trail out of the stack."""


class AuditTrail(pulumi.ComponentResource):
    """A trail of all regions with its bucket and its key."""

    trail_arn: pulumi.Output[str]
    """ARN of the trail."""
    bucket_name: pulumi.Output[str]
    """Name of the bucket that its files are in."""

    def __init__(self, name: str, args: AuditTrailArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the field, for what CloudTrail or S3 would refuse or never apply."""
        _check(name, args)
        super().__init__("trainyard:index:AuditTrail", name, None, opts)
        account_id, region = pulumi.Output.from_input(args["account_id"]), pulumi.Output.from_input(args["region"])
        arn = pulumi.Output.concat("arn:aws:cloudtrail:", region, ":", account_id, ":trail/", args["trail_name"])
        key = kms.Key(
            f"{name}-key",
            description=f"Files of the trail {args['trail_name']}",
            deletion_window_in_days=30,
            enable_key_rotation=True,
            multi_region=False,
            policy=pulumi.Output.json_dumps(
                pulumi.Output.all(account_id, region, arn, pulumi.Output.all(*args["administrator_arns"])).apply(
                    lambda known: key_policy(
                        known[0],
                        known[1],
                        known[3],
                        KeyUses(bucket_arns=[bucket_arn_pattern(f"{name}-logs")], trail_arn=known[2]),
                    )
                )
            ),
            # Files that nobody can decrypt are no record.
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], retain_on_delete=True),
        )
        in_bucket: BucketArgs = {
            "lifecycle_rules": [
                {"id": "expire-log-files", "expire_days": args["retention_days"]},
                {"id": "expire-superseded-versions", "superseded_expire_days": 1},
                expire_delete_markers(),
                abort_incomplete_uploads(1),
            ],
            "key_arn": key.arn,
            "trail_arn": arn,
            "object_lock": {"mode": args["lock"], "days": args["lock_days"]},
            "access_log_bucket": args["access_log_bucket"],
            "protect": args["protect"],
            "retain": True,
        }
        if "bound_to" in args:
            in_bucket["bound_to"] = args["bound_to"]
        bucket = Bucket(f"{name}-logs", in_bucket, opts=pulumi.ResourceOptions(parent=self))
        trail = cloudtrail.Trail(
            f"{name}-trail",
            name=args["trail_name"],
            s3_bucket_name=bucket.log_target,
            kms_key_id=key.arn,
            enable_logging=True,
            enable_log_file_validation=True,
            is_multi_region_trail=True,
            include_global_service_events=True,
            advanced_event_selectors=[
                {
                    "name": "what is done in the account, and every use of a key",
                    "field_selectors": [{"field": "eventCategory", "equals": ["Management"]}],
                },
                {
                    "name": "reads and writes of objects of the tiers",
                    "field_selectors": [
                        {"field": "eventCategory", "equals": ["Data"]},
                        {"field": "resources.type", "equals": ["AWS::S3::Object"]},
                        {
                            "field": "resources.ARN",
                            "starts_withs": [pulumi.Output.concat(tier, "/") for tier in args["bucket_arns"]],
                        },
                    ],
                },
            ],
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
        )
        self.trail_arn = trail.arn
        self.bucket_name = bucket.bucket_name
        register(self)


def _check(name: str, args: AuditTrailArgs) -> None:
    if not _TRAIL_NAME.fullmatch(args["trail_name"]):
        raise ValueError(
            f"{name}: trail_name is {args['trail_name']!r}, must have 3 to 128 letters, digits and single . _ or -"
        )
    if not args["bucket_arns"]:
        raise ValueError(f"{name}: bucket_arns is empty; a selector without a bucket records every one of the account")
    if not 1 <= args["lock_days"] <= args["retention_days"]:
        raise ValueError(
            f"{name}: lock_days is {args['lock_days']}, must be 1 to retention_days, which is {args['retention_days']}"
        )
