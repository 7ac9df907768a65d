"""Machines: the control plane, node groups with their disks and metrics, and capacity reservations.

How the hours of a node group are counted:

| nodes | floor | expected | ceiling |
| --- | --- | --- | --- |
| GPU, on demand and spot | the fewest | utilisation of the most | the most, on demand |
| GPU, reserved | all, from the reservation's creation | all | all |
| system | the fewest | and a part of the room above | the most |

A pool that has both spot and on-demand nodes shares its expected hours between them by the spot share, as far as
either side has room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard import catalog
from trainyard.catalog.blocks import block_offer
from trainyard.catalog.commitments import commitments
from trainyard.catalog.staleness import STALE_DAYS, is_stale
from trainyard.conventions import HOURS_A_MONTH, POOL_LABEL
from trainyard.cost.model import NOTHING, Amounts, Saving, UnitPrice, always
from trainyard.cost.scene import (
    NOWHERE,
    Found,
    NotPriced,
    Place,
    Scene,
    as_number,
    number,
    read,
    read_list,
    read_map,
    unpriced,
)
from trainyard.cost.spot import family_of, spot_discount
from trainyard.recorded.model import RecordedResource

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"

INCLUDED_IOPS, INCLUDED_THROUGHPUT_MB = 3000, 125
"""Of a gp3 volume (EBS user guide, as generally known)."""

DETAILED_METRICS = 7
"""That EC2 sends with detailed monitoring (CloudWatch price list, as generally known)."""

DEFAULT_ROOT_GIB = 20
"""Root disk of an EKS node whose group and template say nothing (EKS user guide, as generally known)."""


@dataclass(frozen=True, slots=True)
class Group:
    """What a node group's inputs, with its launch template's, say."""

    resource: RecordedResource
    template: RecordedResource | None
    types: tuple[str, ...]
    capacity: str  # reserved, capacity-block, spot, on-demand
    pool: str
    fewest: float
    most: float
    reservation: str  # id; "" for none

    @property
    def gpu(self) -> bool:
        """Whether its nodes have GPUs."""
        return any(_is_gpu(type_) for type_ in self.types)


def _is_gpu(type_: str) -> bool:
    return any(item.type == type_ for item in catalog.instances())


def group_of(resource: RecordedResource, scene: Scene) -> Group:
    """Reads a node group.

    Raises:
        NotPriced: its instance types or sizes are unknown or missing.
    """
    template = next(iter(scene.referred(resource, "launchTemplate", LAUNCH_TEMPLATE)), None)
    types = tuple(map(str, read_list(resource, "instanceTypes")))
    reservation, market = "", ""
    if template is not None:
        types = types or tuple(str(type_) for type_ in (read(template, "instanceType"),) if type_)
        target = "capacityReservationSpecification", "capacityReservationTarget"
        reservation = str(read(template, *target, "capacityReservationId") or "")
        market = read(template, "instanceMarketOptions", "marketType") or ""
    if not types:
        raise NotPriced("nodes", "neither the node group nor its launch template names an instance type")
    capacity = str(read(resource, "capacityType") or "ON_DEMAND").lower().replace("_", "-")
    if "capacity-block" in (capacity, market):
        capacity = "capacity-block"
    elif capacity == "on-demand" and reservation:
        capacity = "reserved"
    labels = read_map(resource, "labels")
    fewest, most = number(resource, "scalingConfig", "minSize"), number(resource, "scalingConfig", "maxSize")
    if fewest > most:
        raise NotPriced("nodes", f"at least {fewest:g} and at most {most:g}")
    return Group(
        resource=resource,
        template=template,
        types=types,
        capacity=capacity,
        pool=str(labels.get(POOL_LABEL, "")),
        fewest=fewest,
        most=most,
        reservation=reservation,
    )


def nodes_of(group: Group, scene: Scene) -> Amounts:
    """How many nodes run on average: floor, expected, ceiling."""
    if group.capacity == "reserved":
        return always(group.most)
    if not group.gpu:
        used = scene.assumed("system_nodes_used_percent").value / 100
        return Amounts(group.fewest, group.fewest + used * (group.most - group.fewest), group.most)
    used = scene.assumed("utilisation_percent").value / 100
    if group.capacity in ("spot", "on-demand") and group.pool:
        peers = [peer for peer in _groups(scene) if peer.pool == group.pool and peer.gpu]
        spot = [peer for peer in peers if peer.capacity == "spot"]
        rest = [peer for peer in peers if peer.capacity == "on-demand"]
        if spot and rest:
            share = scene.assumed("spot_share_percent").value / 100
            on_spot, on_demand = _split(spot, rest, used, share)
            mine, total = (spot, on_spot) if group.capacity == "spot" else (rest, on_demand)
            return Amounts(group.fewest, _part(group, mine, total), group.most)
    return Amounts(group.fewest, max(group.fewest, used * group.most), group.most)


def _split(spot: list[Group], rest: list[Group], used: float, share: float) -> tuple[float, float]:
    """Nodes on spot and on demand: `share` of the nodes in use, as far as either side has room."""
    spot_fewest, spot_most = sum(group.fewest for group in spot), sum(group.most for group in spot)
    rest_fewest, rest_most = sum(group.fewest for group in rest), sum(group.most for group in rest)
    nodes = max(used * (spot_most + rest_most), spot_fewest + rest_fewest)
    lowest, highest = max(nodes - rest_most, spot_fewest), min(spot_most, nodes - rest_fewest)
    on_spot = min(max(share * nodes, lowest), highest)
    return on_spot, nodes - on_spot


def _part(group: Group, peers: list[Group], nodes: float) -> float:
    """A group's part of the nodes of its kind: its fewest, and of the rest by the room that it has."""
    room = sum(peer.most - peer.fewest for peer in peers)
    above = nodes - sum(peer.fewest for peer in peers)
    return group.fewest + (above * (group.most - group.fewest) / room if room else 0.0)


def _groups(scene: Scene) -> Iterator[Group]:
    for resource in scene.of_type(NODE_GROUP):
        try:
            yield group_of(resource, scene)
        except NotPriced:
            continue  # its own rule says so


def node_group(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """The nodes, their disks and metrics, and what spot or a commitment saves."""
    group = group_of(resource, scene)
    nodes = nodes_of(group, scene)
    capacity = "reserved" if group.capacity == "capacity-block" else group.capacity
    place = Place(group.pool, capacity) if group.gpu else NOWHERE
    yield from _machines(group, nodes, scene, place)
    # A reserved machine is billed unused, its disk and metrics are not there then.
    if group.capacity == "reserved":
        used = scene.assumed("utilisation_percent").value / 100
        nodes = Amounts(group.fewest, max(group.fewest, used * group.most), group.most)
    yield from _disks(group, nodes, scene, place)
    if group.template is not None and read(group.template, "monitoring", "enabled") is True:
        yield scene.line(resource, "detailed metrics", "cloudwatch.metric", nodes.times(DETAILED_METRICS), place=place)


def _machines(group: Group, nodes: Amounts, scene: Scene, place: Place) -> Iterator[Found]:
    resource, first = group.resource, group.types[0]
    if group.capacity == "capacity-block":
        offer = block_offer("aws", "capacity-block", first, scene.region_of(resource))
        listed = ""
        if offer is not None:
            old = f", older than {STALE_DAYS} days," if is_stale(offer.date, scene.today) else ""
            month = _month(offer.usd_per_hour, group.most)
            listed = f"; a month at the price listed on {offer.date}{old} is {month:,.0f} USD"
        try:
            most = f"; on demand they would be up to {_month(scene.instance(first).usd, group.most):,.0f} USD"
        except NotPriced:
            most = ""
        reason = (
            f"Capacity Block {group.reservation}: paid for once, when it is bought, at the price of its offer"
            f"{listed}{most}"
        )
        yield unpriced(resource, f"{group.most:g} {first}", reason)
        return
    if group.reservation and any(found.id == group.reservation for found in scene.of_type(RESERVATION)):
        return  # the reservation is of this stack and has its own line
    try:
        price = scene.instance(first)
    except NotPriced as missing:
        yield unpriced(resource, f"up to {group.most:g} {missing.what}", missing.reason)
        return
    hours = nodes.times(HOURS_A_MONTH)
    if group.capacity == "spot":
        yield from _spot(group, price, hours, scene, place)
        return
    what = f"{first}, up to {group.most:g}"
    note = ""
    if group.capacity == "reserved":
        what = f"{first}, {group.most:g} reserved"
        note = f"reservation {group.reservation} is taken to hold as many nodes as the group may have"
    elif len(group.types) > 1:
        note = f"the first type that has capacity; else {', '.join(group.types[1:])}"
    yield scene.line(resource, what, price, hours, note=note, place=place)
    if nodes.floor:
        yield from _commitment_savings(group, price, nodes.floor, scene)


def _spot(group: Group, price: UnitPrice, hours: Amounts, scene: Scene, place: Place) -> Iterator[Found]:
    resource, first = group.resource, group.types[0]
    region = scene.region_of(resource)
    spot = spot_discount(price, first, region, scene.assumptions)
    saved = spot.saved
    yield scene.line(
        resource,
        f"{first} on spot, up to {group.most:g}",
        spot.unit,
        hours,
        discount=saved.typical,
        discount_low=saved.low,
        discount_high=saved.high,
        note=spot.note,
        place=place,
    )
    dearest, price_of = first, spot.listed
    for other in group.types[1:]:
        try:
            found = spot_discount(scene.instance(other), other, region, scene.assumptions).listed
        except NotPriced as missing:
            yield unpriced(resource, f"up to {group.most:g} {other} in place of {first}", missing.reason)
            continue
        if found.usd > price_of.usd:
            dearest, price_of = other, found
    if dearest != first:
        dearer = replace(price_of, usd=round(price_of.usd - spot.listed.usd, 6))
        hours_at_most = replace(NOTHING, ceiling=hours.ceiling)
        note = "the difference of the two prices, where only the larger type is to be had"
        yield scene.line(resource, f"{dearest} in place of {first}", dearer, hours_at_most, note=note, place=place)
    full = hours.expected * spot.listed.usd
    paid = 100 * (1 - saved.typical)
    yield Saving(
        kind="spot",
        status="counted",
        what=f"{resource.name}: {hours.expected:,.0f} hours of {first} at {paid:.0f} % of on-demand",
        usd=full * saved.typical,
        low_usd=full * saved.low,
        high_usd=full * saved.high,
        source=spot.source,
        date=spot.date,
        stale=is_stale(spot.date, scene.today),
    )


def _commitment_savings(group: Group, price: UnitPrice, nodes: float, scene: Scene) -> Iterator[Saving]:
    """What committing to the nodes that always run would save; not counted, since nobody has bought it."""
    full = _month(price.usd, nodes)
    for offer in commitments("aws", group.types[0], family_of(group.types[0])):
        yield Saving(
            kind="reservation",
            status="possible",
            what=f"{group.resource.name}: {nodes:g} {group.types[0]} committed for {offer.months} months",
            usd=full * offer.savings.typical,
            low_usd=full * offer.savings.low,
            high_usd=full * offer.savings.high,
            source=offer.source,
            date=offer.date,
            stale=is_stale(offer.date, scene.today),
            months=offer.months,
        )


def _month(usd_per_hour: float, nodes: float) -> float:
    return usd_per_hour * nodes * HOURS_A_MONTH


def _disks(group: Group, nodes: Amounts, scene: Scene, place: Place) -> Iterator[Found]:
    mappings = read_list(group.template, "blockDeviceMappings") if group.template is not None else []
    volumes = [mapping["ebs"] for mapping in mappings if isinstance(mapping, Mapping) and mapping.get("ebs")]
    if not volumes:
        volumes = [{"volumeSize": number(group.resource, "diskSize", default=DEFAULT_ROOT_GIB), "volumeType": "gp3"}]
    for volume in volumes:
        yield from _volume(group.resource, volume, nodes, scene, place)


def _volume(
    resource: RecordedResource, volume: Mapping[str, Any], count: Amounts, scene: Scene, place: Place
) -> Iterator[Found]:
    if not isinstance(volume, Mapping):
        raise NotPriced("disks", f"{volume!r} is not a mapping")
    kind, gib = str(volume.get("volumeType") or "gp3"), as_number(volume.get("volumeSize"), "size of disks")
    try:
        yield scene.line(resource, f"disks, {gib:g} GiB each", f"ebs.{kind}", count.times(gib), place=place)
    except NotPriced as missing:
        yield unpriced(resource, f"disks, {gib:g} GiB each", missing.reason)
        return
    if kind != "gp3":
        return
    for key, included, price in (
        ("iops", INCLUDED_IOPS, "ebs.gp3.iops"),
        ("throughput", INCLUDED_THROUGHPUT_MB, "ebs.gp3.throughput"),
    ):
        above = as_number(volume.get(key) or 0, f"disk {key}") - included
        if above > 0:
            yield scene.line(resource, f"disk {key} above {included}", price, count.times(above), place=place)


def capacity_reservation(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """An On-Demand Capacity Reservation is billed from its creation, used or not."""
    type_, count = str(read(resource, "instanceType")), number(resource, "instanceCount")
    hours = always(count * HOURS_A_MONTH)
    yield scene.line(resource, f"{type_}, {count:g} reserved", scene.instance(type_), hours)


def control_plane(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """The control plane by the hour; with extended support, more once the version's standard support has ended."""
    yield scene.line(resource, "control plane", "eks.control-plane", always(HOURS_A_MONTH))
    if read(resource, "upgradePolicy", "supportType") != "STANDARD":
        standard, extended = scene.service("eks.control-plane"), scene.service("eks.control-plane.extended")
        more = replace(extended, usd=round(extended.usd - standard.usd, 6))
        at_most = replace(NOTHING, ceiling=float(HOURS_A_MONTH))
        yield scene.line(resource, "extended support of an old version", more, at_most)


def instance(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """A machine of its own, always on, with its root disk."""
    type_ = str(read(resource, "instanceType"))
    yield scene.line(resource, type_, scene.instance(type_), always(HOURS_A_MONTH))
    root = read_map(resource, "rootBlockDevice") or {"volumeSize": DEFAULT_ROOT_GIB}
    yield from _volume(resource, root, always(1), scene, NOWHERE)


def volume(resource: RecordedResource, scene: Scene) -> Iterator[Found]:
    """A disk of its own."""
    found = {
        "volumeType": read(resource, "type") or "gp2",  # what EC2 takes where nothing is said
        "volumeSize": read(resource, "size"),
        "iops": read(resource, "iops"),
        "throughput": read(resource, "throughput"),
    }
    yield from _volume(resource, found, always(1), scene, NOWHERE)
