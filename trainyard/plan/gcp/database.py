"""PostgreSQL for the tracking server, on Cloud SQL."""

from __future__ import annotations

import re

from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import CloudSqlPlan

LARGEST_GIB = 65_536


def plan_database(context: Context) -> CloudSqlPlan:
    """The database's size, and how far its disk may grow by itself."""
    own, ledger = context.settings.mlflow.database, context.ledger
    tier = context.take("gcp.database.tier", "gcp.databaseTier", context.settings.gcp.database_tier, "database.tier")
    if not _is_sold(tier):
        allowed = "1 or an even number of CPUs up to 96, 0.9 to 6.5 GiB each in steps of 256 MiB, 3840 at least"
        ledger.problem("gcp.databaseTier", tier, f"must be {allowed}", "such as db-custom-2-7680")
    storage = int(context.take("database.storage_gib", "mlflow.database.storageGib", own.storage_gib))
    path = "database.max_storage_gib"
    if own.max_storage_gib is None and storage > int(context.figure(path)):
        maximum = ledger.decide(path, min(2 * storage, LARGEST_GIB), "twice what the stack file allocates")
    else:
        maximum = int(context.take(path, "mlflow.database.maxStorageGib", own.max_storage_gib))
    if maximum < storage:
        ledger.problem("mlflow.database.maxStorageGib", maximum, f"must be at least storageGib, which is {storage}")
    version = str(context.figure("gcp.database.version"))
    return CloudSqlPlan(
        version=ledger.decide("database.engine_version", version, context.source("gcp.database.version")),
        tier=tier,
        storage_gib=storage,
        max_storage_gib=maximum,
        highly_available=bool(context.take("database.multi_az", "mlflow.database.multiAz", own.multi_az)),
        backup_retention_days=int(
            context.take(
                "database.backup_retention_days", "mlflow.database.backupRetentionDays", own.backup_retention_days
            )
        ),
        deletion_protection=ledger.decide("database.deletion_protection", context.settings.protect, "setting protect"),
    )


def _is_sold(tier: str) -> bool:
    """Whether Cloud SQL has such a machine (Cloud SQL, "Instance settings", as in `components.gcp.database`)."""
    match = re.fullmatch(r"db-custom-(\d+)-(\d+)", tier)
    cpus, mib = (int(match[1]), int(match[2])) if match else (0, 0)
    fits = cpus == 1 or (cpus % 2 == 0 and 2 <= cpus <= 96)
    return fits and mib % 256 == 0 and mib >= 3840 and 0.9 * 1024 * cpus <= mib <= 6.5 * 1024 * cpus
