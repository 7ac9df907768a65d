"""Databases that are copies of another one, and what such a copy takes from its source."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CLOUD_SQL, DATABASE

_SOURCE: Final = {DATABASE: "replicateSourceDb", CLOUD_SQL: "masterInstanceName"}


def is_replica(resource: RecordedResource) -> bool:
    """Whether a database is a read replica: the backups are its source's, and RDS refuses a final snapshot of one."""
    source = _SOURCE.get(resource.type)
    return source is not None and is_set(resource.inputs, source)


def is_like_its_source(resource: RecordedResource) -> bool:
    """Whether a replica has its source's engine, version, encryption and parameters, as far as it does not say them.

    Of RDS in the source's own region, where it is named by its identifier (Amazon RDS API, CreateDBInstanceReadReplica,
    as generally known in 2026-11): in another region it is an ARN, and the key has to be one of that region's. Cloud
    SQL refuses a replica in another region that does not say its key ("About replication", as generally known).
    """
    if not is_replica(resource):
        return False
    if resource.type == CLOUD_SQL:
        return True
    return not str(value_at(resource.inputs, _SOURCE[DATABASE], unknown="")).startswith("arn:")


def source_of(resource: RecordedResource, resources: Resources) -> RecordedResource | None:
    """The database that one is a copy of, where the same stack makes it."""
    if not is_replica(resource):
        return None
    key = _SOURCE[resource.type]
    made_of = resources.referred(resource, key, resource.type)
    if made_of:
        return made_of[0]
    name = str(value_at(resource.inputs, key, unknown=""))
    called = "identifier" if resource.type == DATABASE else "name"
    return next((found for found in resources.of(resource.type) if value_at(found.inputs, called) == name), None)
