"""The idle floor: what an environment costs a month while no job runs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import catalog
from trainyard.catalog import service_price
from trainyard.conventions import HOURS_A_MONTH
from trainyard.plan.ledger import Ledger
from trainyard.plan.model import (
    ClusterPlan,
    DatabasePlan,
    FloorItem,
    IdleFloor,
    LustrePlan,
    MlflowPlan,
    NetworkPlan,
    PoolPlan,
)
from trainyard.plan.pools import PoolDraft


def plan_floor(
    network: NetworkPlan,
    cluster: ClusterPlan,
    pools: tuple[PoolPlan, ...],
    drafts: tuple[PoolDraft, ...],
    lustre: LustrePlan | None,
    database: DatabasePlan,
    mlflow: MlflowPlan,
    region: str,
    ledger: Ledger,
) -> IdleFloor:
    """What is paid for all the time: services, system nodes, reservations, and pools at their minimum.

    List prices, of us-east-1 where the region's own are not in the catalogue. Traffic, requests, log ingestion and
    stored objects come on top. A Capacity Block is paid for once, when it is bought, and is not in here.
    """
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
        *_system_nodes(cluster),
        *_pool_items(pools, drafts, ledger),
        _item("encryption key", 1, 1, "kms.key"),
    ]
    if lustre is not None:
        key = f"fsx.lustre.persistent-2.ssd.{lustre.throughput_mbps_per_tib}"
        items.append(_item(f"FSx for Lustre ({lustre.capacity_gib} GiB)", lustre.capacity_gib, 1, key))
    if mlflow.enabled:
        copies = 2 if database.multi_az else 1
        price = f"rds.postgres.{database.instance_class}"
        items.append(_item(f"database ({database.instance_class} in {copies} zones)", copies, HOURS_A_MONTH, price))
        items.append(_item("database storage", copies * database.storage_gib, 1, "rds.gp3"))
        items.append(_item("database password", 1, 1, "secret"))
    floor = IdleFloor(tuple(items))
    known = "us-east-1 list prices" if region == "us-east-1" else f"us-east-1 list prices; those of {region} differ"
    ledger.decide("idle_floor", f"{floor.monthly_usd:,.0f} USD a month", f"sum of its items, {known}")
    return floor


def check_budget(monthly_usd: int, floor: IdleFloor, ledger: Ledger) -> None:
    """A budget below the idle floor is spent before the first job runs."""
    if monthly_usd >= floor.monthly_usd:
        return
    largest = sorted(floor.items, key=lambda item: -item.monthly_usd)[:3]
    named = ", ".join(f"{item.what} {item.monthly_usd:,.0f}" for item in largest)
    ledger.problem(
        "monthlyBudgetUsd",
        monthly_usd,
        f"must be at least {floor.monthly_usd:,.0f} USD a month, the idle floor (what it costs while no job runs)",
        f"most of it: {named}",
    )


def _item(what: str, amount: float, times: float, key: str) -> FloorItem:
    price = service_price(key)
    source = f"{price.usd:g} USD a {price.unit} in {price.region}: {price.source}, {price.date}"
    return FloorItem(what, round(amount * times * price.usd, 2), source)


def _system_nodes(cluster: ClusterPlan) -> Iterator[FloorItem]:
    nodes = cluster.system_nodes
    if nodes.instance_types:  # none: a problem is recorded
        # On-demand node groups take the first type that has capacity.
        item = catalog.cpu_instance(nodes.instance_types[0])
        usd = round(nodes.min_nodes * HOURS_A_MONTH * item.usd_per_hour, 2)
        source = f"{item.usd_per_hour:g} USD an hour in us-east-1: {item.price_source}, {item.price_date}"
        yield FloorItem(f"system nodes ({nodes.min_nodes} {item.type})", usd, source)
    yield _item("disks of system nodes", nodes.min_nodes * nodes.disk_gib, 1, "ebs.gp3")


def _pool_items(pools: tuple[PoolPlan, ...], drafts: tuple[PoolDraft, ...], ledger: Ledger) -> Iterator[FloorItem]:
    reservations = {draft.name: draft.reserved for draft in drafts if draft.reserved}
    for pool in pools:
        item = catalog.instance(pool.instance_type)
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
                ledger.decide(f"idle_floor.{group.name}", "not counted", f"{item.type} has no price in the catalogue")
                continue
            source = f"{item.usd_per_hour:g} USD an hour on demand in us-east-1: {item.price_source}, {item.price_date}"
            if group.capacity == "spot":
                source += "; spot costs less, no dated quote"
            yield FloorItem(what, round(nodes * HOURS_A_MONTH * item.usd_per_hour, 2), source)
