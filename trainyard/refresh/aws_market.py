"""What spot and reservations cost now, from EC2 in the region itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from trainyard.refresh.aws_prices import told_clearly
from trainyard.refresh.model import Found, Quote, Skipped
from trainyard.refresh.tables import Table

HISTORY_DAYS = 14
"""Spot prices are means of so many days: they move over days, and EC2 keeps 90."""

TERMS = {"reserved-1y": 12, "reserved-3y": 36}
_YEAR_SECONDS = 365 * 24 * 3600
_PAYMENTS = ("No Upfront", "Partial Upfront", "All Upfront")
LINUX = "Linux/UNIX"


def spot_quotes(
    ec2: Any, tables: Mapping[str, Table], on_demand: Mapping[str, float], region: str, today: date
) -> Found:
    """What spot saves of each GPU type: largest, median and smallest price of all zones over two weeks.

    `on_demand` are current on-demand prices of the region by type. How often nodes are reclaimed is no price: a new
    row takes it from its family, and without one there is no new row.
    """
    quotes, skipped = [], []
    name = "spot.csv"
    # Midnight, so that one day asks one question.
    start = datetime.combine(today - timedelta(days=HISTORY_DAYS), time(), UTC)
    for row in tables["aws_instances.csv"].rows:
        type_ = row["type"]
        usd = on_demand.get(type_)
        if not usd:
            skipped.append(Skipped(name, f"{region} {type_}", f"no on-demand price in {region} to compare with"))
            continue
        key = (("cloud", "aws"), ("region", region), ("match", type_))
        reclaims = {} if tables[name].find(key) is not None else _reclaims(tables[name], type_)
        if reclaims is None:
            family = type_.partition(".")[0]
            skipped.append(Skipped(name, f"{region} {type_}", f"no row says how often {family} is reclaimed"))
            continue
        with told_clearly():
            pages = ec2.get_paginator("describe_spot_price_history").paginate(
                InstanceTypes=[type_], ProductDescriptions=[LINUX], StartTime=start
            )
            prices = [float(entry["SpotPrice"]) for page in pages for entry in page["SpotPriceHistory"]]
        if not prices:
            skipped.append(Skipped(name, f"{region} {type_}", f"no spot price in {HISTORY_DAYS} days"))
            continue
        low, value, high = (100 * (1 - price / usd) for price in (max(prices), median(prices), min(prices)))
        cells = {
            "savings_low_percent": f"{max(low, 0):.1f}",
            "savings_percent": f"{max(value, 0):.1f}",
            "savings_high_percent": f"{max(high, 0):.1f}",
            "usd_low": f"{min(prices):.10g}",
            "usd": f"{median(prices):.10g}",
            "usd_high": f"{max(prices):.10g}",
            "source": f"EC2 DescribeSpotPriceHistory, {len(prices)} prices of {HISTORY_DAYS} days; reclaims as before",
            "date": today.isoformat(),
            **reclaims,
        }
        quotes.append(Quote(name, key, "savings_percent", round(max(value, 0), 1), "% below on-demand", cells))
    return Found(tuple(quotes), tuple(skipped))


def _reclaims(table: Table, type_: str) -> dict[str, str] | None:
    """How often nodes of the type's family are reclaimed, as the table has it; None where it does not say."""
    columns = ("low_percent", "percent", "high_percent", "source", "date")
    index = table.find((("cloud", "aws"), ("region", "*"), ("match", type_.partition(".")[0])))
    if index is None:
        return None
    return {f"reclaimed_{name}": table.rows[index][f"reclaimed_{name}"] for name in columns}


def reserved_quotes(
    ec2: Any, tables: Mapping[str, Table], on_demand: Mapping[str, float], region: str, today: date
) -> Found:
    """What a standard reservation of one and three years saves: nothing, a part, and all paid at the start."""
    quotes, skipped = [], []
    name = "commitments.csv"
    for row in tables["aws_instances.csv"].rows:
        type_ = row["type"]
        usd = on_demand.get(type_)
        if not usd:
            continue  # the spot table says so
        for kind, months in TERMS.items():
            hourly = dict(_offers(ec2, type_, months // 12 * _YEAR_SECONDS))
            savings = sorted(100 * (1 - hourly[payment] / usd) for payment in _PAYMENTS if payment in hourly)
            if not savings:
                skipped.append(Skipped(name, f"{kind} {type_}", f"no standard reservation is offered in {region}"))
                continue
            value = round(median(savings), 1)
            cells = {
                "months": str(months),
                "savings_low_percent": f"{savings[0]:.1f}",
                "savings_percent": f"{value:.1f}",
                "savings_high_percent": f"{savings[-1]:.1f}",
                "source": f"EC2 DescribeReservedInstancesOfferings in {region}, {len(savings)} ways to pay",
                "date": today.isoformat(),
                "evidence": "quote of the EC2 API",
            }
            key = (("cloud", "aws"), ("kind", kind), ("match", type_))
            quotes.append(Quote(name, key, "savings_percent", value, "% below on-demand", cells))
    return Found(tuple(quotes), tuple(skipped))


def _offers(ec2: Any, type_: str, seconds: int) -> Iterator[tuple[str, float]]:
    """Way to pay and USD an hour over the term, of AWS's own standard offers."""
    with told_clearly():
        pages = ec2.get_paginator("describe_reserved_instances_offerings").paginate(
            InstanceType=type_,
            ProductDescription=LINUX,
            OfferingClass="standard",
            InstanceTenancy="default",
            IncludeMarketplace=False,
            MinDuration=seconds,
            MaxDuration=seconds,
        )
        for page in pages:
            for offer in page["ReservedInstancesOfferings"]:
                hours = offer["Duration"] / 3600
                recurring = sum(
                    charge["Amount"] for charge in offer.get("RecurringCharges", ()) if charge["Frequency"] == "Hourly"
                )
                yield offer["OfferingType"], offer["FixedPrice"] / hours + recurring
