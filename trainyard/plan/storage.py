"""The storage tiers by purpose: who reads the data, how long versions are kept, wherever they lie."""

from __future__ import annotations

from trainyard.plan.context import Context
from trainyard.plan.parts import StoragePlan


def plan_storage(context: Context) -> StoragePlan:
    """Retention of the tiers, which is the same on every ground."""
    own = context.settings.storage

    def days(name: str, setting: str) -> int:
        given: int | None = getattr(own, name)
        return int(context.take(f"storage.{name}", f"storage.{setting}", given))

    return StoragePlan(
        data_access=context.take("storage.data_access", "storage.dataAccess", own.data_access),
        ingest_principals=context.ledger.decide(
            "storage.ingest_principals",
            tuple(dict.fromkeys(own.ingest_principals)),
            "setting storage.ingestPrincipals; nobody but the clusters' administrators by default",
        ),
        data_version_days=days("data_version_days", "dataVersionDays"),
        checkpoint_expire_days=days("checkpoint_expire_days", "checkpointExpireDays"),
        checkpoint_keep_versions=days("checkpoint_keep_versions", "checkpointKeepVersions"),
        multipart_cleanup_days=days("multipart_cleanup_days", "multipartCleanupDays"),
        artifact_retention_days=days("artifact_retention_days", "artifactRetentionDays"),
        artifact_transition_days=days("artifact_transition_days", "artifactTransitionDays"),
    )
