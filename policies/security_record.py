"""Security: nobody takes back what is on record: the trail's files or the project's logs, and the logs of access to
buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import everybody
from trainyard.policies.gcs import receives_logs
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import is_on, is_set, list_at, number_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_LOGGING,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    GCP_BUCKET,
    GCP_LOG_BUCKET,
    GCP_LOG_SINK,
    TRAIL,
)


@stack_rule(
    "record-can-be-changed",
    "Nobody changes or deletes a trail's file unnoticed: digests prove it, a lock holds it, its own key encrypts it.",
    types=(TRAIL, BUCKET, BUCKET_OBJECT_LOCK, GCP_LOG_BUCKET, GCP_LOG_SINK),
    severity=Severity.HIGH,
    controls=("CIS AWS 3.0.0 3.2", "CIS AWS 3.0.0 3.5", "NIST 800-53r5 AU-9", "ISO 27001:2022 A.8.15"),
    fix="Use the trail as it is; audit.trail.lockDays says how long its files are locked.",
    config={"minLockDays": {"type": "number", "minimum": 1, "default": 30}},
)
def record_can_be_changed(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A bucket that is not of the stack is locked by whoever made it.

    Nobody deletes single entries of a log bucket of Google's own; whoever may change it makes its days fewer.
    """
    for sink in resources.of(GCP_LOG_SINK):
        for bucket in resources.referred(sink, "destination", GCP_LOG_BUCKET) or _named(sink, resources):
            if not is_set(bucket.inputs, "cmekSettings", "kmsKeyName"):
                yield bucket, "cmekSettings is not set: whoever may read the bucket reads the record"
            days = number_at(bucket.inputs, "retentionDays", default=30)
            if days < config["minLockDays"]:
                yield (
                    bucket,
                    f"entries are kept {count(round(days), 'day')}; at least {config['minLockDays']:.0f} are required",
                )
    for trail in resources.of(TRAIL):
        if not is_on(trail.inputs, "enableLogFileValidation"):
            yield trail, "enableLogFileValidation is off: a changed file looks like any other"
        if not is_set(trail.inputs, "kmsKeyId"):
            yield trail, "kmsKeyId is not set: whoever may read the bucket reads the record"
        for bucket in resources.of(BUCKET):
            if refers(trail, "s3BucketName", bucket):
                days = _locked_days(bucket, resources)
                if days < config["minLockDays"]:
                    yield (
                        bucket,
                        f"files are locked {count(round(days), 'day')}; at least "
                        f"{config['minLockDays']:.0f} are required",
                    )


def _named(sink: RecordedResource, resources: Resources) -> list[RecordedResource]:
    """The log buckets that a sink's destination names by their text."""
    destination = str(value_at(sink.inputs, "destination", unknown=""))
    return [
        bucket
        for bucket in resources.of(GCP_LOG_BUCKET)
        if destination.endswith(f"/buckets/{value_at(bucket.inputs, 'bucketId', unknown='?')}")
    ]


def _locked_days(bucket: RecordedResource, resources: Resources) -> float:
    for lock in resources.referring(bucket, "bucket", BUCKET_OBJECT_LOCK):
        kept = value_at(lock.inputs, "rule", "defaultRetention")
        if value_at(kept, "mode") in ("GOVERNANCE", "COMPLIANCE"):
            return number_at(kept, "days", default=0) + 365 * number_at(kept, "years", default=0)
    return 0


@stack_rule(
    "access-logs-can-be-deleted",
    "Nobody deletes an access log before its time without changing the bucket's policy, which is on record.",
    types=(BUCKET, BUCKET_LOGGING, BUCKET_POLICY, GCP_BUCKET),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 AU-9", "ISO 27001:2022 A.8.15"),
    fix="Use the storage tiers as they are; the log bucket's policy denies deletion while protect is true.",
)
def access_logs_can_be_deleted(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """S3 delivers access logs to no bucket that has an object lock. A bucket without protection is about to go."""
    for bucket in resources.of(BUCKET):
        if not bucket.protect or not resources.referring(bucket, "targetBucket", BUCKET_LOGGING):
            continue
        policies = resources.referring(bucket, "bucket", BUCKET_POLICY)
        if not any(_keeps(statement) for policy in policies for statement in statements(policy.inputs, "policy")):
            yield bucket, "its policy lets whoever may write there delete access logs"
    for bucket in resources.of(GCP_BUCKET):
        held = number_at(bucket.inputs, "retentionPolicy", "retentionPeriod", default=0)
        if bucket.protect and not held and receives_logs(bucket, resources):
            yield bucket, "retentionPolicy is not set: whoever may write there deletes access logs"


def _keeps(statement: Mapping[str, Any]) -> bool:
    actions = set(list_at(statement, "Action"))
    deletes = {"s3:DeleteObject", "s3:DeleteObjectVersion"} <= actions or bool(
        actions & {"s3:Delete*", "s3:DeleteObject*"}
    )
    whole = any(str(resource).endswith("/*") for resource in list_at(statement, "Resource"))
    denies = value_at(statement, "Effect") == "Deny" and everybody(statement) and not is_set(statement, "Condition")
    return denies and deletes and whole
