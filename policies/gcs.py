"""Buckets of Google Cloud, for every policy that asks what one is for."""

from __future__ import annotations

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_AUDIT_CONFIG, GCP_BUCKET


def receives_logs(bucket: RecordedResource, resources: Resources) -> bool:
    """Whether other buckets' access logs are written to it."""
    if resources.referring(bucket, "logging", GCP_BUCKET):
        return True
    name = value_at(bucket.inputs, "name", unknown=None)
    return name is not None and any(
        value_at(other.inputs, "logging", "logBucket", unknown="") == name for other in resources.of(GCP_BUCKET)
    )


def reads_are_recorded(resources: Resources) -> bool:
    """Whether the project's audit log has who reads and writes objects; without a word it has administrators only."""
    return any(
        value_at(config.inputs, "service") in ("allServices", "storage.googleapis.com")
        and {"DATA_READ", "DATA_WRITE"}
        <= {
            value_at(each, "logType")
            for each in list_at(config.inputs, "auditLogConfigs")
            if not list_at(each, "exemptedMembers")
        }
        for config in resources.of(GCP_AUDIT_CONFIG)
    )
