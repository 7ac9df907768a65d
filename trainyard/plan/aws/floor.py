"""The idle floor: what an environment on AWS costs a month while no job runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard import catalog
from trainyard.catalog import Instance, service_price
from trainyard.conventions import HOURS_A_MONTH
from trainyard.conventions.aws import BASTION_DISK_GIB
from trainyard.plan.aws.job_alarms import JOB_ALARMS
from trainyard.plan.aws.parts import KEY_CLASSES, AwsPlan
from trainyard.plan.context import Context
from trainyard.plan.parts import CpuNodesPlan, FloorItem, IdleFloor, MonitoringPlan, PoolPlan
from trainyard.plan.pools import PoolDraft

_CAPACITIES = {"reserved": "reserved", "spot": "spot", "on-demand": "onDemand"}
"""The keys of a pool's capacities in a stack file."""


def plan_floor(
    ground: AwsPlan,
    system_nodes: CpuNodesPlan,
    cpu_pool: CpuNodesPlan | None,
    pools: Sequence[PoolPlan],
    drafts: Sequence[PoolDraft[Instance]],
    mlflow: bool,
    monitoring: MonitoringPlan | None,
    context: Context,
) -> IdleFloor:
    """What is paid for all the time: services, nodes without GPUs, reservations, and pools at their minimum.

    List prices, of us-east-1 where the region's own are not in the catalogue. Traffic, requests, log ingestion and
    stored objects come on top. A Capacity Block is paid for once, when it is bought, and is not in here.
    """
    lustre, database = ground.lustre, ground.database
    items = [
        _item("EKS control plane", 1, HOURS_A_MONTH, "eks.control-plane"),
        *_network_items(ground),
        *_bastions(ground),
        *_cpu_nodes("system nodes", system_nodes, "systemNodes"),
        *(_cpu_nodes("CPU pool", cpu_pool, "cpuPool") if cpu_pool is not None and cpu_pool.min_nodes else ()),
        *_pool_items(pools, drafts),
        *_key_items(ground),
    ]
    if lustre is not None:
        key = f"fsx.lustre.persistent-2.ssd.{lustre.throughput_mbps_per_tib}"
        items.append(
            _item(f"FSx for Lustre ({lustre.capacity_gib} GiB)", lustre.capacity_gib, 1, key, "storage.lustre.enabled")
        )
    if mlflow and database is not None:
        setting = "mlflow.database.multiAz"
        copies = 2 if database.multi_az else 1
        price = f"rds.postgres.{database.instance_class}"
        items.append(
            _item(f"database ({database.instance_class}, zones: {copies})", copies, HOURS_A_MONTH, price, setting)
        )
        items.append(_item("database storage", copies * database.storage_gib, 1, "rds.gp3", setting))
        items.append(_item("database password", 1, 1, "secret", "mlflow.enabled"))
    if monitoring is not None:
        size = monitoring.storage_gib
        items.append(_item(f"volume of Prometheus ({size} GiB)", size, 1, "ebs.gp3", "monitoring.storageGib"))
        items.append(_item("alarm on the watchdog", 1, 1, "cloudwatch.alarm", "monitoring.enabled"))
        if monitoring.managed:
            items.append(_item("alarm on rules that fail", 1, 1, "cloudwatch.alarm", "monitoring.service"))
    items += _job_alarms(ground)
    return _told(items, context)


def plan_managed_floor(ground: AwsPlan, context: Context) -> IdleFloor:
    """What managed training costs while nobody works: editors and jobs are paid for while they run, and no longer.

    Disks of editors come on top: they stay until somebody deletes the space.
    """
    return _told([*_network_items(ground), *_key_items(ground), *_job_alarms(ground)], context)


def _job_alarms(ground: AwsPlan) -> Iterator[FloorItem]:
    """Their metrics cost while jobs begin and end, and no longer."""
    if ground.managed is not None and ground.managed.alarms is not None:
        yield _item(f"alarms on jobs ({JOB_ALARMS})", JOB_ALARMS, 1, "cloudwatch.alarm", "monitoring.enabled")


def _network_items(ground: AwsPlan) -> Iterator[FloorItem]:
    network = ground.network
    if network.nat_gateways:
        key = "aws.natPerZone" if ground.control_planes else "managed.privateDomain"
        what = f"NAT gateways ({network.nat_gateways})"
        yield _item(what, network.nat_gateways, HOURS_A_MONTH, "nat-gateway", key)
        yield _item("public addresses of NAT gateways", network.nat_gateways, HOURS_A_MONTH, "public-ipv4", key)
    if network.interface_endpoints:
        yield _item(
            f"interface endpoints ({len(network.interface_endpoints)}, zones: {len(network.endpoint_zones)})",
            len(network.interface_endpoints) * len(network.endpoint_zones),
            HOURS_A_MONTH,
            "interface-endpoint",
            "aws.endpointZones",
        )


def _key_items(ground: AwsPlan) -> Iterator[FloorItem]:
    yield _item("encryption keys", len(KEY_CLASSES), 1, "kms.key")
    if ground.audit.trail is not None:
        yield _item("key of the trail and of security alerts", 1, 1, "kms.key", "audit.trail.by")


def _told(items: Sequence[FloorItem], context: Context) -> IdleFloor:
    floor = IdleFloor(tuple(items))
    region = context.region
    known = "us-east-1 list prices" if region == "us-east-1" else f"us-east-1 list prices; those of {region} differ"
    lacks = f"; not in it, for want of a price: {', '.join(floor.unpriced)}" if floor.unpriced else ""
    context.ledger.decide("idle_floor", f"{floor.monthly_usd:,.0f} USD a month{lacks}", f"sum of its items, {known}")
    return floor


def _item(what: str, amount: float, times: float, key: str, setting: str = "") -> FloorItem:
    price = service_price(key)
    source = f"{price.usd:g} USD a {price.unit} in {price.region}: {price.source}, {price.date}"
    return FloorItem(what, round(amount * times * price.usd, 2), source, setting)


def _bastions(ground: AwsPlan) -> Iterator[FloorItem]:
    """The one of the environment, with its disk, where any of its clusters is reached through it."""
    for access in [plane.access for plane in ground.control_planes if plane.access.bastion][:1]:
        yield _machines("bastion", 1, str(access.bastion), "apiAccess")
        yield _item("disk of the bastion", BASTION_DISK_GIB, 1, "ebs.gp3", "apiAccess")


def _machines(what: str, count: int, type_: str, setting: str) -> FloorItem:
    item = catalog.cpu_instance(type_)
    usd = round(count * HOURS_A_MONTH * item.usd_per_hour, 2)
    source = f"{item.usd_per_hour:g} USD an hour in us-east-1: {item.price_source}, {item.price_date}"
    return FloorItem(f"{what} ({count} {item.type})", usd, source, setting)


def _cpu_nodes(what: str, nodes: CpuNodesPlan, setting: str) -> Iterator[FloorItem]:
    if nodes.instance_types:  # none: a problem is recorded
        # On-demand node groups take the first type that has capacity.
        yield _machines(what, nodes.min_nodes, nodes.instance_types[0], f"{setting}.minNodes")
    yield _item(f"disks of {what}", nodes.min_nodes * nodes.disk_gib, 1, "ebs.gp3", f"{setting}.diskGib")


def _pool_items(pools: Sequence[PoolPlan], drafts: Sequence[PoolDraft[Instance]]) -> Iterator[FloorItem]:
    reservations = {draft.name: draft.reserved for draft in drafts if draft.reserved}
    for pool in pools:
        item = catalog.instance(pool.node.instance_type)
        for group in pool.node_groups:
            setting = f"gpuPools.{pool.name}.{_CAPACITIES[group.capacity]}"
            nodes = group.min_nodes
            what = f"{group.name}: {nodes} {item.type} at least"
            if group.reservation is not None:
                reserved = reservations[pool.name]
                # A capacity reservation is billed from its creation, used or not.
                nodes = reserved.nodes if reserved.kind == "odcr" else 0
                what = f"{group.name}: capacity reservation of {nodes} {item.type}"
            if not nodes:
                continue
            if item.usd_per_hour is None:
                yield FloorItem(what, None, f"{item.type} has no price in the catalogue", setting)
                continue
            source = f"{item.usd_per_hour:g} USD an hour on demand in us-east-1: {item.price_source}, {item.price_date}"
            if group.capacity == "spot":
                source += "; spot costs less, no dated quote"
            yield FloorItem(what, round(nodes * HOURS_A_MONTH * item.usd_per_hour, 2), source, setting)
