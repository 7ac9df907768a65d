"""Machines that are sold for a time, by type and region (`blocks.csv`): AWS Capacity Blocks, Google's flex-start and
calendar mode of the Dynamic Workload Scheduler."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from trainyard.catalog.records import records


@dataclass(frozen=True, slots=True)
class Block:
    """How long, and how many nodes at once, machines are sold for a time; None where no limit was read."""

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
class BlockOffer:
    """The listed price of an hour of one machine, and the limits of what is sold. `match` is its type."""

    cloud: str
    kind: str
    match: str
    region: str
    usd_per_hour: float
    block: Block
    source: str
    date: str


@lru_cache(maxsize=1)
def _offers() -> dict[tuple[str, str, str, str], BlockOffer]:
    return {(offer.cloud, offer.kind, offer.match, offer.region): offer for offer in records(BlockOffer, "blocks.csv")}


def block_offer(cloud: str, kind: str, type_: str, region: str) -> BlockOffer | None:
    """What a type is sold at in a region; None where no price was read.

    `kind` is capacity-block, flex-start or calendar.
    """
    return _offers().get((cloud, kind, type_, region))
