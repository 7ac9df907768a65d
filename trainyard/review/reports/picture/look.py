"""What every part of a layout shares: which colour a pool has, what is wrong with what, and how facts are set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.review.reports.picture.blocks import Block, Lines
from trainyard.review.reports.picture.figures import Chips
from trainyard.review.reports.picture.lettering import NO_BREAK, SOFT
from trainyard.review.reports.picture.model import Picture

COLOURS: Final = 8
_SHORT: Final = 16  # characters


@dataclass(frozen=True, slots=True)
class Look:
    """Colours by pool, and how many things are wrong with a resource, by URN."""

    colours: Mapping[str, int]
    wrong: Mapping[str, int]

    @classmethod
    def of(cls, picture: Picture) -> Look:
        """The look of a picture: a colour each for the pools with GPUs, then for those that only a queue names."""
        return cls({name: index % COLOURS for index, name in enumerate(_pool_names(picture))}, picture.wrong)

    def marks(self, urn: str, *others: tuple[str, str]) -> Block:
        """Other marks, then one for errors and mandatory violations where there are any."""
        number = self.wrong.get(urn, 0) if urn else 0
        return Chips([*others, *([("mark wrong", f"! {number} to mend")] if number else [])])

    def colour(self, pool: str) -> str:
        """The CSS class of a pool's colour."""
        return f"k{self.colours[pool]}"


def _pool_names(picture: Picture) -> Iterator[str]:
    drawn = (pool.name for cluster in picture.clusters for pool in cluster.pools if pool.gpu or pool.chips_per_node)
    owned = (quota.pool for team in picture.teams for quota in team.quotas or ())
    of_slices = (pool for team in picture.teams for pool, _ in team.slices)
    yield from dict.fromkeys((*drawn, *owned, *of_slices))


def facts(*told: str) -> Block:
    """Those that there are, with dots between; a short one stays on one line."""
    kept = (fact.replace(" ", NO_BREAK) if len(fact) <= _SHORT else fact for fact in told if fact)
    return Lines(f"{NO_BREAK}· ".join(kept), SOFT)
