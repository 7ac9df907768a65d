"""What the clouds' managed training asks for a machine, where its own price was read."""

from __future__ import annotations

from functools import lru_cache

from trainyard.catalog.tables import rows


@lru_cache(maxsize=1)
def managed_rows() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of `managed_prices.csv`, by cloud and machine type."""
    return {(row["cloud"], row["type"]): row for row in rows("managed_prices.csv")}


def listed_price(cloud: str, type_: str) -> float | None:
    """USD an hour of a machine type under the managed service; None where none was read."""
    row = managed_rows().get((cloud, type_))
    return float(row["usd_per_hour"]) if row else None


def price_factor(cloud: str) -> tuple[float, float, float]:
    """What the managed service of a cloud asks for a machine, in terms of the machine's own price: least, as a rule,
    most; of the cloud's first row of `managed_instances.csv` for every machine.

    Raises:
        KeyError: no row is for every machine of that cloud.
    """
    for row in rows("managed_instances.csv"):
        if row["cloud"] == cloud and row["match"] == "*":
            return float(row["factor_low"]), float(row["factor"]), float(row["factor_high"])
    raise KeyError(cloud)
