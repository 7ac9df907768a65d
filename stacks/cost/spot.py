"""What spot capacity and commitments save, and what Capacity Blocks are offered at, by instance type and region."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from stacks.cost.assumptions import Assumptions
from stacks.cost.model import UnitPrice
from stacks.sizing.catalog.tables import number, rows


@dataclass(frozen=True, slots=True)
class SpotDiscount:
    """Parts of the on-demand price that spot saves, 0 to 1; `low` is the smallest saving."""

    low: float
    value: float
    high: float
    source: str
    date: str


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], SpotDiscount]:
    table = {}
    for row in rows("spot.csv"):
        low, value, high = (
            number(row[key]) for key in ("savings_low_percent", "savings_percent", "savings_high_percent")
        )
        if row["cloud"] == "aws" and low is not None and value is not None and high is not None:
            found = SpotDiscount(low / 100, value / 100, high / 100, row["source"], row["date"])
            table[row["region"], row["match"]] = found
    return table


def spot_discount(instance_type: str, region: str, assumptions: Assumptions) -> SpotDiscount:
    """The saving of that type: a quote of its region, else its family's planning figure, else the assumption.

    An assumption that was given replaces the table.
    """
    general = assumptions["spot_saving_percent"]
    if not general.given:
        family = instance_type.partition(".")[0]
        for place in (region, "*"):
            for match in (instance_type, family, "*"):
                if found := _table().get((place, match)):
                    return found
    return SpotDiscount(general.minimum / 100, general.value / 100, general.maximum / 100, general.source, general.date)


def _matches(instance_type: str, match: str) -> bool:
    """Whether a row's type, family or pattern (`p*`) is of that type."""
    return match in (instance_type, instance_type.partition(".")[0]) or fnmatchcase(instance_type, match)


@dataclass(frozen=True, slots=True)
class Commitment:
    """What committing to an instance for a term saves, 0 to 1, against on-demand."""

    kind: str  # reserved-1y
    months: int
    low: float
    value: float
    high: float
    source: str
    date: str


@lru_cache(maxsize=64)
def commitments(instance_type: str) -> tuple[Commitment, ...]:
    """The commitments that AWS sells for a type, each term's most precise row."""
    found: dict[str, tuple[int, Commitment]] = {}
    for row in rows("commitments.csv"):
        low, value, high = (
            number(row[key]) for key in ("savings_low_percent", "savings_percent", "savings_high_percent")
        )
        if row["cloud"] != "aws" or not _matches(instance_type, row["match"]):
            continue
        if low is None or value is None or high is None:
            continue
        rank = len(row["match"])
        kind = row["kind"]
        if kind not in found or rank > found[kind][0]:
            months = int(row["months"])
            entry = Commitment(kind, months, low / 100, value / 100, high / 100, row["source"], row["date"])
            found[kind] = (rank, entry)
    return tuple(entry for _, entry in found.values())


def block_offer(instance_type: str, region: str) -> UnitPrice | None:
    """The listed price of an hour of a Capacity Block (`catalog/blocks.csv`); None where none was read."""
    for row in rows("blocks.csv"):
        if (row["kind"], row["match"], row["region"]) == ("capacity-block", instance_type, region):
            return UnitPrice(float(row["usd_per_hour"]), "hour", region, row["source"], row["date"])
    return None
