"""The database, keys, secrets and alarms."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions import DAYS_A_MONTH, HOURS_A_MONTH
from trainyard.cost.bound import vcpus
from trainyard.cost.context import UNKNOWN_DATABASE, CostEntry, NotPriced, PriceContext, unpriced
from trainyard.cost.model import Amounts, always
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, number_at, value_at
from trainyard.recorded.replicas import source_of

FREE_INSIGHTS_DAYS = 7
"""Retention of Performance Insights that costs nothing (RDS user guide, as generally known)."""

GP3_PLAIN, GP3_STRIPED = (3000, 125), (12000, 500)
"""IOPS and MiB/s that a gp3 storage includes, and one that is striped over four volumes."""

STRIPED_FROM_GIB = {"postgres": 400, "mysql": 400, "mariadb": 400, "oracle": 200, "db2": 400}
"""By engine: that of SQL Server never is (RDS user guide, "gp3 storage (recommended)", as generally known)."""

BILLED_ROTATIONS = 2
"""Rotations of a key that are billed: the first and the second add a key's price each, later ones nothing (KMS pricing,
as known)."""


def database(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Instances, one or two zones, storage that grows to its limit, backups, monitoring and the password's secret."""
    source = source_of(resource, context.resources) or resource
    engine = value_at(resource.inputs, "engine") or value_at(source.inputs, "engine")
    size = str(value_at(resource.inputs, "instanceClass"))
    copies = 2 if value_at(resource.inputs, "multiAz") else 1
    where = "2 zones" if copies == 2 else "1 zone"
    hours = always(copies * HOURS_A_MONTH)
    try:
        yield context.line(resource, f"{size} in {where}", f"rds.{engine}.{size}", hours)
    except NotPriced as missing:
        yield unpriced(resource, missing.what, UNKNOWN_DATABASE)
    gib = number_at(
        resource.inputs if is_set(resource.inputs, "allocatedStorage") else source.inputs, "allocatedStorage"
    )
    most = max(gib, number_at(resource.inputs, "maxAllocatedStorage", default=gib))
    kind = str(value_at(resource.inputs, "storageType") or value_at(source.inputs, "storageType") or "gp2")
    storage = Amounts(gib, gib, most).times(copies)
    yield context.line(resource, f"storage, {gib:g} to {most:g} GiB in {where}", f"rds.{kind}", storage)
    yield from _speed(resource, str(engine), kind, gib, copies, context)
    if number_at(resource.inputs, "backupRetentionPeriod", default=0) > 0:
        percent = context.usage("database_backup_percent", 1 / 100)
        backups = Amounts(percent.floor * gib, percent.expected * gib, percent.ceiling * most)
        yield context.line(resource, "backups beyond the free allowance", "rds.backup", backups)
    interval = number_at(resource.inputs, "monitoringInterval", default=0)
    if interval:
        logged = context.usage("enhanced_monitoring_gb", copies * 60 / interval)
        yield context.line(resource, "enhanced monitoring", "logs.ingestion", logged)
    if value_at(resource.inputs, "databaseInsightsMode") == "advanced":
        cores = vcpus(size.removeprefix("db."))
        if cores is None:
            yield unpriced(resource, "Database Insights, advanced", f"by the vCPU, and {size} does not say how many")
        else:
            yield context.line(resource, "Database Insights, advanced", "rds.insights.advanced", hours.times(cores))
    elif number_at(resource.inputs, "performanceInsightsRetentionPeriod", default=0) > FREE_INSIGHTS_DAYS:
        yield unpriced(
            resource,
            "Performance Insights beyond 7 days",
            "by the vCPU, at a price that its generation decides on: none was read",
            aside=True,
        )
    if value_at(resource.inputs, "manageMasterUserPassword"):
        yield context.line(resource, "password, as a managed secret", "secret", always(1))


def _speed(
    resource: RecordedResource, engine: str, kind: str, gib: float, copies: int, context: PriceContext
) -> Iterator[CostEntry]:
    """What is provisioned above what the storage includes: of gp3 more where it is striped, of io1 and io2 nothing."""
    iops = number_at(resource.inputs, "iops", default=0)
    throughput = number_at(resource.inputs, "storageThroughput", default=0)
    striped = STRIPED_FROM_GIB.get(engine.partition("-")[0])
    included = (0, 0) if kind != "gp3" else GP3_STRIPED if striped is not None and gib >= striped else GP3_PLAIN
    for what, given, free, unit in (
        ("IOPS", iops, included[0], f"rds.{kind}.iops"),
        ("throughput", throughput, included[1], f"rds.{kind}.throughput"),
    ):
        if given > free:
            above = f"provisioned {what}" + (f" above {free}" if free else "")
            yield context.line(resource, above, unit, always(copies * (given - free)))


def key(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A key is paid by the month, more once it has been rotated, and by requests."""
    yield context.line(resource, "key", "kms.key", always(1))
    if value_at(resource.inputs, "enableKeyRotation"):
        rotated = Amounts(0, 0, BILLED_ROTATIONS)
        yield context.line(resource, "first two rotations", "kms.key", rotated, note="none in the first year")
    yield context.line(resource, "requests", "kms.requests", context.usage("kms_requests_ten_thousand"))


def secret(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A secret is paid by the month and by requests."""
    yield context.line(resource, "secret", "secret", always(1))
    yield context.line(resource, "requests", "secret.requests", context.usage("secret_requests_ten_thousand"))


def budget_action(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Two budgets with actions are free in an account; others may have taken them."""
    days = Amounts(0, 0, DAYS_A_MONTH)
    yield context.line(resource, "budget action", "budget.action", days, note="free for the account's first two")


def alarm(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """An alarm is paid by the month, at standard resolution."""
    yield context.line(resource, "alarm", "cloudwatch.alarm", always(1))


def figures(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A workspace of Managed Service for Prometheus is paid by what is sent, kept and asked, which no stack says."""
    del context
    for what in ("samples that are sent", "figures that are kept", "samples that are asked for"):
        yield unpriced(resource, what, "no dated price was read")


def metric_filter(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The metric that a filter counts in is paid by the month in which it has figures, and ten of an account are free.

    Filters that count in one metric share its price.
    """
    counted = _metric(resource)
    sharing = [each for each in context.resources.of(resource.type) if _metric(each) == counted]
    amount = Amounts(0, 0, 1 / len(sharing))
    yield context.line(resource, "metric", "cloudwatch.metric", amount, note="free for the account's first ten")


def _metric(resource: RecordedResource) -> tuple[object, object]:
    transformed = "metricTransformation"
    return value_at(resource.inputs, transformed, "namespace"), value_at(resource.inputs, transformed, "name")


def dashboard(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """Three dashboards are free in an account; others may have taken them."""
    yield context.line(resource, "dashboard", "cloudwatch.dashboard", Amounts(0, 0, 1), note="free for the first three")


def tracking_server(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """An MLflow tracking server of SageMaker is paid by the hour, used or not."""
    if value_at(resource.inputs, "trackingServerSize") in (None, "Small"):
        yield context.line(resource, "tracking server", "sagemaker.tracking.small", always(HOURS_A_MONTH))
    else:
        yield unpriced(resource, "tracking server", "no price of its size in catalog/aws_services.csv")
