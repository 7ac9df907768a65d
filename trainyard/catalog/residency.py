"""Which regions a data-residency regime allows."""

from __future__ import annotations

from functools import lru_cache

from trainyard.catalog.tables import rows

NONE = "none"


@lru_cache
def _regions() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in rows("residency.csv"):
        table[row["regime"]] = (*table.get(row["regime"], ()), row["region"])
    return table


def regimes() -> tuple[str, ...]:
    """The regimes that a stack may choose, `none` first."""
    return (NONE, *_regions())


def residency_regions(regime: str) -> tuple[str, ...]:
    """The regions in which data may be kept; empty where the regime is `none`, which allows every region.

    Raises:
        KeyError: the regime is not in `residency.csv`.
    """
    return () if regime == NONE else _regions()[regime]
