"""Security: data travels over TLS only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import everybody
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.policy_documents import asks_whether, statements
from trainyard.recorded.read import is_set, list_at, mapping_at, value_at
from trainyard.recorded.replicas import is_like_its_source, source_of
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import BUCKET, BUCKET_POLICY, CLOUD_SQL, DATABASE, DATABASE_PARAMETERS


@stack_rule(
    "bucket-accepts-plain-http",
    "Every bucket refuses requests without TLS.",
    types=(BUCKET, BUCKET_POLICY),
    severity=Severity.HIGH,
    controls=("CIS AWS 3.0.0 2.1.1", "NIST 800-53r5 SC-8", "ISO 27001:2022 A.8.24"),
    fix="Use the storage tiers as they are; their bucket policies deny aws:SecureTransport false.",
)
def bucket_accepts_plain_http(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Checks S3 only: Google Cloud's storage has no endpoint without TLS."""
    for bucket in resources.of(BUCKET):
        policies = resources.referring(bucket, "bucket", BUCKET_POLICY)
        denials = [
            statement
            for policy in policies
            for statement in statements(policy.inputs, "policy")
            if value_at(statement, "Effect") == "Deny"
            and asks_whether(statement, "aws:SecureTransport", "false")
            and everybody(statement)
            and {"s3:*", "*"} & {str(action) for action in list_at(statement, "Action")}
        ]
        if not denials:
            yield bucket, "no bucket policy denies requests without TLS"


@stack_rule(
    "database-accepts-plain-connections",
    "The database refuses connections without TLS.",
    types=(DATABASE, DATABASE_PARAMETERS, CLOUD_SQL),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-8", "ISO 27001:2022 A.8.24"),
    fix="Use the database as it is; its parameter group sets rds.force_ssl.",
)
def database_accepts_plain_connections(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """RDS for PostgreSQL: `rds.force_ssl` of the parameter group; Cloud SQL: its TLS mode."""
    for database in resources.of(DATABASE):
        source = source_of(database, resources) if is_like_its_source(database) else None
        told = source if source is not None and not is_set(database.inputs, "parameterGroupName") else database
        forced = [
            found
            for found in resources.of(DATABASE_PARAMETERS)
            if refers(told, "parameterGroupName", found)
            and any(_is_one(mapping_at(entry)) for entry in list_at(found.inputs, "parameters"))
        ]
        if not forced:
            yield database, "its parameter group does not set rds.force_ssl to 1"
    for database in resources.of(CLOUD_SQL):
        mode = value_at(database.inputs, "settings", "ipConfiguration", "sslMode")
        if mode not in ("ENCRYPTED_ONLY", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"):
            yield database, f"settings.ipConfiguration.sslMode is {mode or 'not set'}"


def _is_one(parameter: dict[str, Any]) -> bool:
    return parameter.get("name") == "rds.force_ssl" and str(parameter.get("value")) == "1"
