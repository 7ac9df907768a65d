"""Machines of Google Cloud: the control plane, node pools with their disks, reservations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.catalog import gcp
from trainyard.catalog.blocks import block_offer
from trainyard.conventions import HOURS_A_MONTH
from trainyard.conventions.gcp import GKE_ACCELERATORS, LOCAL_SSD_GIB, has_built_in_ssds
from trainyard.cost.context import NO_POOL, CostEntry, NotPriced, PoolCapacity, PriceContext, unpriced
from trainyard.cost.model import Amounts, UnitPrice, always
from trainyard.cost.rules.node_hours import billed_nodes, running_nodes
from trainyard.cost.rules.savings import commitment_savings, spot_saving
from trainyard.cost.spot import spot_discount
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NodeGroup
from trainyard.recorded.read import is_on, is_set, mappings_at, number_at, text_at, value_at
from trainyard.recorded.types import GCP_RESERVATION

DEFAULT_DISK_GIB, DEFAULT_DISK = 100, "pd-balanced"
"""Boot disk of a GKE node that says nothing (GKE documentation, as generally known)."""


def control_plane(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The control plane by the hour, what it and the pods log, and metrics, whose price nobody has read."""
    yield context.line(resource, "control plane", "gke.control-plane", always(HOURS_A_MONTH))
    components = [str(each) for each in value_at(resource.inputs, "loggingConfig", "enableComponents") or ()]
    if {"APISERVER", "SCHEDULER", "CONTROLLER_MANAGER"} & set(components):
        logged = context.usage("control_plane_log_gb")
        yield context.line(resource, "control plane logs that come in", "logs.ingestion", logged)
    if not components or "WORKLOADS" in components:
        logged = context.usage("container_log_gb")
        yield context.line(resource, "containers' logs that come in", "logs.ingestion", logged)
    if is_on(resource.inputs, "monitoringConfig", "managedPrometheus", "enabled"):
        yield unpriced(resource, "metrics", "samples of Managed Prometheus: no dated price was read")


def node_pool(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """The nodes with their GPUs, their disks, and what spot or a commitment saves."""
    group = context.node_group(resource)
    machine, region = group.instance_types[0], context.region_of(resource)
    tpu = _is_tpu(machine)
    pool = PoolCapacity(group.pool, group.capacity) if group.gpu_models or tpu else NO_POOL
    running = _chips_in_use(group, context) if tpu else running_nodes(group, context)
    reserved = group.capacity == "reserved"
    if not (reserved and context.resources.referred(resource, "nodeConfig", GCP_RESERVATION)):
        billed = always(float(group.max_nodes)) if tpu and reserved else billed_nodes(group, context)
        yield from _machines(group, region, running if tpu and not reserved else billed, context, pool)
    yield from _disks(group, running, context, pool)


def _is_tpu(machine: str) -> bool:
    return any(tpu.type == machine for tpu in gcp.tpus())


def _chips_in_use(group: NodeGroup, context: PriceContext) -> Amounts:
    """Nodes with TPU chips are as busy as those with GPUs; a pool of them has no others to share its hours with."""
    used = context.assumed("utilisation_percent").value / 100
    fewest, most = float(group.min_nodes), float(group.max_nodes)
    return Amounts(fewest, max(fewest, used * most), most)


def _machines(
    group: NodeGroup, region: str, nodes: Amounts, context: PriceContext, pool: PoolCapacity
) -> Iterator[CostEntry]:
    resource, machine = group.resource, group.instance_types[0]
    hours = nodes.times(HOURS_A_MONTH)
    try:
        price = _price(machine, region, _gpus_attached(resource), context)
        if is_on(resource.inputs, "nodeConfig", "flexStart"):
            price, note = _flex_start(machine, region, price)
            yield context.line(resource, f"{machine} by flex-start, up to {group.max_nodes:g}", price, hours, note=note,
                               pool=pool)  # fmt: skip
            return
        if group.capacity == "spot":
            yield from _spot(group, region, price, hours, context, pool)
            return
        price = _not_from_a_queue(group, region, price)
    except NotPriced as missing:
        yield unpriced(resource, f"up to {group.max_nodes:g} {missing.what}", missing.reason)
        return
    what, note = f"{machine}, up to {group.max_nodes:g}", ""
    if group.capacity == "reserved":
        what = f"{machine}, {group.max_nodes:g} reserved"
        note = "the reservation is taken to hold as many nodes as the pool may have, and to be paid for unused too"
    yield context.line(resource, what, price, hours, note=note, pool=pool)
    if nodes.floor:
        yield from commitment_savings(resource, "gcp", machine, price, nodes.floor, context)


def _gpus_attached(pool: RecordedResource) -> float:
    """GPUs that a node pool attaches to machines which have none of their own."""
    accelerators = mappings_at(pool.inputs, "nodeConfig", "guestAccelerators")
    machine = text_at(pool.inputs, "nodeConfig", "machineType") or ""
    if not machine.startswith("n1-"):
        return 0
    models = {GKE_ACCELERATORS.get(str(value_at(each, "type"))) for each in accelerators}
    if models - {"T4"}:
        raise NotPriced(machine, "the catalogue has no price of GPUs that are attached to N1 but of T4")
    return sum(number_at(each, "count", default=0) for each in accelerators)


def _price(machine: str, region: str, gpus: float, context: PriceContext) -> UnitPrice:
    price = context.machine(machine, region)
    if not gpus:
        return price
    gpu = gcp.service_price("gpu.t4", region)
    usd = round(price.usd + gpus * gpu.usd, 6)
    source = f"{price.source}; T4: {gpu.source}"
    return replace(price, usd=usd, region=gpu.region, source=source, date=min(price.date, gpu.date))


def _flex_start(machine: str, region: str, on_demand: UnitPrice) -> tuple[UnitPrice, str]:
    """The listed price of the queue; where none was read, that on demand, which it does not pass."""
    offer = block_offer("gcp", "flex-start", machine, region) or block_offer(
        "gcp", "flex-start", machine, gcp.HOME_REGION
    )
    if offer is None:
        return on_demand, "no price of flex-start was read: the list price stands in, which it does not pass"
    return UnitPrice(offer.usd_per_hour, "hour", offer.region, offer.source, offer.date), "while it runs"


def _not_from_a_queue(group: NodeGroup, region: str, price: UnitPrice) -> UnitPrice:
    """The price on demand, or by calendar, of a reservation of what is not sold on demand.

    Raises:
        NotPriced: the machine is sold neither on demand nor by calendar.
    """
    machine = group.instance_types[0]
    try:
        sold = gcp.instance(machine).on_demand
    except KeyError:
        return price  # without GPUs, or with chips
    if sold:
        return price
    offer = block_offer("gcp", "calendar", machine, region) or block_offer("gcp", "calendar", machine, gcp.HOME_REGION)
    if group.capacity != "reserved" or offer is None:
        raise NotPriced(machine, "is not sold on demand; as spot, flex-start or for a reserved time")
    return UnitPrice(offer.usd_per_hour, "hour", offer.region, offer.source, offer.date)


def _spot(
    group: NodeGroup, region: str, price: UnitPrice, hours: Amounts, context: PriceContext, pool: PoolCapacity
) -> Iterator[CostEntry]:
    resource, machine = group.resource, group.instance_types[0]
    spot = spot_discount(price, machine, region, context.assumptions, "gcp")
    yield context.line(
        resource,
        f"{machine} on spot, up to {group.max_nodes:g}",
        spot.unit,
        hours,
        discount=spot.saved.typical,
        discount_low=spot.saved.low,
        discount_high=spot.saved.high,
        note=spot.note,
        pool=pool,
    )
    yield spot_saving(resource, machine, spot, hours.expected, context)


def _disks(group: NodeGroup, nodes: Amounts, context: PriceContext, pool: PoolCapacity) -> Iterator[CostEntry]:
    resource = group.resource
    node = value_at(resource.inputs, "nodeConfig")
    gib = number_at(node, "diskSizeGb", default=DEFAULT_DISK_GIB)
    kind = text_at(node, "diskType") or DEFAULT_DISK
    try:
        yield context.line(resource, f"boot disks, {gib:g} GiB each", f"disk.{kind}", nodes.times(gib), pool=pool)
    except NotPriced as missing:
        yield unpriced(resource, f"boot disks, {gib:g} GiB each", missing.reason)
    keys = ("ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig")
    ssds = sum(number_at(node, key, "localSsdCount", default=0) for key in keys if is_set(node, key))
    ssds += number_at(node, "localSsdCount", default=0)
    if ssds and not has_built_in_ssds(group.instance_types[0]):
        stored = nodes.times(ssds * LOCAL_SSD_GIB)
        yield context.line(resource, f"local SSDs, {ssds:g} each", "disk.local-ssd", stored, pool=pool)


def reservation(resource: RecordedResource, context: PriceContext) -> Iterator[CostEntry]:
    """A reservation is billed from its creation, used or not."""
    wanted = value_at(resource.inputs, "specificReservation")
    machine, count = str(value_at(wanted, "instanceProperties", "machineType")), number_at(wanted, "count")
    price = context.machine(machine, context.region_of(resource))
    yield context.line(resource, f"{machine}, {count:g} reserved", price, always(count * HOURS_A_MONTH))
