"""What committing to machines for a term saves against on-demand (`commitments.csv`)."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from trainyard.catalog.records import records
from trainyard.catalog.spread import Spread


@dataclass(frozen=True, slots=True)
class Commitment:
    """A row of the table. `match` is a type, a family, a pattern such as `p*`, or `*`."""

    cloud: str
    kind: str  # reserved-1y
    months: int
    match: str
    savings: Spread  # part of the on-demand price, 0 to 1
    source: str
    date: str
    evidence: str  # what kind of figure it is: list price, quote, assumption

    def covers(self, cloud: str, type_: str, family: str) -> bool:
        """Whether the row is for this instance type."""
        return self.cloud == cloud and (self.match in (type_, family) or fnmatchcase(type_, self.match))


@lru_cache(maxsize=1)
def _commitments() -> tuple[Commitment, ...]:
    return tuple(records(Commitment, "commitments.csv"))


@lru_cache(maxsize=1024)
def commitments(cloud: str, type_: str, family: str) -> tuple[Commitment, ...]:
    """The commitments that are sold for a type: of each kind the most precise row that has a figure."""
    best: dict[str, Commitment] = {}
    for offer in _commitments():
        before = best.get(offer.kind)
        if offer.covers(cloud, type_, family) and (before is None or len(offer.match) > len(before.match)):
            best[offer.kind] = offer
    return tuple(best.values())
