"""From when the jobs of managed training are worth an alarm: the thresholds that a cluster's alerts have too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from trainyard import catalog
from trainyard.conventions.monitoring import RUNBOOKS
from trainyard.monitoring.thresholds import SOURCES, Thresholds
from trainyard.plan.aws.parts import JobAlarmsPlan
from trainyard.plan.context import Context
from trainyard.settings.monitoring import MonitoringAlerts

JOB_ALARMS: Final = 4
"""How many there are: two on GPUs, one on failures, one on waits."""

LOOK_BACK_MINUTES: Final = 180
"""How far back an alarm on a Metrics Insights query sees (CloudWatch user guide, its quotas, read 2026-11)."""
_READ: Final = {
    "gpu_use_percent": "gpu_utilisation_percent",
    "idle_minutes": "idle_gpu_minutes",
    "failed_percent": "failed_jobs_percent",
    "failed_of": "failed_jobs_of",
    "wait_hours": "queue_hours",
}
"""The thresholds that managed training has a figure for, by the name that they have here."""

OF_PROMETHEUS: Final = tuple(
    str(MonitoringAlerts.model_fields[field.name].alias)
    for field in fields(Thresholds)
    if field.name not in _READ.values()
)
"""Settings of alerts on what only a cluster's Prometheus measures."""


def plan_job_alarms(training_types: Sequence[str], context: Context) -> JobAlarmsPlan | None:
    """The alarms; None where the settings go without monitoring."""
    own, ledger = context.settings.monitoring, context.ledger
    source = "own choice: cents a month" if own.enabled is None else "setting monitoring.enabled"
    if not ledger.decide("managed.alarms", own.enabled is not False, source):
        return None
    chosen: dict[str, Any] = {}
    for name, threshold in _READ.items():
        given = getattr(own.alerts, threshold)
        chosen[name] = ledger.decide(
            f"managed.alarms.{name}",
            getattr(Thresholds(), threshold) if given is None else given,
            SOURCES[threshold]
            if given is None
            else f"setting monitoring.alerts.{MonitoringAlerts.model_fields[threshold].alias}",
        )
    if chosen["idle_minutes"] > LOOK_BACK_MINUTES:
        allowed = f"must be at most {LOOK_BACK_MINUTES} where training is managed: its alarm sees three hours back"
        ledger.problem("monitoring.alerts.idleGpuMinutes", chosen["idle_minutes"], allowed)
    known = {f"ml.{item.type}": item.gpus for item in catalog.instances()}
    gpus = [known[type_] for type_ in training_types if type_ in known]
    return JobAlarmsPlan(
        runbooks=own.runbooks or RUNBOOKS,
        gpus_at_least=ledger.decide(
            "managed.alarms.gpus_at_least",
            min(gpus, default=1),
            "the smallest of managed.training_types: SageMaker adds the GPUs of a machine up, and does not say how "
            "many they are, so a larger machine is told of when all of its GPUs do no more than this many should",
        ),
        **chosen,
    )
