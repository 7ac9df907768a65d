"""What is on record of an environment on Google Cloud, and how long nobody can take it back."""

from __future__ import annotations

from typing import Final

from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import RecordPlan

LONGEST_DAYS: Final = 3650
"""Most days that a log bucket keeps an entry (Cloud Logging, "Quotas and limits", as generally known)."""

_WORDS: Final = {"organization": "the organisation's", "none": "none"}


def plan_record(context: Context) -> RecordPlan:
    """The project's logs with who read and wrote what, and the logs of access to the buckets."""
    own, ledger = context.settings.audit.trail, context.ledger
    days = int(context.take("cluster.log_retention_days", "logRetentionDays", context.settings.log_retention_days))
    if not 1 <= days <= LONGEST_DAYS:
        ledger.problem("logRetentionDays", days, f"must be 1 to {LONGEST_DAYS}: a log bucket keeps no entry longer")
    lock_days = int(context.take("audit.trail_lock_days", "audit.trail.lockDays", own.lock_days))
    lock = str(context.take("audit.trail_lock", "audit.trail.lock", own.lock))
    if own.by == "stack":
        why = f"setting audit.trail: {own.reason}" if own.reason else "default"
        ledger.decide(
            "audit.trail",
            "the stack's own",
            f"{why}; one a project: where another stack of the project has it, say so in audit.trail",
        )
    else:
        ledger.decide("audit.trail", _WORDS[own.by], f"setting audit.trail: {own.reason}")
    source = "as long as other logs, and at least as long as nobody deletes one (audit.trail.lockDays)"
    return RecordPlan(
        by_stack=own.by == "stack",
        log_retention_days=days,
        locked=lock == "compliance",
        access_log_days=ledger.decide("audit.access_log_days", max(days, lock_days), source),
        access_log_lock_days=lock_days,
    )
