"""When a job that does nothing with its GPUs gives them back."""

from __future__ import annotations

from trainyard.plan.context import Context
from trainyard.plan.parts import IdleJobsPlan, MonitoringPlan

_FROM = "agency guide, monitoring: idle for 30 to 60 minutes is reclaimed; the middle"


def plan_idle_jobs(monitoring: MonitoringPlan | None, context: Context) -> IdleJobsPlan | None:
    """The window and the time of grace; None where idle jobs are left alone, or nobody measures what GPUs do."""
    own, ledger = context.settings.idle_jobs, context.ledger
    if monitoring is None or not own.evict:
        if "evict" in own.model_fields_set:
            source = "setting idleJobs.evict"
        else:
            source = "there is no monitoring that says what GPUs do" if monitoring is None else "default"
        ledger.decide("idle_jobs", "left alone", source)
        return None

    def chosen(name: str, value: int, source: str) -> int:
        told = f"setting idleJobs.{_CAMEL[name]}" if name in own.model_fields_set else source
        return ledger.decide(f"idle_jobs.{name}", value, told)

    return IdleJobsPlan(
        after_minutes=chosen("after_minutes", own.after_minutes, _FROM),
        grace_minutes=chosen("grace_minutes", own.grace_minutes, "own choice: long enough to be read and answered"),
    )


_CAMEL = {"after_minutes": "afterMinutes", "grace_minutes": "graceMinutes"}
