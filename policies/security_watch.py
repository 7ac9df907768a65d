"""Security: who did what is on record, and somebody looks for what is wrong in it.

What a stack does not record itself is another's task: the stack file says whose and why (`audit.trail`,
`audit.threatDetection`), or the configuration `elsewhere` does where somebody else decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.gcs import KEYS, STORAGE, access_log_arrives, reads_are_recorded, receives_logs
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.stack_settings import part_of
from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.read import is_on, list_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_LOGGING,
    GCP_AUDIT_CONFIG,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_LOG_EXCLUSION,
    GCP_LOG_SINK,
    TRAIL,
)

ELSEWHERE: Mapping[str, Mapping[str, Any]] = {
    "elsewhere": {"type": "boolean", "default": False, "description": "The account has one that is not of the stack."}
}
EVERY_LOG = re.compile(r"\s*|\s*severity\s*>=\s*\"?DEFAULT\"?\s*|\s*(logName|resource\.type|timestamp):\*\s*")
"""Filters that every entry of a log of Google Cloud passes."""
KEYS_SOURCE = "kms.amazonaws.com"
OBJECTS = "AWS::S3::Object"
_NARROWS = ("readOnly", "eventName", "userIdentity.arn", "eventType", "sessionCredentialFromConsole")
"""Fields of a selector with which it records a part of what happens only."""


def unless_elsewhere(key: str, config: Config) -> None:
    """Ends the policy where somebody else does it, or the stack file says why nobody does."""
    by = part_of("audit", key, "by")
    if config["elsewhere"] or by not in ("", "stack"):
        raise NotApplicable(f"the stack file says that it is not the stack's task: {by or 'elsewhere'}")


@stack_rule(
    "objects-without-trail",
    "A trail records what is done in the account, every use of a key, and every read and write of an object.",
    types=(
        BUCKET,
        BUCKET_LOGGING,
        TRAIL,
        GCP_BUCKET,
        GCP_AUDIT_CONFIG,
        GCP_CRYPTO_KEY,
        GCP_LOG_EXCLUSION,
        GCP_LOG_SINK,
        "gcp:storage/bucketIAM*",
        "gcp:projects/iAM*",
    ),
    severity=Severity.HIGH,
    controls=("CIS AWS 3.0.0 3.1", "CIS AWS 3.0.0 3.8", "CIS AWS 3.0.0 3.9", "NIST 800-53r5 AU-12"),
    fix="Leave audit.trail to the stack, or say in audit.trail whose trail it is and why.",
    config=ELSEWHERE,
)
def objects_without_trail(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Buckets of records are apart: a trail that records its own deliveries never ends."""
    unless_elsewhere("trail", config)
    trails = [trail for trail in resources.of(TRAIL) if value_at(trail.inputs, "enableLogging") is not False]
    buckets = [bucket for bucket in resources.of(BUCKET) if not _holds_records(bucket, resources)]
    if buckets and not trails:
        yield None, "no trail records who does what"
        buckets = []
    if trails and not any(_everywhere(trail) for trail in trails):
        yield trails[0], "records one region only: IAM's events are those of another"
    if trails and not any(_records_management(trail) for trail in trails):
        yield trails[0], "does not record everything that is done in the account, uses of keys among it"
    for bucket in buckets:
        if not any(_records_objects(trail, bucket) for trail in trails):
            yield bucket, "no trail records who reads and writes its objects"
    yield from _on_google_cloud(resources)


def _on_google_cloud(resources: Resources) -> Iterator[StackViolation]:
    """Google delivers access logs as it can; a stack that asks for audit logs has those of objects and keys."""
    configs = resources.of(GCP_AUDIT_CONFIG)
    for bucket in resources.of(GCP_BUCKET) if not reads_are_recorded(resources, STORAGE) else ():
        if receives_logs(bucket, resources):
            continue
        if configs:
            yield bucket, "the project's audit log does not have who reads and writes its objects, of everybody"
        elif not access_log_arrives(bucket, resources):
            yield bucket, "neither its access log nor the project's audit log records who reads and writes its objects"
    shut = [one for one in resources.of(GCP_LOG_EXCLUSION) if _whole(one) and not is_on(one.inputs, "disabled")]
    kept = any(
        _whole(sink) and not list_at(sink.inputs, "exclusions") and not is_on(sink.inputs, "disabled")
        for sink in resources.of(GCP_LOG_SINK)
    )
    if shut and not kept:
        yield shut[0], "keeps every log out of _Default, and no sink takes every log: what none takes is lost"
    for key in resources.of(GCP_CRYPTO_KEY) if configs and not reads_are_recorded(resources, KEYS) else ():
        yield key, "the project's audit log does not have who uses it"


def _whole(found: RecordedResource) -> bool:
    """Whether an exclusion or a sink is about every entry of a log."""
    return bool(EVERY_LOG.fullmatch(str(value_at(found.inputs, "filter", default=""))))


def _holds_records(bucket: RecordedResource, resources: Resources) -> bool:
    return bool(
        resources.referring(bucket, "targetBucket", BUCKET_LOGGING)
        or resources.referring(bucket, "s3BucketName", TRAIL)
    )


def _everywhere(trail: RecordedResource) -> bool:
    return (
        is_on(trail.inputs, "isMultiRegionTrail") and value_at(trail.inputs, "includeGlobalServiceEvents") is not False
    )


def _fields(selector: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(value_at(field, "field")): field for field in mappings_at(selector, "fieldSelectors")}


def _records_management(trail: RecordedResource) -> bool:
    advanced = [_fields(selector) for selector in mappings_at(trail.inputs, "advancedEventSelectors")]
    if advanced:
        return any(set(fields) == {"eventCategory"} and _of(fields, "Management") for fields in advanced)
    basic = mappings_at(trail.inputs, "eventSelectors")
    return not basic or any(
        value_at(selector, "includeManagementEvents") is not False
        and value_at(selector, "readWriteType") in (None, "All")
        and KEYS_SOURCE not in list_at(selector, "excludeManagementEventSources")
        for selector in basic
    )


def _of(fields: Mapping[str, Mapping[str, Any]], category: str) -> bool:
    return list_at(fields.get("eventCategory", {}), "equals") == [category]


def _records_objects(trail: RecordedResource, bucket: RecordedResource) -> bool:
    for fields in (_fields(selector) for selector in mappings_at(trail.inputs, "advancedEventSelectors")):
        whole = _of(fields, "Data") and list_at(fields.get("resources.type", {}), "equals") == [OBJECTS]
        if whole and not any(field in fields for field in _NARROWS):
            named = fields.get("resources.ARN")
            if named is None or _begins(named.get("startsWiths"), "advancedEventSelectors", trail, bucket):
                return True
    return any(
        value_at(selector, "readWriteType") in (None, "All")
        and value_at(resource, "type") == OBJECTS
        and _begins(resource.get("values"), "eventSelectors", trail, bucket)
        for selector in mappings_at(trail.inputs, "eventSelectors")
        for resource in mappings_at(selector, "dataResources")
    )


def _begins(beginnings: Any, key: str, trail: RecordedResource, bucket: RecordedResource) -> bool:
    """Whether the ARN of every object of a bucket begins like one of them; by what they are made of, if unknown."""
    name = value_at(bucket.inputs, "bucket", unknown=None)
    if name is None or has_unknown(beginnings):
        return refers(trail, key, bucket)
    return any(f"arn:aws:s3:::{name}/".startswith(text) for text in texts_at(beginnings or []))
