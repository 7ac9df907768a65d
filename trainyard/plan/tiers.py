"""Storage tiers, the tracking server with its database, and the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainyard import catalog
from trainyard.plan.ledger import Ledger
from trainyard.plan.model import BudgetPlan, DatabasePlan, LustrePlan, MlflowPlan, PoolPlan, StoragePlan
from trainyard.plan.profiles import Profile
from trainyard.plan.request import LustreRequest, MlflowRequest, PlanRequest, StorageRequest, TeamRequest
from trainyard.problems import nearest

LUSTRE_FIRST_STEPS = (1200, 2400)
LUSTRE_STEP = 2400
LUSTRE_THROUGHPUTS = (125, 250, 500, 1000)
_RDS_MIN_HEADROOM = 1.1
"""RDS refuses storage autoscaling up to less than a tenth above the allocated storage."""


def _take(
    path: str, setting: str, given: int | bool | str | None, profile: Profile, ledger: Ledger, key: str = ""
) -> object:
    if given is not None:
        return ledger.decide(key or path, given, f"setting {setting}")
    return ledger.decide(key or path, profile.figure(path).value, profile.source(path))


def plan_storage(
    request: StorageRequest,
    zones: Sequence[str],
    pools: Sequence[PoolPlan],
    team_size: int,
    protect: bool,
    profile: Profile,
    ledger: Ledger,
) -> StoragePlan:
    """The tiers by purpose: data, checkpoints, artifacts."""

    def days(name: str, setting: str, least: int = 1) -> int:
        given: int | None = getattr(request, name)
        value = int(str(_take(f"storage.{name}", f"storage.{setting}", given, profile, ledger)))
        if value < least:
            ledger.problem(f"storage.{setting}", value, f"must be at least {least}")
        return value

    path = "storage.shared_file_system"
    return StoragePlan(
        lustre=_plan_lustre(request.lustre, zones, pools, team_size, profile, ledger),
        shared_file_system=bool(_take(path, "storage.sharedFileSystem", request.shared_file_system, profile, ledger)),
        checkpoint_expire_days=days("checkpoint_expire_days", "checkpointExpireDays"),
        checkpoint_keep_versions=days("checkpoint_keep_versions", "checkpointKeepVersions"),
        multipart_cleanup_days=days("multipart_cleanup_days", "multipartCleanupDays"),
        artifact_retention_days=days("artifact_retention_days", "artifactRetentionDays"),
        # S3 moves objects to infrequent access after 30 days at the earliest.
        artifact_transition_days=days("artifact_transition_days", "artifactTransitionDays", 30),
        protect=ledger.decide("storage.protect", protect, "setting protect"),
    )


def _plan_lustre(
    request: LustreRequest,
    zones: Sequence[str],
    pools: Sequence[PoolPlan],
    team_size: int,
    profile: Profile,
    ledger: Ledger,
) -> LustrePlan | None:
    group = "storage.lustre"
    if not _take(f"{group}.enabled", f"{group}.enabled", request.enabled, profile, ledger):
        return None
    capacity = request.capacity_gib
    if capacity is None:
        wanted = profile.figure(f"{group}.capacity_gib").at(team_size)
        capacity = (
            LUSTRE_FIRST_STEPS[0] if wanted <= LUSTRE_FIRST_STEPS[0] else math.ceil(wanted / LUSTRE_STEP) * LUSTRE_STEP
        )
        ledger.decide(f"{group}.capacity_gib", capacity, profile.source(f"{group}.capacity_gib"))
    else:
        ledger.decide(f"{group}.capacity_gib", capacity, f"setting {group}.capacityGib")
        if capacity not in LUSTRE_FIRST_STEPS and (capacity < LUSTRE_STEP or capacity % LUSTRE_STEP):
            below = max(LUSTRE_FIRST_STEPS[0], capacity // LUSTRE_STEP * LUSTRE_STEP)
            above = max(LUSTRE_STEP, math.ceil(capacity / LUSTRE_STEP) * LUSTRE_STEP) if capacity > 1200 else 1200
            steps = " and ".join(str(step) for step in dict.fromkeys((below, above)))
            ledger.problem(
                f"{group}.capacityGib",
                capacity,
                "FSx for Lustre is sold in 1200, 2400 and multiples of 2400 GiB",
                f"nearest: {steps}",
            )
            capacity = LUSTRE_STEP  # a stand-in, so that the rest can be priced
    given = request.throughput_mbps_per_tib
    throughput = int(
        str(_take(f"{group}.throughput_mbps_per_tib", f"{group}.throughputMbpsPerTib", given, profile, ledger))
    )
    if throughput not in LUSTRE_THROUGHPUTS:
        allowed = ", ".join(map(str, LUSTRE_THROUGHPUTS))
        ledger.problem(f"{group}.throughputMbpsPerTib", throughput, f"must be one of {allowed} MB/s per TiB")
        throughput = LUSTRE_THROUGHPUTS[0]
    near = next((pool.node_groups[0].zones[0] for pool in pools if pool.fabric and pool.node_groups), zones[0])
    zone = request.zone if request.zone is not None and request.zone in zones else near
    why = (
        f"setting {group}.zone"
        if request.zone is not None
        else "the zone of the first pool with a fabric, else the first: reads stay in it"
    )
    return LustrePlan(capacity, throughput, ledger.decide(f"{group}.zone", zone, why))


def plan_database(request: MlflowRequest, protect: bool, profile: Profile, ledger: Ledger) -> DatabasePlan:
    """PostgreSQL for the tracking server."""
    own = request.database
    known = [price.key.removeprefix("rds.postgres.") for price in catalog.service_prices("rds.postgres.")]
    class_ = str(_take("database.instance_class", "mlflow.database.instanceClass", own.instance_class, profile, ledger))
    if class_ not in known:
        allowed = f"must be one of {', '.join(known)}, whose price is known"
        ledger.problem("mlflow.database.instanceClass", class_, allowed, nearest(class_, known))
        class_ = known[0]  # a stand-in, so that the rest can be priced

    def number(name: str, setting: str, least: int, most: int) -> int:
        value = int(str(_take(f"database.{name}", f"mlflow.database.{setting}", getattr(own, name), profile, ledger)))
        if not least <= value <= most:
            ledger.problem(f"mlflow.database.{setting}", value, f"must be {least} to {most}")
        return value

    storage = number("storage_gib", "storageGib", 20, 65_536)
    if own.max_storage_gib is None and storage * _RDS_MIN_HEADROOM > int(
        profile.figure("database.max_storage_gib").value
    ):
        maximum = ledger.decide(
            "database.max_storage_gib", min(2 * storage, 65_536), "twice what the stack file allocates"
        )
    else:
        maximum = number("max_storage_gib", "maxStorageGib", 20, 65_536)
        if maximum < storage * _RDS_MIN_HEADROOM:
            ledger.problem(
                "mlflow.database.maxStorageGib",
                maximum,
                f"must be at least a tenth above storageGib, which is {storage}",
            )
    version, source = catalog.postgresql_version()
    return DatabasePlan(
        engine_version=ledger.decide("database.engine_version", version, source),
        instance_class=class_,
        storage_gib=storage,
        max_storage_gib=maximum,
        multi_az=bool(_take("database.multi_az", "mlflow.database.multiAz", own.multi_az, profile, ledger)),
        backup_retention_days=number("backup_retention_days", "backupRetentionDays", 1, 35),
        deletion_protection=ledger.decide("database.deletion_protection", protect, "setting protect"),
    )


def plan_mlflow(request: MlflowRequest, teams: Sequence[TeamRequest], profile: Profile, ledger: Ledger) -> MlflowPlan:
    """The tracking server."""

    def number(name: str) -> int:
        value = int(str(_take(f"mlflow.{name}", f"mlflow.{name}", getattr(request, name), profile, ledger)))
        if value < 1:
            ledger.problem(f"mlflow.{name}", value, "must be at least 1")
        return value

    return MlflowPlan(
        enabled=bool(_take("mlflow.enabled", "mlflow.enabled", request.enabled, profile, ledger)),
        replicas=number("replicas"),
        cpu=str(_take("mlflow.cpu", "mlflow.cpu", request.cpu, profile, ledger)),
        memory=str(_take("mlflow.memory", "mlflow.memory", request.memory, profile, ledger)),
        workers=number("workers"),
        users=ledger.decide("mlflow.users", tuple(team.name for team in teams), "one a team"),
    )


def plan_budget(request: PlanRequest, team_size: int, profile: Profile, ledger: Ledger) -> BudgetPlan:
    """The monthly budget with its alerts."""
    path = "budget.monthly_usd"
    if request.monthly_budget_usd is not None:
        monthly = ledger.decide(path, request.monthly_budget_usd, "setting monthlyBudgetUsd")
    else:
        monthly = ledger.decide(path, profile.figure(path).at(team_size), profile.source(path))
    path = "budget.anomaly_percent"
    if request.anomaly_threshold_usd is not None:
        threshold = ledger.decide(
            "budget.anomaly_threshold_usd", request.anomaly_threshold_usd, "setting budget.anomalyThresholdUsd"
        )
    else:
        percent = profile.figure(path).value
        threshold = ledger.decide(
            "budget.anomaly_threshold_usd", max(1, round(monthly * percent / 100)), profile.source(path)
        )
    if threshold < 1:
        ledger.problem("budget.anomalyThresholdUsd", threshold, "must be at least 1")
    anomalies = _take("budget.anomaly_detection", "budget.anomalyDetection", request.anomaly_detection, profile, ledger)
    tags = _take("budget.activate_cost_tags", "budget.activateCostTags", request.activate_cost_tags, profile, ledger)
    percents = {}
    for name in ("actual_percents", "forecast_percents"):
        path = f"budget.{name}"
        percents[name] = ledger.decide(path, tuple(profile.figure(path).value), profile.source(path))
    return BudgetPlan(
        monthly_usd=monthly,
        alert_emails=request.alert_emails,
        anomaly_threshold_usd=threshold,
        anomaly_detection=bool(anomalies),
        activate_cost_tags=bool(tags),
        **percents,
    )
