"""What a price rule sees: the recorded resources with their references, the prices and the assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from trainyard import catalog
from trainyard.catalog import service_price
from trainyard.catalog.staleness import is_stale
from trainyard.catalog.tables import rows
from trainyard.cost.assumptions import Assumption, Assumptions
from trainyard.cost.model import Amounts, LineItem, Saving, UnitPrice, Unpriced
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare

Found = LineItem | Unpriced | Saving
"""What a rule may yield."""


@lru_cache(maxsize=1)
def _price_regions() -> dict[str, str]:
    tables = ("aws_instances.csv", "aws_cpu_instances.csv")
    return {row["type"]: row["price_region"] for name in tables for row in rows(name)}


class NotPriced(Exception):  # noqa: N818 (not an error: the rule says what it cannot price)
    """A rule cannot price a part of a resource; the text is the reason."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what}: {reason}")


def read(resource: RecordedResource, *path: str) -> Any:
    """The input at a path, without marks of secrecy; None where there is none.

    Raises:
        NotPriced: the value is not known before the resource exists.
    """
    value: Any = bare(resource.inputs)
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is UNKNOWN:
        raise NotPriced(".".join(path), "not known before the resource exists")
    return value


def read_list(resource: RecordedResource, *path: str) -> list[Any]:
    """The list at a path; empty where there is none.

    Raises:
        NotPriced: it is unknown, or no list.
    """
    value = read(resource, *path)
    if value is not None and not isinstance(value, list):
        raise NotPriced(".".join(path), f"{value!r} is not a list")
    return value or []


def read_map(resource: RecordedResource, *path: str) -> Mapping[str, Any]:
    """The mapping at a path; empty where there is none.

    Raises:
        NotPriced: it is unknown, or no mapping.
    """
    value = read(resource, *path)
    if value is not None and not isinstance(value, Mapping):
        raise NotPriced(".".join(path), f"{value!r} is not a mapping")
    return value or {}


def number(resource: RecordedResource, *path: str, default: float | None = None) -> float:
    """The input at a path as a number.

    Raises:
        NotPriced: it is unknown, no number, or absent and without a default.
    """
    value = read(resource, *path)
    if value is None and default is not None:
        return default
    return as_number(value, ".".join(path))


def as_number(value: Any, what: str) -> float:
    """`value` as a finite number, 0 or more; wire values may be texts.

    Raises:
        NotPriced: it is none.
    """
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise NotPriced(what, f"{value!r} is not a number") from None
    if not 0 <= found < math.inf:
        raise NotPriced(what, f"{value!r} is not a number of 0 or more")
    return found


class Place(NamedTuple):
    """The GPU pool and the capacity that a line belongs to, by which teams share it."""

    pool: str
    capacity: str


NOWHERE = Place("", "")
"""Of what is not a GPU node's."""


class Scene:
    """One recording, priced on one day."""

    def __init__(
        self,
        resources: Iterable[RecordedResource],
        *,
        region: str,
        assumptions: Assumptions,
        today: date,
    ) -> None:
        self.resources = tuple(resource for resource in resources if resource.custom and not resource.is_provider)
        self.assumptions = assumptions
        self.today = today
        self._region = region
        self._by_urn = {resource.urn: resource for resource in resources}
        self._by_type: dict[str, list[RecordedResource]] = {}
        for resource in self.resources:
            self._by_type.setdefault(resource.type, []).append(resource)

    def of_type(self, type_: str) -> tuple[RecordedResource, ...]:
        """The recorded resources of one type."""
        return tuple(self._by_type.get(type_, ()))

    def referred(self, resource: RecordedResource, key: str, type_: str) -> tuple[RecordedResource, ...]:
        """The resources of a type that one input of a resource refers to: by dependency, else by its id."""
        urns = resource.property_dependencies.get(key, ())
        found = [self._by_urn[urn] for urn in urns if urn in self._by_urn and self._by_urn[urn].type == type_]
        if not found:
            ids = set(_texts(bare(resource.inputs.get(key))))
            found = [other for other in self.of_type(type_) if other.id is not UNKNOWN and other.id in ids]
        return tuple(found)

    def region_of(self, resource: RecordedResource) -> str:
        """The region that a resource is in: its own, else its provider's, else the stack's."""
        own = bare(resource.inputs.get("region"))
        if isinstance(own, str):
            return own
        provider = self._by_urn.get(resource.provider.rpartition("::")[0])
        named = bare(provider.inputs.get("region")) if provider is not None else None
        return named if isinstance(named, str) else self._region

    @property
    def stack_region(self) -> str:
        """The region that most of the stack is in: the first AWS provider's, else the plan's."""
        for resource in self._by_urn.values():
            if resource.type == "pulumi:providers:aws" and isinstance(resource.inputs.get("region"), str):
                return str(resource.inputs["region"])
        return self._region

    def assumed(self, key: str) -> Assumption:
        """The assumption of that name."""
        return self.assumptions[key]

    def usage(self, key: str, times: float = 1.0) -> Amounts:
        """What an assumption says is used: floor, expected, ceiling; `times` as often."""
        return self.assumptions[key].amounts.times(times)

    def service(self, key: str) -> UnitPrice:
        """The list price of a service.

        Raises:
            NotPriced: the catalogue has none.
        """
        try:
            price = service_price(key)
        except KeyError:
            raise NotPriced(key, "no such price in catalog/aws_services.csv") from None
        return UnitPrice(price.usd, price.unit, price.region, price.source, price.date)

    def instance(self, type_: str) -> UnitPrice:
        """The on-demand price of an instance type, Linux, an hour.

        Raises:
            NotPriced: the catalogue has no such type, or no price of it.
        """
        entry: catalog.Instance | catalog.CpuInstance
        try:
            entry = catalog.instance(type_)
        except KeyError:
            try:
                entry = catalog.cpu_instance(type_)
            except KeyError:
                raise NotPriced(type_, "no such instance type in the catalogue") from None
        if entry.usd_per_hour is None:
            raise NotPriced(type_, "has no price in the catalogue")
        return UnitPrice(entry.usd_per_hour, "hour", _price_regions()[type_], entry.price_source, entry.price_date)

    def line(
        self,
        resource: RecordedResource,
        what: str,
        price: UnitPrice | str,
        quantity: Amounts,
        *,
        discount: float = 0.0,
        discount_low: float | None = None,
        discount_high: float | None = None,
        note: str = "",
        place: Place = NOWHERE,
    ) -> LineItem:
        """One line: quantity times price; a discount is on floor and expected, with its spread on the expected.

        `price` may be the key of a service.
        """
        unit = self.service(price) if isinstance(price, str) else price
        at_list = quantity.times(unit.usd)
        usd = Amounts(at_list.floor * (1 - discount), at_list.expected * (1 - discount), at_list.ceiling).rounded()
        low = discount if discount_high is None else discount_high
        high = discount if discount_low is None else discount_low
        return LineItem(
            component=resource.component,
            resource=resource.name,
            type=resource.type,
            what=what,
            unit=unit.unit,
            unit_usd=unit.usd,
            quantity=quantity,
            usd=usd,
            low_usd=round(at_list.expected * (1 - low), 2),
            high_usd=round(at_list.expected * (1 - high), 2),
            discount=discount,
            source=unit.source,
            date=unit.date,
            region=unit.region,
            stale=is_stale(unit.date, self.today),
            other_region=unit.region != self.region_of(resource),
            note=note,
            pool=place.pool,
            capacity=place.capacity,
        )


def unpriced(resource: RecordedResource, what: str, reason: str) -> Unpriced:
    """A part of a resource that has no price here."""
    return Unpriced(resource.component, resource.name, resource.type, what, reason)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
