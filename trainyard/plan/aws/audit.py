"""What is recorded of an environment on AWS, who looks for attacks, and who may break the glass."""

from __future__ import annotations

from typing import Final, Literal

from trainyard.catalog import service_price
from trainyard.plan.aws.logs import retention
from trainyard.plan.aws.parts import AuditPlan, ThreatDetectionPlan, TrailPlan
from trainyard.plan.context import Context

_WORDS: Final = {
    "organization": "the organisation's",
    "account": "the account's",
    "none": "none",
}


def plan_audit(context: Context) -> AuditPlan:
    """The trail, threat detection and the break-glass role, each with what it costs or why it is somebody else's."""
    audit, ledger = context.settings.audit, context.ledger
    users = tuple(dict.fromkeys(audit.break_glass.principals))
    source = (
        "setting audit.breakGlass.principals; whoever takes the role sets off an alarm"
        if users
        else "no role unless audit.breakGlass.principals names users"
    )
    return AuditPlan(
        trail=_trail(context),
        records=audit.trail.by != "none",
        threat_detection=_threat_detection(context),
        watched=audit.threat_detection.by != "none",
        container_log_retention_days=_container_logs(context),
        break_glass_user_arns=ledger.decide("audit.break_glass_users", users, source),
    )


def _trail(context: Context) -> TrailPlan | None:
    own, ledger = context.settings.audit.trail, context.ledger
    if own.by != "stack":
        ledger.decide("audit.trail", _WORDS[own.by], f"setting audit.trail: {own.reason}")
        return None
    price = service_price("cloudtrail.data-events")
    costs = f"management events are free in an account's first trail; {_costs('cloudtrail.data-events')} of the tiers"
    why = f"setting audit.trail: {own.reason}" if own.reason else "default"
    ledger.decide("audit.trail", "the stack's own", f"{why}; {costs} ({price.source}, {price.date})")
    lock: Literal["governance", "compliance"] = context.take("audit.trail_lock", "audit.trail.lock", own.lock)
    days = int(context.take("audit.trail_lock_days", "audit.trail.lockDays", own.lock_days))
    kept = int(context.take("audit.trail_retention_days", "audit.trail.retentionDays", own.retention_days))
    if kept < days:
        ledger.problem(
            "audit.trail.retentionDays", kept, f"must be at least lockDays, which is {days}: the lock keeps them anyway"
        )
    return TrailPlan(retention_days=kept, lock=lock, lock_days=days)


def _threat_detection(context: Context) -> ThreatDetectionPlan | None:
    own, ledger = context.settings.audit.threat_detection, context.ledger
    if own.by != "stack":
        ledger.decide("audit.threat_detection", _WORDS[own.by], f"setting audit.threatDetection: {own.reason}")
        return None
    keys = ("guardduty.management-events", "guardduty.network-logs", "guardduty.s3-events", "guardduty.eks-audit")
    price = service_price(keys[0])
    costs = "; ".join(map(_costs, keys))
    why = f"setting audit.threatDetection: {own.reason}" if own.reason else "default"
    source = f"{why}; an account with a detector says so (audit.threatDetection.by: account); {costs}"
    ledger.decide("audit.threat_detection", "the stack's own", f"{source} ({price.source}, {price.date})")
    agent = f"{_costs('guardduty.runtime')} of all nodes, GPU nodes too"
    ledger.decide("audit.runtime_agent", own.runtime, f"setting audit.threatDetection.runtime; {agent}")
    return ThreatDetectionPlan(runtime=own.runtime)


def _container_logs(context: Context) -> int | None:
    own = context.settings.audit.container_logs
    enabled = bool(context.take("audit.container_logs", "audit.containerLogs.enabled", own.enabled))
    key, setting = "audit.container_log_retention_days", "audit.containerLogs.retentionDays"
    days = retention(key, setting, own.retention_days, context)
    return days if enabled else None


def _costs(key: str) -> str:
    price = service_price(key)
    return f"{price.usd:g} USD a {price.unit}"
