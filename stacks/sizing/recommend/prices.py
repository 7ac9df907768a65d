"""What a machine costs an hour by way of paying, as a range, with sources; and which figures are old."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from stacks.sizing.catalog.tables import rows
from stacks.sizing.recommend.hardware import Machine
from stacks.sizing.recommend.ranges import Range, exactly

Capacity = Literal["spot", "on-demand", "reserved-1y", "reserved-3y"]
STALE_DAYS = 180


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the catalogue that a result used, with where and when it is from."""

    what: str
    source: str
    date: str

    def stale(self, today: datetime.date) -> bool:
        """Older than 180 days."""
        return (today - datetime.date.fromisoformat(self.date)).days > STALE_DAYS


@dataclass(frozen=True, slots=True)
class Price:
    """USD an hour of one machine. `reclaimed_per_month`: share of spot nodes taken back in a month, 0 to 1."""

    capacity: Capacity
    usd_per_hour: Range
    figures: tuple[Figure, ...]
    reclaimed_per_month: Range | None = None
    months: int = 0  # of the commitment


@dataclass(frozen=True, slots=True)
class _Spot:
    cloud: str
    region: str
    match: str
    savings: Range
    reclaimed: Range
    source: str
    date: str


@lru_cache(maxsize=1)
def _spots() -> tuple[_Spot, ...]:
    def share(row: dict[str, str], name: str) -> Range:
        return Range(*(float(row[f"{name}{bound}_percent"]) / 100 for bound in ("_low", "", "_high")))

    return tuple(
        _Spot(
            row["cloud"],
            row["region"],
            row["match"],
            share(row, "savings"),
            share(row, "reclaimed"),
            row["source"],
            row["date"],
        )
        for row in rows("spot.csv")
    )


@lru_cache(maxsize=1)
def _commitments() -> tuple[tuple[str, str, int, Range, str, str], ...]:
    return tuple(
        (
            row["cloud"],
            row["kind"],
            int(row["months"]),
            Range(*(float(row[f"savings{bound}_percent"]) / 100 for bound in ("_low", "", "_high"))),
            f"{row['source']} ({row['evidence']})",
            row["date"],
        )
        for row in rows("commitments.csv")
        if row["savings_percent"]
    )


def _spot_row(machine: Machine, region: str) -> _Spot | None:
    """The closest row: this type here, its family here, its family anywhere, anything."""

    def rank(row: _Spot) -> tuple[int, int] | None:
        if row.cloud != machine.cloud or row.region not in (region, "*"):
            return None
        names = [machine.type, machine.family, "*"]
        if row.match in names:
            near = names.index(row.match)
        elif row.region == region and row.match.partition(".")[0] == machine.family:
            near = 1  # another size of the family
        else:
            return None
        return (0 if row.region == region else 1, near)

    found = [(place, index) for index, row in enumerate(_spots()) if (place := rank(row)) is not None]
    return _spots()[min(found)[1]] if found else None


@lru_cache(maxsize=4096)
def price(machine: Machine, region: str, capacity: Capacity) -> Price | None:
    """The price of a machine in a region; None where it is not sold that way or no figure exists."""
    listed = Figure(
        f"{machine.type} in {machine.price_region}, {machine.usd_per_hour:g} USD an hour",
        machine.price_source,
        machine.price_date,
    )
    if capacity == "on-demand":
        return Price(capacity, exactly(machine.usd_per_hour), (listed,)) if machine.on_demand else None
    if capacity == "spot":
        row = _spot_row(machine, region)
        if row is None:
            return None
        figure = Figure(f"spot {row.match} in {row.region}: {row.savings.typical:.0%} off", row.source, row.date)
        return Price(
            capacity, _off(machine.usd_per_hour, row.savings), (listed, figure), reclaimed_per_month=row.reclaimed
        )
    if not machine.on_demand:
        return None
    for cloud, kind, months, savings, source, day in _commitments():
        if (cloud, kind) == (machine.cloud, capacity):
            figure = Figure(f"{capacity}: {savings.typical:.0%} off", source, day)
            return Price(capacity, _off(machine.usd_per_hour, savings), (listed, figure), months=months)
    return None


def _off(usd: float, savings: Range) -> Range:
    return Range(usd * (1 - savings.high), usd * (1 - savings.typical), usd * (1 - savings.low))
