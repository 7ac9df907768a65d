"""Which regions a data-residency regime allows."""

from __future__ import annotations

from functools import lru_cache

from trainyard.catalog.tables import rows

NONE = "none"


@lru_cache
def _regions() -> dict[str, dict[str, tuple[str, ...]]]:
    table: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows("residency.csv"):
        clouds = table.setdefault(row["regime"], {})
        clouds[row["cloud"]] = (*clouds.get(row["cloud"], ()), row["region"])
    return table


def regimes() -> tuple[str, ...]:
    """The regimes that a stack may choose, `none` first."""
    return (NONE, *_regions())


def residency_regions(regime: str, cloud: str = "aws") -> tuple[str, ...]:
    """The regions of a cloud in which data may be kept.

    Empty where the regime is `none`, which allows every region, and where the cloud has no region that the regime
    allows: `is_served` tells the two apart.

    Raises:
        KeyError: the regime is not in `residency.csv`.
    """
    return () if regime == NONE else _regions()[regime].get(cloud, ())


def is_served(regime: str, cloud: str) -> bool:
    """Whether a cloud has a region that a regime allows; raises KeyError for a regime that there is not."""
    return regime == NONE or cloud in _regions()[regime]
