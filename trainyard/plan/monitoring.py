"""What a cluster is watched by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from trainyard.conventions import CHECKPOINTS_CLAIM
from trainyard.conventions.monitoring import CHECKPOINT_DRILL, RUNBOOKS
from trainyard.monitoring.thresholds import SOURCES, Thresholds
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.parts import CheckPlan, DrillPlan, MonitoringPlan, SmokePlan, TeamQueuePlan
from trainyard.plan.sharing import CpuRoom

A_MONTH_DAYS = 32
"""Days that figures have to be kept, so that the longest month is whole on the day after it."""


BUFFER_GIB = 10
"""GiB of the volume of a Prometheus that hands its figures on: two hours that it keeps, and what it could not send."""


def plan_monitoring(context: Context, *, managed_there: bool = False) -> MonitoringPlan | None:
    """It, or None where the settings or the profile go without. `managed_there`: the ground can give it to its cloud's
    service."""
    own = context.settings.monitoring
    if not context.take("monitoring.enabled", "monitoring.enabled", own.enabled):
        if own.service == "managed":
            context.ledger.problem("monitoring.service", own.service, "needs monitoring.enabled: nothing is watched")
        return None
    managed = own.service == "managed"
    if managed and not managed_there:
        allowed = "must be cluster here: only on AWS is the cloud's own service built"
        context.ledger.problem("monitoring.service", own.service, allowed)
    source = "setting monitoring.service" if own.service else "default: nothing is paid by what is asked"
    context.ledger.decide("monitoring.service", own.service or "cluster", source)
    days = context.take("monitoring.retention_days", "monitoring.retentionDays", own.retention_days)
    if days < A_MONTH_DAYS:
        allowed = f"must be at least {A_MONTH_DAYS}: what a team has spent in a month is counted from its figures"
        context.ledger.problem("monitoring.retentionDays", days, allowed)
    runbooks = own.runbooks or RUNBOOKS
    return MonitoringPlan(
        retention_days=days,
        storage_gib=_buffer_gib(context)
        if managed
        else context.take("monitoring.storage_gib", "monitoring.storageGib", own.storage_gib),
        cpu=context.take("monitoring.cpu", "monitoring.cpu", own.cpu),
        memory=context.take("monitoring.memory", "monitoring.memory", own.memory),
        runbooks=context.ledger.decide(
            "monitoring.runbooks",
            runbooks,
            "setting monitoring.runbooks"
            if own.runbooks
            else "the pages of this project; published, give their address",
        ),
        thresholds=_thresholds(context),
        managed=managed,
    )


def _buffer_gib(context: Context) -> int:
    """What is kept on the cluster until it is sent is small, and its size no choice."""
    given = context.settings.monitoring.storage_gib
    if given is not None:
        allowed = "is the volume of monitoring.service cluster: managed, the figures lie in the service"
        context.ledger.problem("monitoring.storageGib", given, allowed)
    return context.ledger.decide("monitoring.storage_gib", BUFFER_GIB, "own choice: what waits to be sent")


DRILL_SCHEDULE = "17 4 * * 0"
"""Sunday morning, when a CPU pool has room."""
DRILL_CORES, DRILL_MEMORY_GIB = 2, 8
DRILL_DEADLINE_S = 5400
"""An hour and a half: a node from zero, an image of 10 GB on it, a minute of work, and the pod may be moved once."""


def plan_drill(
    monitoring: MonitoringPlan | None,
    smoke: SmokePlan,
    queues: Sequence[TeamQueuePlan],
    nodes: CpuRoom | None,
    context: Context,
) -> DrillPlan | None:
    """The checkpoint drill; None where nobody would hear of it, or where it has no nodes."""
    wanted = context.settings.monitoring.checkpoint_drill
    room = [
        queue
        for queue in queues
        if queue.cpu_only_cores >= DRILL_CORES and queue.cpu_only_memory_gib >= DRILL_MEMORY_GIB
    ]
    on_one = nodes is not None and nodes.takes(DRILL_CORES, DRILL_MEMORY_GIB)
    possible = monitoring is not None and on_one and bool(room)
    if wanted and not possible:
        allowed = (
            f"needs monitoring, and a team that has {DRILL_CORES} cores and {DRILL_MEMORY_GIB} GiB of the CPU pool, "
            "which one of its nodes has too"
        )
        context.ledger.problem("monitoring.checkpointDrill", wanted, allowed, "monitoring.enabled, cpuPool")
    why = "own choice: a checkpoint that nobody has restored is none; two cores for minutes a week, cents a month"
    if nodes is not None and not on_one:
        why = f"no node of the CPU pool has {DRILL_CORES} cores and {DRILL_MEMORY_GIB} GiB for it"
    source = why if wanted is None else "setting monitoring.checkpointDrill"
    if not context.ledger.decide("drill.enabled", possible and wanted is not False, source):
        return None
    image_source = "the smoke job's: it has torch, and what the tier needs"
    kept = next((queue for queue in room if queue.name == context.lock.proof_teams.get(CHECKPOINT_DRILL)), None)
    runs_for = kept or max(room, key=lambda queue: queue.cpu_only_cores)
    chosen = "it has the most of the CPU pool, the first of several alike; the drill has its rights"
    return DrillPlan(
        team=context.ledger.decide("drill.team", runs_for.name, LOCKED if kept else chosen),
        image=context.ledger.decide("drill.image", smoke.image, image_source),
        schedule=context.ledger.decide("drill.schedule", DRILL_SCHEDULE, "own choice: Sunday at 04:17, UTC"),
        cpu=context.ledger.decide("drill.cpu", DRILL_CORES, "own choice: two million parameters"),
        memory_gib=context.ledger.decide("drill.memory_gib", DRILL_MEMORY_GIB, "own choice: torch, and room"),
        deadline_s=context.ledger.decide(
            "drill.deadline_s", DRILL_DEADLINE_S, "own choice: a node from zero, an image of 10 GB, a minute of work"
        ),
    )


CHECK_SCHEDULE = "47 5 * * *"
"""Each morning, all teams at once: they share the nodes that come for it."""
CHECK_CORES, CHECK_MEMORY_GIB = 1, 4


def plan_check(
    monitoring: MonitoringPlan | None,
    smoke: SmokePlan,
    queues: Sequence[TeamQueuePlan],
    nodes: CpuRoom | None,
    context: Context,
) -> CheckPlan | None:
    """The look at teams' own checkpoints; None where nobody would hear of it, or where it has no nodes."""
    wanted = context.settings.monitoring.checkpoint_check
    folder = dict(smoke.mounts).get(CHECKPOINTS_CLAIM)
    room = tuple(
        queue.name
        for queue in queues
        if queue.cpu_only_cores >= CHECK_CORES and queue.cpu_only_memory_gib >= CHECK_MEMORY_GIB
    )
    on_one = nodes is not None and nodes.takes(CHECK_CORES, CHECK_MEMORY_GIB)
    possible = monitoring is not None and on_one and folder is not None and bool(room)
    if wanted and not possible:
        allowed = (
            f"needs monitoring, and a team that has {CHECK_CORES} core and {CHECK_MEMORY_GIB} GiB of the CPU pool, "
            "which one of its nodes has too"
        )
        context.ledger.problem("monitoring.checkpointCheck", wanted, allowed, "monitoring.enabled, cpuPool")
    why = "own choice: a damaged checkpoint is found before it is needed; a core for minutes a day"
    if nodes is not None and not on_one:
        why = f"no node of the CPU pool has {CHECK_CORES} core and {CHECK_MEMORY_GIB} GiB for it"
    source = why if wanted is None else "setting monitoring.checkpointCheck"
    if not context.ledger.decide("check.enabled", possible and wanted is not False, source) or folder is None:
        return None
    return CheckPlan(
        teams=context.ledger.decide("check.teams", room, "those that have a core and 4 GiB of the CPU pool"),
        image=context.ledger.decide("check.image", smoke.image, "the smoke job's: with torch, archives are loaded too"),
        folder=folder,
        schedule=context.ledger.decide("check.schedule", CHECK_SCHEDULE, "own choice: each day at 05:47, UTC"),
        cpu=context.ledger.decide("check.cpu", CHECK_CORES, "own choice: it reads"),
        memory_gib=context.ledger.decide("check.memory_gib", CHECK_MEMORY_GIB, "own choice: torch, and room"),
        deadline_s=context.ledger.decide(
            "check.deadline_s", DRILL_DEADLINE_S, "own choice: a node from zero, an image of 10 GB, 64 GiB to read"
        ),
    )


def _thresholds(context: Context) -> Thresholds:
    own = context.settings.monitoring.alerts
    chosen: dict[str, Any] = {}
    for field in fields(Thresholds):
        given = getattr(own, field.name)
        value = field.default if given is None else tuple(given) if isinstance(given, list) else given
        setting = f"setting monitoring.alerts.{type(own).model_fields[field.name].alias}"
        source = SOURCES[field.name] if given is None else setting
        chosen[field.name] = context.ledger.decide(f"monitoring.thresholds.{field.name}", value, source)
    percents = chosen["budget_percents"]
    if list(percents) != sorted(set(percents)):
        context.ledger.problem("monitoring.alerts.budgetPercents", percents, "must rise: noted, warned of, spent")
    return Thresholds(**chosen)
