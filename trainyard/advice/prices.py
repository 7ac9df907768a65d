"""What a machine costs an hour by way of paying, as a range, with sources; and which figures are old."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from trainyard.advice.hardware import Machine
from trainyard.advice.ranges import Range, exactly
from trainyard.catalog import gcp
from trainyard.catalog.blocks import Block, block_offer
from trainyard.catalog.commitments import commitments
from trainyard.catalog.spot_prices import closest_spot
from trainyard.catalog.spread import Spread
from trainyard.catalog.staleness import STALE_DAYS, is_stale

__all__ = ["BLOCKS", "STALE_DAYS", "Block", "Capacity", "Figure", "Price", "price"]

Capacity = Literal["spot", "on-demand", "reserved-1y", "reserved-3y", "capacity-block", "flex-start", "calendar"]
BLOCKS: tuple[Capacity, ...] = ("capacity-block", "flex-start", "calendar")
"""Sold for a time, by type and region (`catalog/blocks.csv`): AWS Capacity Blocks, Google's flex-start and calendar
mode of the Dynamic Workload Scheduler."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the catalogue that a result used, with where and when it is from."""

    what: str
    source: str
    date: str

    def stale(self, today: datetime.date) -> bool:
        """Whether the figure is older than `STALE_DAYS`, 180 days."""
        return is_stale(self.date, today)


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


@lru_cache(maxsize=4096)
def price(machine: Machine, region: str, capacity: Capacity) -> Price | None:
    """The price of a machine in a region; None where it is not sold that way or no figure exists.

    Spot of a type whose USD in the region is in the catalogue costs that; everything else but blocks is a part of the
    on-demand price of `machine.price_region`, of Google's of the region itself where that was read.
    """
    machine = _in_region(machine, region)
    if capacity == "spot":
        return _spot(machine, region)
    if capacity in BLOCKS:
        return _block(machine, region, capacity)
    if not machine.on_demand:
        return None
    listed = _listed(machine)
    if capacity == "on-demand":
        return Price(capacity, exactly(machine.usd_per_hour), (listed,))
    for offer in commitments(machine.cloud, machine.type, machine.family):
        if offer.kind == capacity:
            what = f"{capacity} {offer.match}: {offer.savings.typical:.0%} off"
            figure = Figure(what, f"{offer.source} ({offer.evidence})", offer.date)
            return Price(capacity, _off(machine.usd_per_hour, offer.savings), (listed, figure), months=offer.months)
    return None


def _in_region(machine: Machine, region: str) -> Machine:
    """A machine of Google's with the price of the region; any other as it is."""
    if machine.cloud != "gcp" or region == machine.price_region:
        return machine
    try:
        found = gcp.machine_price(machine.type, region)
    except KeyError:  # nodes that are none of the catalogue's
        return machine
    if found is None:
        return machine
    return replace(
        machine, usd_per_hour=found.usd, price_region=found.region, price_source=found.source, price_date=found.date
    )


def _listed(machine: Machine) -> Figure:
    what = f"{machine.type} in {machine.price_region}, {machine.usd_per_hour:g} USD an hour"
    return Figure(what, machine.price_source, machine.price_date)


def _spot(machine: Machine, region: str) -> Price | None:
    row = closest_spot(machine.cloud, machine.type, machine.family, region)
    if row is None:
        return None
    place = f"{row.match} in {row.region}"
    there = "" if row.usd is None else f", {row.usd.typical:g} USD an hour there"
    saved = Figure(f"spot {place}: {row.savings.typical:.0%} off{there}", row.source, row.date)
    reclaimed = Figure(
        f"reclaimed in a month, {place}: {row.reclaimed.typical:.0%}", row.reclaimed_source, row.reclaimed_date
    )
    usd = row.usd_of(machine.type, region)
    return Price(
        "spot",
        _off(machine.usd_per_hour, row.savings) if usd is None else Range(*usd),
        (_listed(machine), saved, reclaimed) if usd is None else (saved, reclaimed),
        reclaimed_per_month=Range(*row.reclaimed),
        unproven=machine.cloud == "aws" and row.reclaimed_source.startswith("assumption"),
    )


def _block(machine: Machine, region: str, capacity: Capacity) -> Price | None:
    offer = block_offer(machine.cloud, capacity, machine.type, region)
    if offer is None:
        return None
    what = f"{capacity} {machine.type} in {region}, {offer.usd_per_hour:g} USD an hour"
    figure = Figure(what, offer.source, offer.date)
    return Price(capacity, exactly(offer.usd_per_hour), (figure,), block=offer.block)


def _off(usd: float, savings: Spread) -> Range:
    return Range(usd * (1 - savings.high), usd * (1 - savings.typical), usd * (1 - savings.low))
