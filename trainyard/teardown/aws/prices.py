"""What something that is left costs a month, at the catalogue's list prices."""

from __future__ import annotations

from trainyard.catalog.instances import cpu_instance, instance
from trainyard.catalog.managed import listed_price
from trainyard.catalog.services import service_price
from trainyard.conventions import HOURS_A_MONTH


def usd(key: str, quantity: float = 1.0) -> float | None:
    """A month of a service: hours are a month's, other units are given. None: the catalogue has no price."""
    try:
        price = service_price(key)
    except KeyError:
        return None
    hourly = price.unit.endswith("hour")
    return price.usd * quantity * (HOURS_A_MONTH if hourly else 1)


def machine_usd(type_: str) -> float | None:
    """A month of a machine on demand; None: the catalogue has no price."""
    try:
        found = instance(type_).usd_per_hour
    except KeyError:
        try:
            found = cpu_instance(type_).usd_per_hour
        except KeyError:
            return None
    return None if found is None else found * HOURS_A_MONTH


def monthly_usd_of_managed(type_: str) -> float | None:
    """A month of a machine of SageMaker's (`ml.g5.xlarge`); None: the catalogue has no price."""
    found = listed_price("aws", type_.removeprefix("ml."))
    return None if found is None else found * HOURS_A_MONTH


def added(*parts: float | None) -> float | None:
    """The sum; None where a part is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
