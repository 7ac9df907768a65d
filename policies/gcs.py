"""Buckets of Google Cloud, and what of them is on record, for every policy that asks."""

from __future__ import annotations

from trainyard.conventions.gcp import LOG_DELIVERY
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_AUDIT_CONFIG, GCP_BUCKET
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.project import Project, object_name

STORAGE, KEYS = "storage.googleapis.com", "cloudkms.googleapis.com"
"""Services whose reads and writes of data an audit log has where it is asked to."""


def receives_logs(bucket: RecordedResource, resources: Resources) -> bool:
    """Whether other buckets' access logs are written to it."""
    if resources.referring(bucket, "logging", GCP_BUCKET):
        return True
    name = value_at(bucket.inputs, "name", unknown=None)
    return name is not None and any(
        value_at(other.inputs, "logging", "logBucket", unknown="") == name for other in resources.of(GCP_BUCKET)
    )


def access_log_arrives(bucket: RecordedResource, resources: Resources) -> bool:
    """Whether access to a bucket is logged, and Google may write the log where it is to be.

    A bucket that is not of the stack is believed.
    """
    named = value_at(bucket.inputs, "logging", "logBucket", unknown=None)
    if not named:
        return "logging" in bucket.inputs and bool(resources.referred(bucket, "logging", GCP_BUCKET))
    project = Project(resources)
    logs = project.bucket(str(named))
    if logs is None:
        return True
    who = Caller("Google's log delivery", group=LOG_DELIVERY)
    return not project.may(who, "storage.objects.create", object_name(logs, "access_usage")).refused


def reads_are_recorded(resources: Resources, service: str) -> bool:
    """Whether the project's audit log has who reads and writes data; without a word it has administrators only."""
    return any(
        value_at(config.inputs, "service") in ("allServices", service)
        and {"DATA_READ", "DATA_WRITE"}
        <= {
            value_at(each, "logType")
            for each in list_at(config.inputs, "auditLogConfigs")
            if not list_at(each, "exemptedMembers")
        }
        for config in resources.of(GCP_AUDIT_CONFIG)
    )
