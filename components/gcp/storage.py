"""The storage tiers by purpose: data, checkpoints and artifacts, each a bucket with a lifecycle of its own."""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.storage as storage

from trainyard.components.gcp.buckets import GcsBucket, GcsBucketArgs, GcsNetworksArgs
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.gcp import LOG_DELIVERY

COUNTER_ROLE: Final = "roles/storage.legacyBucketReader"
"""To see a bucket and list its objects, not to read one. Google's instructions make a role of the project for this,
which may make caches too; its name would be taken by the first environment, and for weeks after its end."""


LONGEST_CACHE_HOURS: Final = 168
"""Seven days (Cloud Storage, "Anywhere Cache", as generally known: a time to live of one hour to seven days)."""


class GcsTierKeysArgs(TypedDict):
    """Keys of the tiers, in the buckets' location."""

    data: pulumi.Input[str]
    """Key of the data."""
    checkpoints: pulumi.Input[str]
    """Key of the checkpoints."""
    artifacts: pulumi.Input[str]
    """Key of the artifacts."""
    logs: pulumi.Input[str]
    """Key of the access logs."""


class GcsDataCacheArgs(TypedDict):
    """Caches of the data on SSDs, one a zone: what its nodes have read comes from there the next time."""

    zones: Sequence[str]
    """Zones of the nodes that read, in the bucket's region."""
    hours: int
    """Hours that something is kept after it was read: 1 to 168."""


class GcsStorageTiersArgs(TypedDict):
    """What `GcsStorageTiers` needs."""

    location: pulumi.Input[str]
    """Region of the buckets."""
    key_ids: GcsTierKeysArgs
    """The keys."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill, besides the tier."""
    data_version_days: int
    """Days that a superseded version of the data is kept."""
    checkpoint_keep_versions: int
    """How many superseded versions of a checkpoint are kept at most."""
    checkpoint_expire_days: int
    """Days after which a superseded checkpoint goes; the newest never does."""
    artifact_retention_days: int
    """Days that a superseded artifact is kept."""
    artifact_transition_days: int
    """Days after which an artifact moves to Nearline."""
    access_log_days: int
    """Days that an access log is kept, at least `access_log_lock_days`."""
    access_log_lock_days: int
    """Days in which nobody deletes an access log, while `protect` is true or `access_logs_locked` is."""
    access_logs_locked: bool
    """Whether those days can never be made fewer again: no way back, and no bucket that could be deleted sooner."""
    multipart_cleanup_days: int
    """Days after which unfinished uploads go."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the buckets."""
    networks: NotRequired[GcsNetworksArgs]
    """From where data, checkpoints and artifacts are reached. Default: from everywhere, by who has a right."""
    data_cache: NotRequired[GcsDataCacheArgs]
    """Caches of the data beside the nodes. Default: none."""
    counter_email: NotRequired[pulumi.Input[str]]
    """Account of GKE in the project, which counts the objects that pods mount by Google's profiles for training and
    checkpoints. Default: nobody counts, and pods with such volumes wait for ever."""


def _reached(bucket: GcsBucketArgs, networks: GcsNetworksArgs | None) -> GcsBucketArgs:
    """A bucket with the networks that it is reached from, where these are said."""
    return bucket if networks is None else {**bucket, "networks": networks}


def _cache(name: str, bucket: pulumi.Output[str], zone: str, hours: int, parent: pulumi.Resource) -> None:
    """A cache in a zone: what is read the first time goes in. Google takes up to four hours to make one
    (terraform-provider-google-beta, 2026-08-21), and nothing waits for it."""
    if not 1 <= hours <= LONGEST_CACHE_HOURS:
        raise ValueError(f"data_cache: hours {hours}; 1 to {LONGEST_CACHE_HOURS}")
    storage.AnywhereCache(
        name,
        bucket=bucket,
        zone=zone,
        ttl=f"{hours * 3600}s",
        opts=pulumi.ResourceOptions(parent=parent, custom_timeouts=pulumi.CustomTimeouts(create="5h", delete="5h")),
    )


class GcsStorageTiers(pulumi.ComponentResource):
    """Three buckets, and a fourth for their access logs, which Google's own group writes and nobody deletes in time.

    `depends_on` is what the four wait for: the right of Cloud Storage on the keys.
    """

    data_bucket: pulumi.Output[str]
    """Name of the bucket of the data."""
    checkpoints_bucket: pulumi.Output[str]
    """Name of the bucket of the checkpoints."""
    artifacts_bucket: pulumi.Output[str]
    """Name of the bucket of the artifacts."""

    def __init__(self, name: str, args: GcsStorageTiersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for names and days that Google refuses."""
        super().__init__("trainyard:index:GcsStorageTiers", name, None, opts)
        encrypted = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        uploads = args["multipart_cleanup_days"]

        def labels(tier: str) -> dict[str, pulumi.Input[str]]:
            return {**args["labels"], "tier": tier}

        access_logs: GcsBucketArgs = {
            "location": args["location"],
            "labels": labels("logs"),
            "key_id": args["key_ids"]["logs"],
            "lifecycle_rules": [{"expire_days": args["access_log_days"]}, {"abort_uploads_days": uploads}],
            "protect": args["protect"],
        }
        if args["protect"] or args["access_logs_locked"]:
            access_logs["retention_days"] = args["access_log_lock_days"]
            access_logs["retention_locked"] = args["access_logs_locked"]
        logs = GcsBucket(f"{name}-logs", access_logs, encrypted)
        delivered = storage.BucketIAMMember(
            f"{name}-logs-delivery",
            bucket=logs.bucket_name,
            role="roles/storage.objectCreator",
            member=f"group:{LOG_DELIVERY}",
            opts=pulumi.ResourceOptions(parent=self),
        )
        encrypted = pulumi.ResourceOptions(parent=self, depends_on=[*prerequisites(opts), delivered])
        data = GcsBucket(
            f"{name}-data",
            _reached(
                {
                    "location": args["location"],
                    "labels": labels("data"),
                    "key_id": args["key_ids"]["data"],
                    "log_bucket": logs.bucket_name,
                    "lifecycle_rules": [
                        {"superseded_expire_days": args["data_version_days"]},
                        {"abort_uploads_days": uploads},
                    ],
                    "protect": args["protect"],
                },
                args.get("networks"),
            ),
            encrypted,
        )
        checkpoints = GcsBucket(
            f"{name}-checkpoints",
            _reached(
                {
                    "location": args["location"],
                    "labels": labels("checkpoints"),
                    "key_id": args["key_ids"]["checkpoints"],
                    "log_bucket": logs.bucket_name,
                    # What is overwritten is billed until it goes: the lifecycle says when, no soft deletion beside it.
                    "soft_delete_days": 0,
                    "lifecycle_rules": [
                        {"superseded_keep_versions": args["checkpoint_keep_versions"]},
                        {"superseded_expire_days": args["checkpoint_expire_days"]},
                        {"abort_uploads_days": uploads},
                    ],
                    "protect": args["protect"],
                },
                args.get("networks"),
            ),
            encrypted,
        )
        artifacts = GcsBucket(
            f"{name}-artifacts",
            _reached(
                {
                    "location": args["location"],
                    "labels": labels("artifacts"),
                    "key_id": args["key_ids"]["artifacts"],
                    "log_bucket": logs.bucket_name,
                    "lifecycle_rules": [
                        {"superseded_expire_days": args["artifact_retention_days"]},
                        {"nearline_days": args["artifact_transition_days"]},
                        {"abort_uploads_days": uploads},
                    ],
                    "protect": args["protect"],
                },
                args.get("networks"),
            ),
            encrypted,
        )
        self.data_bucket, self.checkpoints_bucket = data.bucket_name, checkpoints.bucket_name
        self.artifacts_bucket = artifacts.bucket_name
        cache = args.get("data_cache")
        for zone in cache["zones"] if cache is not None else ():
            _cache(f"{name}-data-{zone}", self.data_bucket, zone, cache["hours"] if cache else 1, self)
        # The rights of `counter_email`, which pods that mount data or checkpoints wait for.
        self.counted: list[pulumi.Resource] = []
        if "counter_email" in args:
            member = pulumi.Output.concat("serviceAccount:", args["counter_email"])
            self.counted += [
                storage.BucketIAMMember(
                    f"{name}-{tier}-counted",
                    bucket=bucket,
                    role=COUNTER_ROLE,
                    member=member,
                    opts=pulumi.ResourceOptions(parent=self),
                )
                for tier, bucket in (("data", self.data_bucket), ("checkpoints", self.checkpoints_bucket))
            ]
        register(self)
