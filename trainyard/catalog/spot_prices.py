"""What spot saves, costs and how often it is reclaimed, by type and region (`spot.csv`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard.catalog.records import records
from trainyard.catalog.spread import Spread


@dataclass(frozen=True, slots=True)
class SpotRow:
    """A row of the table. `match` is a type, a family or `*`; `region` a region or `*`."""

    cloud: str
    region: str
    match: str
    savings: Spread  # part of the on-demand price of the same region, 0 to 1
    usd: Spread | None  # an hour of `match` in `region`
    reclaimed: Spread  # part of the nodes in a month, 0 to 1
    source: str
    date: str
    reclaimed_source: str
    reclaimed_date: str

    def usd_of(self, type_: str, region: str) -> Spread | None:
        """USD an hour, where the row is of exactly that type and region and has it."""
        return self.usd if (self.match, self.region) == (type_, region) else None


@lru_cache(maxsize=1)
def spot_rows() -> tuple[SpotRow, ...]:
    """The whole table.

    Raises:
        ValueError: a row has no saving, or not how often it is reclaimed.
    """
    return tuple(records(SpotRow, "spot.csv"))


@lru_cache(maxsize=4096)
def closest_spot(cloud: str, type_: str, family: str, region: str) -> SpotRow | None:
    """The closest row: this type here, its family or another size of it here, its family anywhere, anything."""
    names = (type_, family, "*")

    def rank(row: SpotRow) -> tuple[int, int] | None:
        if row.cloud != cloud or row.region not in (region, "*"):
            return None
        if row.match in names:
            near = names.index(row.match)
        elif row.region == region and row.match.partition(".")[0] == family:
            near = 1  # another size of the family
        else:
            return None
        return (0 if row.region == region else 1, near)

    found = [(place, index) for index, row in enumerate(spot_rows()) if (place := rank(row)) is not None]
    return spot_rows()[min(found)[1]] if found else None
