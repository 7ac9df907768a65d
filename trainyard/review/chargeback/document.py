"""A month's account as a document, for a program that bills: numbers as they are, null where there is no figure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from trainyard.review.chargeback.model import Account, Chargeback, Line
from trainyard.review.chargeback.report import gaps


def as_document(found: Chargeback) -> dict[str, Any]:
    """The account: US dollars to the cent, hours and waits (seconds) to two places, shares from 0 to 1 to four."""
    return {
        "stack": found.stack,
        "month": found.month,
        "currency": "USD",
        "spent": _rounded(found.spent_usd),
        "billed": _rounded(found.bill_usd),
        "counted": round(found.coverage, 4),
        "countedUsd": _rounded(found.counted_usd),
        "notCounted": _rounded(found.uncounted_usd),
        "idle": {kind: _rounded(usd) for kind, usd in found.idle_usd.items()},
        "platform": _rounded(found.platform_usd),
        "shared": _rounded(found.shared_usd),
        "sharedBy": found.key if found.shared_usd is not None else None,
        "teams": [_team(account) for account in found.accounts],
        "gaps": gaps(found),
    }


def _team(account: Account) -> dict[str, Any]:
    gone = account.gone_at
    return {
        "team": account.team.name,
        "namespace": account.team.namespace,
        "spent": _rounded(account.spent_usd),
        "budget": account.team.budget_usd,
        "budgetSpentAt": None if gone is None else datetime.fromtimestamp(gone, UTC).isoformat(),
        "shared": _rounded(account.shared_usd),
        "notInTheLines": _rounded(account.gap_usd) if account.spent_usd is not None else None,
        "gpuHours": _rounded(account.gpu_hours),
        "chipHours": _rounded(account.chip_hours),
        "idleShare": None if account.idle_share is None else round(account.idle_share, 4),
        "savedBySpot": _rounded(account.saved_usd),
        "jobsSucceeded": account.succeeded,
        "jobsFailed": account.failed,
        "jobsEvicted": dict(account.evicted),
        "meanWaitSeconds": _rounded(account.wait_seconds),
        "waits": [
            {
                "queue": queue,
                "jobs": wait.jobs,
                "meanSeconds": _rounded(wait.mean),
                "medianSeconds": _rounded(wait.median),
                "p95Seconds": _rounded(wait.p95),
            }
            for queue, wait in account.waits.items()
        ],
        "cpu": _rounded(account.cpu_usd),
        "volumes": _rounded(account.volume_usd),
        "together": _rounded(account.together_usd),
        "lines": [_line(line) for line in account.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    unit = line.flavor.unit.lower()
    return {
        "flavor": line.flavor.name,
        "pool": line.flavor.pool,
        "capacity": line.flavor.capacity,
        f"{unit}Hours": _rounded(line.hours),
        f"usdPer{unit.capitalize()}Hour": line.flavor.usd,
        "usd": _rounded(line.usd),
        "savedBySpot": _rounded(line.saved_usd),
    }


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 2)
