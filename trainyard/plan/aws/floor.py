"""The idle floor: what an environment on AWS costs a month while no job runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard import catalog
from trainyard.catalog import service_price
from trainyard.conventions import HOURS_A_MONTH
from trainyard.plan.aws.parts import KEY_CLASSES, AwsPlan
from trainyard.plan.context import Context
from trainyard.plan.parts import CpuNodesPlan, FloorItem, IdleFloor, PoolPlan
from trainyard.plan.pools import PoolDraft


def plan_floor(
    ground: AwsPlan,
    system_nodes: CpuNodesPlan,
    cpu_pool: CpuNodesPlan | None,
    pools: Sequence[PoolPlan],
    drafts: Sequence[PoolDraft],
    mlflow: bool,
    context: Context,
) -> IdleFloor:
    """What is paid for all the time: services, nodes without GPUs, reservations, and pools at their minimum.

    List prices, of us-east-1 where the region's own are not in the catalogue. Traffic, requests, log ingestion and
    stored objects come on top. A Capacity Block is paid for once, when it is bought, and is not in here.
    """
    network, lustre, database = ground.network, ground.lustre, ground.database
    items = [
        _item("EKS control plane", 1, HOURS_A_MONTH, "eks.control-plane"),
        _item(f"NAT gateways ({network.nat_gateways})", network.nat_gateways, HOURS_A_MONTH, "nat-gateway"),
        _item("public addresses of NAT gateways", network.nat_gateways, HOURS_A_MONTH, "public-ipv4"),
        _item(
            f"interface endpoints ({len(network.interface_endpoints)} in {len(network.zones)} zones)",
            len(network.interface_endpoints) * len(network.zones),
            HOURS_A_MONTH,
            "interface-endpoint",
        ),
        *_cpu_nodes("system nodes", system_nodes),
        *(_cpu_nodes("CPU pool", cpu_pool) if cpu_pool is not None and cpu_pool.min_nodes else ()),
        *_pool_items(pools, drafts),
        _item("encryption keys", len(KEY_CLASSES), 1, "kms.key"),
    ]
    if ground.audit.trail is not None:
        items.append(_item("key of the trail and of security alerts", 1, 1, "kms.key"))
    if lustre is not None:
        key = f"fsx.lustre.persistent-2.ssd.{lustre.throughput_mbps_per_tib}"
        items.append(_item(f"FSx for Lustre ({lustre.capacity_gib} GiB)", lustre.capacity_gib, 1, key))
    if mlflow:
        copies = 2 if database.multi_az else 1
        price = f"rds.postgres.{database.instance_class}"
        items.append(_item(f"database ({database.instance_class} in {copies} zones)", copies, HOURS_A_MONTH, price))
        items.append(_item("database storage", copies * database.storage_gib, 1, "rds.gp3"))
        items.append(_item("database password", 1, 1, "secret"))
    floor = IdleFloor(tuple(items))
    region = context.region
    known = "us-east-1 list prices" if region == "us-east-1" else f"us-east-1 list prices; those of {region} differ"
    lacks = f"; not in it, for want of a price: {', '.join(floor.unpriced)}" if floor.unpriced else ""
    context.ledger.decide("idle_floor", f"{floor.monthly_usd:,.0f} USD a month{lacks}", f"sum of its items, {known}")
    return floor


def _item(what: str, amount: float, times: float, key: str) -> FloorItem:
    price = service_price(key)
    source = f"{price.usd:g} USD a {price.unit} in {price.region}: {price.source}, {price.date}"
    return FloorItem(what, round(amount * times * price.usd, 2), source)


def _cpu_nodes(what: str, nodes: CpuNodesPlan) -> Iterator[FloorItem]:
    if nodes.instance_types:  # none: a problem is recorded
        # On-demand node groups take the first type that has capacity.
        item = catalog.cpu_instance(nodes.instance_types[0])
        usd = round(nodes.min_nodes * HOURS_A_MONTH * item.usd_per_hour, 2)
        source = f"{item.usd_per_hour:g} USD an hour in us-east-1: {item.price_source}, {item.price_date}"
        yield FloorItem(f"{what} ({nodes.min_nodes} {item.type})", usd, source)
    yield _item(f"disks of {what}", nodes.min_nodes * nodes.disk_gib, 1, "ebs.gp3")


def _pool_items(pools: Sequence[PoolPlan], drafts: Sequence[PoolDraft]) -> Iterator[FloorItem]:
    reservations = {draft.name: draft.reserved for draft in drafts if draft.reserved}
    for pool in pools:
        item = catalog.instance(pool.node.instance_type)
        for group in pool.node_groups:
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
                yield FloorItem(what, None, f"{item.type} has no price in the catalogue")
                continue
            source = f"{item.usd_per_hour:g} USD an hour on demand in us-east-1: {item.price_source}, {item.price_date}"
            if group.capacity == "spot":
                source += "; spot costs less, no dated quote"
            yield FloorItem(what, round(nodes * HOURS_A_MONTH * item.usd_per_hour, 2), source)
