"""Capacity that is bought already: which, and for a Capacity Block when jobs may be sent there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from trainyard.catalog import Instance
from trainyard.conventions import ReservationKind
from trainyard.conventions.aws import RESERVATION_KINDS
from trainyard.plan.context import Context
from trainyard.plan.parts import ReservationPlan
from trainyard.plan.pools import PoolDraft
from trainyard.settings.pools import Reserved

_KINDS: Mapping[str, ReservationKind] = {name: kind for kind, name in RESERVATION_KINDS.items()}

EMPTY_BEFORE_END = timedelta(minutes=45)
"""AWS ends instances from 30 minutes before a block's end, and advises to have none by then (EKS user guide, "Create a
managed node group with Capacity Blocks for ML", 2026-11): a quarter of an hour more to save a checkpoint."""


def reservation(draft: PoolDraft[Instance], reserved: Reserved, context: Context) -> ReservationPlan:
    """The reservation of a pool, with the span of a Capacity Block that the stack file gives."""
    key, ledger = f"{draft.key}.reserved", context.ledger
    given = {"start": reserved.start, "end": reserved.end, "lastStartHours": reserved.last_start_hours}
    for name, value in given.items():
        if value is not None and reserved.kind != "capacity-block":
            ledger.problem(f"{key}.{name}", value, "only a Capacity Block has a span", "set kind: capacity-block")
    start, end = _instant(reserved.start), _instant(reserved.end)
    empty, opens = None, None
    if reserved.start is not None and start is None:
        ledger.problem(f"{key}.start", reserved.start, "is no day of the calendar")
    if reserved.end is not None and end is None:
        ledger.problem(f"{key}.end", reserved.end, "is no day of the calendar")
    elif end is None and reserved.last_start_hours is not None and reserved.kind == "capacity-block":
        ledger.problem(
            f"{key}.lastStartHours", reserved.last_start_hours, "counts back from the end, which is not given"
        )
    if end is not None and reserved.kind == "capacity-block":
        empty = end - EMPTY_BEFORE_END
        hours = context.take(
            "gpu_pool_defaults.block_last_start_hours",
            f"{key}.lastStartHours",
            reserved.last_start_hours,
            key=f"pools.{draft.name}.block_last_start_hours",
        )
        closes = empty - timedelta(hours=int(hours))
        begins = start or datetime.fromtimestamp(0, UTC)
        if closes <= begins:
            allowed = f"must be more than {hours} hours and 45 minutes after the start, or no job is ever sent there"
            ledger.problem(f"{key}.end", reserved.end, allowed, f"lower {key}.lastStartHours")
        why = "from the block's start; no later than a job needs before the nodes go, 45 minutes before its end"
        ledger.decide(f"pools.{draft.name}.block_takes_jobs_until", _text(closes), why)
        ledger.decide(
            f"pools.{draft.name}.block_empty_at", _text(empty), "AWS ends the nodes 30 minutes before the end"
        )
        opens = (int(begins.timestamp()), int(closes.timestamp()))
    elif start is not None and reserved.kind == "capacity-block":
        ledger.problem(f"{key}.start", reserved.start, "needs an end too", f"give {key}.end")
    return ReservationPlan(
        reserved.reservation_id,
        _KINDS[reserved.kind],
        reserved.availability_zone,
        reserved.start or "",
        reserved.end or "",
        _text(empty) if empty is not None else "",
        opens,
    )


def _instant(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        return datetime.strptime(given, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:  # the 31st of a month of 30 days
        return None


def _text(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
