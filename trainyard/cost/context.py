"""What a price rule sees: the recorded resources with their references, the prices and the assumptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from trainyard import catalog
from trainyard.catalog import gcp, service_price
from trainyard.catalog.staleness import is_stale
from trainyard.catalog.tables import rows
from trainyard.cost.assumptions import Assumption, Assumptions
from trainyard.cost.model import Amounts, LineItem, Saving, UnitPrice, Unpriced
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NODE_GROUP_TYPES, NodeGroup, node_group
from trainyard.recorded.read import UnreadableInput, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_PROVIDER, GCP_PROVIDER

DEFAULT_REGION = "us-east-1"

_ZONE = re.compile(r"(?P<region>[a-z]+-[a-z]+\d+)-[a-z0-9]+")
"""A zone of Google Cloud, whose region comes before its last hyphen."""

CostEntry = LineItem | Unpriced | Saving
"""What a rule may yield."""


@lru_cache(maxsize=1)
def _price_regions() -> dict[str, str]:
    tables = ("aws_instances.csv", "aws_cpu_instances.csv")
    return {row["type"]: row["price_region"] for name in tables for row in rows(name)}


UNKNOWN_MACHINES: Final = ("no such instance type in the catalogue", "no such machine type in the catalogue")
"""Why a machine of AWS, and one of Google Cloud, has no price."""


UNKNOWN_DATABASE: Final = "no such database class in the catalogue"
"""Why an instance of RDS has no price."""


class NotPriced(Exception):  # noqa: N818 (not an error: the rule says what it cannot price)
    """A rule cannot price a part of a resource; the text is the reason."""

    def __init__(self, what: str, reason: str) -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"{what}: {reason}")


class PoolCapacity(NamedTuple):
    """The GPU pool and the capacity that a line belongs to, by which teams share it."""

    pool: str
    capacity: str


NO_POOL = PoolCapacity("", "")
"""Pool and capacity of what is not a GPU node's: empty texts."""


class PriceContext:
    """One recording, priced on one day."""

    def __init__(
        self,
        resources: Resources,
        *,
        region: str = DEFAULT_REGION,
        assumptions: Assumptions,
        today: date | None = None,
    ) -> None:
        self.resources = resources
        self.assumptions = assumptions
        self.today = today or datetime.now(UTC).date()
        self._region = region

    def node_group(self, resource: RecordedResource) -> NodeGroup:
        """A node group with what its nodes are and how many there may be.

        Raises:
            NotPriced: nobody names an instance type, or the fewest nodes are more than the most.
            UnreadableInput: something of it is unknown, or a size is missing.
        """
        if resource.type == EKS_NODE_GROUP:
            for size in ("minSize", "maxSize"):
                number_at(resource.inputs, "scalingConfig", size)
        group = node_group(resource, self.resources)
        if not group.instance_types:
            raise NotPriced("nodes", "neither the node group nor its launch template names an instance type")
        if group.min_nodes > group.max_nodes:
            raise NotPriced("nodes", f"at least {group.min_nodes:g} and at most {group.max_nodes:g}")
        return group

    @cached_property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """The node groups that can be read; of another one its own rule says why not."""
        found = []
        for resource in self.resources.of(*NODE_GROUP_TYPES):
            with suppress(NotPriced, UnreadableInput):
                found.append(self.node_group(resource))
        return tuple(found)

    def region_of(self, resource: RecordedResource) -> str:
        """The region that a resource is in: its own, else its provider's, else the stack's.

        Of a bucket of Google's in several regions, the name that Google has for those.
        """
        provider = self.resources.provider_of(resource)
        return _region_in(resource) or (_region_in(provider) if provider is not None else "") or self.stack_region

    @cached_property
    def cloud(self) -> str:
        """The cloud that Kubernetes objects make load balancers and disks in: the one that the stack has, else AWS."""
        return "gcp" if self.resources.of(GCP_PROVIDER) and not self.resources.of(AWS_PROVIDER) else "aws"

    @cached_property
    def stack_region(self) -> str:
        """The region that most of the stack is in: the cloud's first provider's, else the plan's."""
        providers = self.resources.of(AWS_PROVIDER) or self.resources.of(GCP_PROVIDER)
        return next(filter(None, map(_region_in, providers)), self._region)

    def assumed(self, key: str) -> Assumption:
        """The assumption of that name."""
        return self.assumptions[key]

    def usage(self, key: str, times: float = 1.0) -> Amounts:
        """What an assumption says is used: floor, expected, ceiling; `times` as often."""
        return self.assumptions[key].amounts.times(times)

    def service(self, key: str, resource: RecordedResource | None = None) -> UnitPrice:
        """The list price of a service of the cloud that a resource is in; of AWS where none is named.

        Raises:
            NotPriced: the catalogue has none.
        """
        google = resource is not None and self.cloud_of(resource) == "gcp"
        try:
            price = gcp.service_price(key, self.region_of(resource)) if google and resource else service_price(key)
        except KeyError:
            table = "gcp_services.csv" if google else "aws_services.csv"
            raise NotPriced(key, f"no such price in catalog/{table}") from None
        return UnitPrice(price.usd, price.unit, price.region, price.source, price.date)

    def cloud_of(self, resource: RecordedResource) -> str:
        """The cloud that bills a resource: by its type, of a Kubernetes object the stack's."""
        package = resource.type.partition(":")[0]
        return package if package in ("aws", "gcp") else self.cloud

    def instance(self, type_: str) -> UnitPrice:
        """The on-demand price of an instance type of AWS, Linux, an hour.

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
                raise NotPriced(type_, UNKNOWN_MACHINES[0]) from None
        if entry.usd_per_hour is None:
            raise NotPriced(type_, "has no price in the catalogue")
        return UnitPrice(entry.usd_per_hour, "hour", _price_regions()[type_], entry.price_source, entry.price_date)

    def machine(self, type_: str, region: str) -> UnitPrice:
        """The on-demand price of a machine type of Google Cloud, an hour, GPUs and chips included.

        Raises:
            NotPriced: the catalogue has no such type, or no price of it.
        """
        try:
            price = gcp.machine_price(type_, region)
        except KeyError:
            raise NotPriced(type_, UNKNOWN_MACHINES[1]) from None
        if price is None:
            raise NotPriced(type_, "has no price in the catalogue")
        return UnitPrice(price.usd, "hour", price.region, price.source, price.date)

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
        pool: PoolCapacity = NO_POOL,
    ) -> LineItem:
        """One line: quantity times price; a discount is on floor and expected, with its spread on the expected.

        `price` may be the key of a service.
        """
        unit = self.service(price, resource) if isinstance(price, str) else price
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
            other_region=unit.region not in (gcp.GLOBAL, self.region_of(resource)),
            note=note,
            pool=pool.pool,
            capacity=pool.capacity,
        )


def unpriced(resource: RecordedResource, what: str, reason: str, *, aside: bool = False) -> Unpriced:
    """A part of a resource that has no price here. `aside`: no budget hangs on it, as `Unpriced` says."""
    return Unpriced(resource.component, resource.name, resource.type, what, reason, aside=aside)


def _region_in(resource: RecordedResource) -> str:
    """The region that a resource's own inputs name: of Google's also by a location, which may be a zone."""
    region = value_at(resource.inputs, "region", unknown="")
    if not region and resource.type.startswith("gcp:"):
        region = value_at(resource.inputs, "location", unknown="")
    if not isinstance(region, str):
        return ""
    zone = _ZONE.fullmatch(region) if resource.type.startswith("gcp:") else None
    return zone["region"] if zone else region


def core_of(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The core of a published plan; empty where a program publishes none."""
    found: Mapping[str, Any] = plan.get("core") or {}
    return found
