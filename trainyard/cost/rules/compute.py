"""Machines: the control plane, node groups with their disks and metrics, and capacity reservations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainyard.catalog.blocks import block_offer
from trainyard.catalog.staleness import STALE_DAYS, is_stale
from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.context import NO_POOL, CostEntry, NotPriced, PoolCapacity, PriceContext, unpriced
from trainyard.cost.model import NOTHING, Amounts, UnitPrice, Unpriced, always
from trainyard.cost.rules.node_hours import billed_nodes, running_nodes
from trainyard.cost.rules.savings import a_month, commitment_savings, spot_saving
from trainyard.cost.spot import spot_discount
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NodeGroup
from trainyard.recorded.read import is_set, mapping_at, mappings_at, number_at, value_at
from trainyard.recorded.types import CAPACITY_RESERVATION

INCLUDED_IOPS, INCLUDED_THROUGHPUT_MB = 3000, 125
"""What the price of a gp3 volume includes (EBS user guide, as generally known)."""

DETAILED_METRICS = 7
"""Number of metrics that EC2 sends with detailed monitoring (CloudWatch price list, as generally known)."""

DEFAULT_ROOT_GIB = 20
"""Root disk of an EKS node whose group and template say nothing (EKS user guide, as generally known)."""


def node_group(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The nodes, their disks and metrics, and what spot or a commitment saves."""
    group = context.node_group(resource)
    pool = PoolCapacity(group.pool, group.capacity) if group.gpu_models else NO_POOL
    yield from _machines(group, context, pool)
    nodes = running_nodes(group, context)
    yield from _disks(group, nodes, context, pool)
    if group.template is not None and value_at(group.template.inputs, "monitoring", "enabled") is True:
        yield context.line(resource, "detailed metrics", "cloudwatch.metric", nodes.times(DETAILED_METRICS), pool=pool)


def _machines(group: NodeGroup, context: PriceContext, pool: PoolCapacity) -> Iterator[CostEntry]:
    resource, first = group.resource, group.instance_types[0]
    reservation = _reservation_id(group)
    if group.in_capacity_block:
        yield _capacity_block(group, reservation, context)
        return
    if group.template and context.resources.referred(
        group.template, "capacityReservationSpecification", CAPACITY_RESERVATION
    ):
        return  # the reservation is of this stack and has its own line
    try:
        price = context.instance(first)
    except NotPriced as missing:
        yield unpriced(resource, f"up to {group.max_nodes:g} {missing.what}", missing.reason)
        return
    nodes = billed_nodes(group, context)
    hours = nodes.times(HOURS_A_MONTH)
    if group.capacity == "spot":
        yield from _spot(group, price, hours, context, pool)
        return
    what = f"{first}, up to {group.max_nodes:g}"
    note = ""
    if group.capacity == "reserved":
        what = f"{first}, {group.max_nodes:g} reserved"
        note = f"reservation {reservation} is taken to hold as many nodes as the group may have"
    elif len(group.instance_types) > 1:
        note = f"the first type that has capacity; else {', '.join(group.instance_types[1:])}"
    yield context.line(resource, what, price, hours, note=note, pool=pool)
    if nodes.floor:
        yield from commitment_savings(resource, "aws", first, price, nodes.floor, context)


def _reservation_id(group: NodeGroup) -> str:
    """The reservation's id for a sentence: a price does not hang on it, so one that is not known yet is no
    hindrance."""
    launched = group.template.inputs if group.template is not None else None
    target = "capacityReservationSpecification", "capacityReservationTarget", "capacityReservationId"
    return str(value_at(launched, *target, default="(not named)", unknown="(not known yet)"))


def _capacity_block(group: NodeGroup, reservation: str, context: PriceContext) -> Unpriced:
    first = group.instance_types[0]
    offer = block_offer("aws", "capacity-block", first, context.region_of(group.resource))
    listed = ""
    if offer is not None:
        old = f", older than {STALE_DAYS} days," if is_stale(offer.date, context.today) else ""
        month = a_month(offer.usd_per_hour, group.max_nodes)
        listed = f"; a month at the price listed on {offer.date}{old} is {month:,.0f} USD"
    try:
        on_demand_usd: float | None = a_month(context.instance(first).usd, group.max_nodes)
        most = f"; on demand they would be up to {on_demand_usd:,.0f} USD"
    except NotPriced:  # it is sold in blocks only: their price is the most there is
        on_demand_usd = a_month(offer.usd_per_hour, group.max_nodes) if offer is not None else None
        most = ""
    reason = f"Capacity Block {reservation}: paid for once, when it is bought, at the price of its offer{listed}{most}"
    what = f"{group.max_nodes:g} {first}"
    return replace(unpriced(group.resource, what, reason), on_demand_usd=on_demand_usd)


def _spot(
    group: NodeGroup, price: UnitPrice, hours: Amounts, context: PriceContext, pool: PoolCapacity
) -> Iterator[CostEntry]:
    resource, first = group.resource, group.instance_types[0]
    region = context.region_of(resource)
    spot = spot_discount(price, first, region, context.assumptions)
    saved = spot.saved
    yield context.line(
        resource,
        f"{first} on spot, up to {group.max_nodes:g}",
        spot.unit,
        hours,
        discount=saved.typical,
        discount_low=saved.low,
        discount_high=saved.high,
        note=spot.note,
        pool=pool,
    )
    dearest, price_of = first, spot.listed
    for other in group.instance_types[1:]:
        try:
            found = spot_discount(context.instance(other), other, region, context.assumptions).listed
        except NotPriced as missing:
            yield unpriced(resource, f"up to {group.max_nodes:g} {other} in place of {first}", missing.reason)
            continue
        if found.usd > price_of.usd:
            dearest, price_of = other, found
    if dearest != first:
        dearer = replace(price_of, usd=round(price_of.usd - spot.listed.usd, 6))
        hours_at_most = replace(NOTHING, ceiling=hours.ceiling)
        note = "the difference of the two prices, where only the larger type is to be had"
        yield context.line(resource, f"{dearest} in place of {first}", dearer, hours_at_most, note=note, pool=pool)
    yield spot_saving(resource, first, spot, hours.expected, context)


def _disks(group: NodeGroup, nodes: Amounts, context: PriceContext, pool: PoolCapacity) -> Iterator[CostEntry]:
    devices = mappings_at(group.template.inputs, "blockDeviceMappings") if group.template is not None else []
    volumes: list[Any] = [value_at(device, "ebs") for device in devices if is_set(device, "ebs")]
    if not volumes:
        gib = number_at(group.resource.inputs, "diskSize", default=DEFAULT_ROOT_GIB)
        volumes = [{"volumeSize": gib, "volumeType": "gp3"}]
    for volume in volumes:
        yield from _volume(group.resource, volume, nodes, context, pool)


def _volume(
    resource: RecordedResource, volume: Any, count: Amounts, context: PriceContext, pool: PoolCapacity
) -> Iterator[CostEntry]:
    kind, gib = str(value_at(volume, "volumeType", default="gp3")), number_at(volume, "volumeSize")
    try:
        yield context.line(resource, f"disks, {gib:g} GiB each", f"ebs.{kind}", count.times(gib), pool=pool)
    except NotPriced as missing:
        yield unpriced(resource, f"disks, {gib:g} GiB each", missing.reason)
        return
    if kind != "gp3":
        return
    for key, included, price in (
        ("iops", INCLUDED_IOPS, "ebs.gp3.iops"),
        ("throughput", INCLUDED_THROUGHPUT_MB, "ebs.gp3.throughput"),
    ):
        above = number_at(volume, key, default=0) - included
        if above > 0:
            yield context.line(resource, f"disk {key} above {included}", price, count.times(above), pool=pool)


def capacity_reservation(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """An On-Demand Capacity Reservation is billed from its creation, used or not."""
    type_, count = str(value_at(resource.inputs, "instanceType")), number_at(resource.inputs, "instanceCount")
    hours = always(count * HOURS_A_MONTH)
    yield context.line(resource, f"{type_}, {count:g} reserved", context.instance(type_), hours)


def control_plane(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The control plane by the hour; with extended support, more once the version's standard support has ended."""
    yield context.line(resource, "control plane", "eks.control-plane", always(HOURS_A_MONTH))
    if value_at(resource.inputs, "upgradePolicy", "supportType") != "STANDARD":
        standard, extended = context.service("eks.control-plane"), context.service("eks.control-plane.extended")
        more = replace(extended, usd=round(extended.usd - standard.usd, 6))
        at_most = replace(NOTHING, ceiling=float(HOURS_A_MONTH))
        yield context.line(resource, "extended support of an old version", more, at_most)


def instance(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A machine of its own, always on, with its root disk."""
    type_ = str(value_at(resource.inputs, "instanceType"))
    yield context.line(resource, type_, context.instance(type_), always(HOURS_A_MONTH))
    root = mapping_at(resource.inputs, "rootBlockDevice") or {"volumeSize": DEFAULT_ROOT_GIB}
    yield from _volume(resource, root, always(1), context, NO_POOL)


def volume(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A volume that no instance brings with it, priced by its type and size."""
    found = {
        "volumeType": value_at(resource.inputs, "type") or "gp2",  # what EC2 takes where nothing is said
        "volumeSize": value_at(resource.inputs, "size"),
        "iops": value_at(resource.inputs, "iops"),
        "throughput": value_at(resource.inputs, "throughput"),
    }
    yield from _volume(resource, found, always(1), context, NO_POOL)
