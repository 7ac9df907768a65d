"""PostgreSQL for the tracking server, on RDS."""

from __future__ import annotations

from trainyard import catalog
from trainyard.plan.aws.parts import DatabasePlan
from trainyard.plan.context import LOCKED, Context
from trainyard.problems import nearest

MIN_HEADROOM = 1.1
"""RDS refuses storage autoscaling up to less than a tenth above the allocated storage."""

LARGEST_GIB = 65_536


def plan_database(context: Context) -> DatabasePlan:
    """The database's size, and how far its disk may grow by itself."""
    own, aws, ledger = context.settings.mlflow.database, context.settings.aws, context.ledger
    known = [price.key.removeprefix("rds.postgres.") for price in catalog.service_prices("rds.postgres.")]
    path, setting = "database.instance_class", "aws.databaseInstanceClass"
    class_ = context.take(path, setting, aws.database_instance_class)
    if class_ not in known:
        ledger.problem(
            setting, class_, f"must be one of {', '.join(known)}, whose price is known", nearest(class_, known)
        )
        class_ = known[0]  # a stand-in, so that the rest can be priced
    storage = int(context.take("database.storage_gib", "mlflow.database.storageGib", own.storage_gib))
    path = "database.max_storage_gib"
    if own.max_storage_gib is None and storage * MIN_HEADROOM > int(context.figure(path)):
        maximum = ledger.decide(path, min(2 * storage, LARGEST_GIB), "twice what the stack file allocates")
    else:
        maximum = int(context.take(path, "mlflow.database.maxStorageGib", own.max_storage_gib))
    if maximum < storage * MIN_HEADROOM:
        allowed = f"must be at least a tenth above storageGib, which is {storage}"
        ledger.problem("mlflow.database.maxStorageGib", maximum, allowed)
    version, source = catalog.postgresql_version()
    return DatabasePlan(
        engine_version=ledger.decide("database.engine_version", version, source),
        instance_class=class_,
        storage_gib=storage,
        max_storage_gib=maximum,
        restore_from=_restore_from(context),
        multi_az=bool(context.take("database.multi_az", "mlflow.database.multiAz", own.multi_az)),
        backup_retention_days=int(
            context.take(
                "database.backup_retention_days", "mlflow.database.backupRetentionDays", own.backup_retention_days
            )
        ),
        deletion_protection=ledger.decide("database.deletion_protection", context.settings.protect, "setting protect"),
    )


def _restore_from(context: Context) -> str | None:
    """The snapshot that the database is made from. The lock keeps it: without it, the database would be made anew."""
    key, kept = "mlflow.database.restoreFrom", context.lock.restored_from
    given = context.settings.mlflow.database.restore_from
    if kept is not None:
        if given is not None and given != kept:
            context.contradiction(key, given, kept, "restoredFrom")
        return context.ledger.decide("database.restore_from", kept, LOCKED)
    return context.ledger.decide("database.restore_from", given, f"setting {key}" if given else "it begins empty")
