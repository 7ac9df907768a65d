"""A bucket of Cloud Storage with everything that a bucket of the environment must have.

Encrypted with the environment's key, never public, rights by IAM alone, access logged, versions, soft deletion or days
in which nothing is deleted, and a lifecycle.
"""

import re
from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.storage as storage

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,54}")
"""Logical names that a bucket may have: Pulumi appends 8 characters, Google takes 63."""


class GcsLifecycleRuleArgs(TypedDict):
    """One rule of a bucket's lifecycle: what it does is what is given."""

    superseded_keep_versions: NotRequired[int]
    """Versions older than so many newer ones are deleted."""
    superseded_expire_days: NotRequired[int]
    """Days after which a superseded version is deleted."""
    nearline_days: NotRequired[int]
    """Days after which an object moves to Nearline, which costs half as much and a cent a GB to read."""
    expire_days: NotRequired[int]
    """Days after which an object is deleted."""
    abort_uploads_days: NotRequired[int]
    """Days after which the parts of an upload that was never completed are deleted."""


class GcsNetworksArgs(TypedDict):
    """From where a bucket is reached, whoever asks; agents of Google's services are let by beside it."""

    network_id: pulumi.Input[str]
    """The VPC network: `VpcNetwork.network_id`."""
    cidrs: Sequence[pulumi.Input[str]]
    """CIDR blocks of that network, at least one: of nodes and of pods."""
    public_cidrs: Sequence[str]
    """Public CIDR blocks besides: of whoever deploys, and of people."""


class GcsBucketArgs(TypedDict):
    """What differs between the environment's buckets."""

    location: pulumi.Input[str]
    """Region of the bucket: a multi-region or a pair of regions would leave it."""
    lifecycle_rules: Sequence[GcsLifecycleRuleArgs]
    """The rules of its lifecycle, at least one."""
    labels: dict[str, pulumi.Input[str]]
    """Labels on the bill."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the bucket."""
    key_id: NotRequired[pulumi.Input[str]]
    """Key of the default encryption, in the bucket's location. Default: Google's own."""
    log_bucket: NotRequired[pulumi.Input[str]]
    """Bucket that receives the access logs. Default: access is not logged (the log bucket itself)."""
    networks: NotRequired[GcsNetworksArgs]
    """From where it is reached. What was once said can be switched off, and never taken back. Default: from everywhere,
    by who has a right."""
    folders: NotRequired[bool]
    """Whether folders are objects of their own, which are renamed at once and can have rights. Excludes versions.
    Default: no."""
    retention_days: NotRequired[int]
    """Days in which nobody deletes or overwrites an object, at least 1. Excludes versions: what cannot be overwritten
    has none. Default: whoever has the right may."""
    retention_locked: NotRequired[bool]
    """Whether those days can never be made fewer again, by nobody. Default: no."""
    soft_delete_days: NotRequired[int]
    """Days that deleted objects can be brought back, and are billed: 0, or 7 to 90. Default: 7."""


class GcsBucket(pulumi.ComponentResource):
    """A hardened bucket. It is never emptied by a destroy.

    `depends_on` is what it waits for: the right of Cloud Storage on its key.
    """

    bucket_name: pulumi.Output[str]
    """Name of the bucket."""
    url: pulumi.Output[str]
    """gs://NAME, without a slash at its end."""

    def __init__(self, name: str, args: GcsBucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name, days or rules that Google refuses."""
        super().__init__("trainyard:index:GcsBucket", name, None, opts)
        days = args.get("soft_delete_days", 7)
        if not _NAME.fullmatch(name) or name.startswith("goog") or "google" in name:
            raise ValueError(f"bucket {name!r}: 2 to 55 of a-z, 0-9 and '-', no 'goog' in front and no 'google' in it")
        if days != 0 and not 7 <= days <= 90:
            raise ValueError(f"bucket {name!r}: soft_delete_days {days}; 0, or 7 to 90")
        if not args["lifecycle_rules"]:
            raise ValueError(
                f"bucket {name!r}: lifecycle_rules are empty; what is superseded stays and is billed for ever"
            )
        kept = args.get("retention_days")
        expires = [rule["expire_days"] for rule in args["lifecycle_rules"] if "expire_days" in rule]
        if kept is not None and (kept < 1 or any(days < kept for days in expires)):
            raise ValueError(f"bucket {name!r}: retention_days {kept}; at least 1, and no more than what expires lives")
        key, logs = args.get("key_id"), args.get("log_bucket")
        bucket = storage.Bucket(
            name,
            location=args["location"],
            storage_class="STANDARD",
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            versioning=None if args.get("folders") else {"enabled": kept is None},
            retention_policy=(
                {"retention_period": str(kept * 86_400), "is_locked": args.get("retention_locked", False)}
                if kept is not None
                else None
            ),
            hierarchical_namespace={"enabled": True} if args.get("folders") else None,
            soft_delete_policy={"retention_duration_seconds": days * 86_400},
            encryption={"default_kms_key_name": key} if key is not None else None,
            logging={"log_bucket": logs, "log_object_prefix": name} if logs is not None else None,
            lifecycle_rules=[found for rule in args["lifecycle_rules"] for found in _rules(rule)],
            ip_filter=_filter(args["networks"]) if "networks" in args else None,
            labels=args["labels"],
            force_destroy=False,
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], depends_on=prerequisites(opts)),
        )
        self.bucket_name, self.url = bucket.name, bucket.url
        register(self)


def _filter(networks: GcsNetworksArgs) -> storage.BucketIpFilterArgsDict:
    """Google's own services come from no network: GKE counts objects, the log service writes."""
    found: storage.BucketIpFilterArgsDict = {
        "mode": "Enabled",
        "allow_all_service_agent_access": True,
        "vpc_network_sources": [{"network": networks["network_id"], "allowed_ip_cidr_ranges": list(networks["cidrs"])}],
    }
    if networks["public_cidrs"]:
        found["public_network_source"] = {"allowed_ip_cidr_ranges": list(networks["public_cidrs"])}
    return found


def _rules(rule: GcsLifecycleRuleArgs) -> list[storage.BucketLifecycleRuleArgsDict]:
    found: list[storage.BucketLifecycleRuleArgsDict] = []
    if "superseded_keep_versions" in rule:
        condition: storage.BucketLifecycleRuleConditionArgsDict = {
            "num_newer_versions": rule["superseded_keep_versions"],
            "with_state": "ARCHIVED",
        }
        found.append({"action": {"type": "Delete"}, "condition": condition})
    if "superseded_expire_days" in rule:
        condition = {"days_since_noncurrent_time": rule["superseded_expire_days"], "with_state": "ARCHIVED"}
        found.append({"action": {"type": "Delete"}, "condition": condition})
    if "nearline_days" in rule:
        moved: storage.BucketLifecycleRuleActionArgsDict = {"type": "SetStorageClass", "storage_class": "NEARLINE"}
        found.append({"action": moved, "condition": {"age": rule["nearline_days"], "with_state": "LIVE"}})
    if "expire_days" in rule:
        found.append({"action": {"type": "Delete"}, "condition": {"age": rule["expire_days"]}})
    if "abort_uploads_days" in rule:
        found.append(
            {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": rule["abort_uploads_days"]}}
        )
    return found
