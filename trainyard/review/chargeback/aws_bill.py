"""What AWS has billed an environment for in a month, by Cost Explorer: what the ledger is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from trainyard.account.aws import Account
from trainyard.review.chargeback.read import span_of

LEFT_OUT: Final = ("Credit", "Refund", "Tax")
"""Kinds of records that say nothing of what was used."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What was billed, USD."""

    usd: float
    by_service: Mapping[str, float]
    estimated: bool
    """Whether AWS may still change it: till some days after the month's end."""


def bill_of(account: Account, month: str, tag: tuple[str, str], now: float) -> Bill:
    """What resources with a tag cost in a month (`2026-12`), without credits, refunds and taxes; each page is 0.01 USD.

    AWS counts a tag from the day on which the payer's account has activated it for billing. What carries no tag, such
    as some traffic, is in no tag's sum.

    Raises:
        CannotAskError: the account does not answer, or refuses `ce:GetCostAndUsage`.
        ValueError: the month has not begun.
    """
    start, end = (datetime.fromtimestamp(second, UTC) for second in span_of(month))
    tomorrow = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    if tomorrow <= start:
        raise ValueError(f"{month} has not begun")
    key, value = tag
    asked: dict[str, Any] = {
        "TimePeriod": {"Start": f"{start:%Y-%m-%d}", "End": f"{min(end, tomorrow):%Y-%m-%d}"},
        "Granularity": "MONTHLY",
        "Metrics": ["UnblendedCost"],
        "Filter": {
            "And": [
                {"Tags": {"Key": key, "Values": [value]}},
                {"Not": {"Dimensions": {"Key": "RECORD_TYPE", "Values": list(LEFT_OUT)}}},
            ]
        },
        "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"}],
    }
    found: dict[str, float] = {}
    estimated, page = False, dict[str, str]()
    while True:
        answer = account.call("ce", "get_cost_and_usage", region=account.global_region, **asked, **page)
        for period in answer.get("ResultsByTime", ()):
            estimated = estimated or bool(period.get("Estimated"))
            for group in period.get("Groups", ()):
                service = group["Keys"][0]
                found[service] = found.get(service, 0.0) + float(group["Metrics"]["UnblendedCost"]["Amount"])
        if not answer.get("NextPageToken"):
            return Bill(sum(found.values()), found, estimated)
        page = {"NextPageToken": answer["NextPageToken"]}
