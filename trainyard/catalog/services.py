"""Prices of the services that an environment pays for even while nothing runs (`aws_services.csv`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard.catalog.records import records


@dataclass(frozen=True, slots=True)
class ServicePrice:
    """A list price; `unit` is what it is for, such as hour, zone-hour, month, GiB-month or thousand requests."""

    key: str
    unit: str
    usd: float
    region: str
    source: str
    date: str


@lru_cache(maxsize=1)
def _prices() -> dict[str, ServicePrice]:
    return {price.key: price for price in records(ServicePrice, "aws_services.csv")}


def service_price(key: str) -> ServicePrice:
    """The price of that key.

    Raises:
        KeyError: the catalogue has no such price.
    """
    return _prices()[key]


def service_prices(prefix: str = "") -> tuple[ServicePrice, ...]:
    """All prices whose key begins with `prefix`."""
    return tuple(price for key, price in _prices().items() if key.startswith(prefix))
