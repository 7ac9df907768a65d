"""What a machine costs an hour by way of paying, as a range, with sources; and which figures are old."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from stacks.sizing.catalog.tables import number, rows
from stacks.sizing.recommend.hardware import Machine
from stacks.sizing.recommend.ranges import Range, exactly

Capacity = Literal["spot", "on-demand", "reserved-1y", "reserved-3y", "capacity-block", "flex-start", "calendar"]
BLOCKS: tuple[Capacity, ...] = ("capacity-block", "flex-start", "calendar")
"""Sold for a time, by type and region (`catalog/blocks.csv`): AWS Capacity Blocks, Google's flex-start and calendar
mode of the Dynamic Workload Scheduler."""
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
class Block:
    """For how long and how many nodes at once machines are sold for a time; None where no limit was read."""

    shortest_days: float | None  # what is bought is paid in whole multiples of it; 0: by use
    longest_days: float | None
    most_nodes: int | None

    def holds(self, nodes: int, hours: float) -> bool:
        """Whether one block is large and long enough."""
        return (self.most_nodes is None or nodes <= self.most_nodes) and (
            self.longest_days is None or hours <= self.longest_days * 24
        )

    def paid_hours(self, hours: float) -> float:
        """What is paid for `hours` of use: whole days of a Capacity Block."""
        unit = 24 * (self.shortest_days or 0)
        return math.ceil(hours / unit - 1e-9) * unit if unit else hours


@dataclass(frozen=True, slots=True)
class Price:
    """USD an hour of one machine. `reclaimed_per_month`: share of spot nodes taken back in a month, 0 to 1.

    `unproven`: spot of a type whose cloud publishes how often others are taken back, but not this one; neither is it
    known then whether there is any to be had.
    """

    capacity: Capacity
    usd_per_hour: Range
    figures: tuple[Figure, ...]
    reclaimed_per_month: Range | None = None
    months: int = 0  # of the commitment
    block: Block | None = None  # where it is sold for a time
    unproven: bool = False


@dataclass(frozen=True, slots=True)
class _Spot:
    cloud: str
    region: str
    match: str
    savings: Range
    usd: float | None  # an hour of `match` in `region`
    reclaimed: Range
    source: str
    date: str
    reclaimed_source: str
    reclaimed_date: str


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
            number(row["usd"]),
            share(row, "reclaimed"),
            row["source"],
            row["date"],
            row["reclaimed_source"],
            row["reclaimed_date"],
        )
        for row in rows("spot.csv")
    )


@dataclass(frozen=True, slots=True)
class _Commitment:
    cloud: str
    kind: str
    months: int
    match: str  # a type, a family, a pattern such as p*, or *
    savings: Range
    source: str
    date: str

    def covers(self, machine: Machine) -> bool:
        return self.cloud == machine.cloud and (self.match == machine.family or fnmatchcase(machine.type, self.match))


@lru_cache(maxsize=1)
def _commitments() -> tuple[_Commitment, ...]:
    return tuple(
        _Commitment(
            row["cloud"],
            row["kind"],
            int(row["months"]),
            row["match"],
            Range(*(float(row[f"savings{bound}_percent"]) / 100 for bound in ("_low", "", "_high"))),
            f"{row['source']} ({row['evidence']})",
            row["date"],
        )
        for row in rows("commitments.csv")
        if row["savings_percent"]
    )


def _block_price(machine: Machine, region: str, capacity: Capacity) -> Price | None:
    wanted = (machine.cloud, capacity, machine.type, region)
    for row in rows("blocks.csv"):
        if (row["cloud"], row["kind"], row["match"], row["region"]) == wanted:
            usd, nodes = float(row["usd_per_hour"]), number(row["most_nodes"])
            block = Block(number(row["shortest_days"]), number(row["longest_days"]), int(nodes) if nodes else None)
            figure = Figure(f"{capacity} {machine.type} in {region}, {usd:g} USD an hour", row["source"], row["date"])
            return Price(capacity, exactly(usd), (figure,), block=block)
    return None


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
        there = "" if row.usd is None else f", {row.usd:g} USD an hour there"
        place = f"{row.match} in {row.region}"
        figures = (
            listed,
            Figure(f"spot {place}: {row.savings.typical:.0%} off{there}", row.source, row.date),
            Figure(
                f"reclaimed in a month, {place}: {row.reclaimed.typical:.0%}", row.reclaimed_source, row.reclaimed_date
            ),
        )
        return Price(
            capacity,
            _off(machine.usd_per_hour, row.savings),
            figures,
            reclaimed_per_month=row.reclaimed,
            unproven=machine.cloud == "aws" and row.reclaimed_source.startswith("assumption"),
        )
    if capacity in BLOCKS:
        return _block_price(machine, region, capacity)
    if not machine.on_demand:
        return None
    offers = [row for row in _commitments() if row.kind == capacity and row.covers(machine)]
    if not offers:
        return None
    offer = max(offers, key=lambda row: len(row.match))  # the most precise
    figure = Figure(f"{capacity} {offer.match}: {offer.savings.typical:.0%} off", offer.source, offer.date)
    return Price(capacity, _off(machine.usd_per_hour, offer.savings), (listed, figure), months=offer.months)


def _off(usd: float, savings: Range) -> Range:
    return Range(usd * (1 - savings.high), usd * (1 - savings.typical), usd * (1 - savings.low))
