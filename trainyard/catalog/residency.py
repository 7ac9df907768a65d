"""Which regions a data-residency regime allows."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files

NONE = "none"


@lru_cache
def _regions() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    text = files(__package__ or "trainyard.catalog").joinpath("residency.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
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
