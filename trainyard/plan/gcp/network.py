"""The VPC's address ranges: nodes, pods, services, the control plane and what Google reaches us by."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network
from itertools import islice

from trainyard.conventions import gpudirect
from trainyard.conventions.gcp import GIB_TUNERS
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import FabricNetworksPlan, GcpNetworkPlan, TpuPoolPlan
from trainyard.plan.gcp.shared_network import check_own_network, plan_shared_network
from trainyard.plan.lock import LockedNetwork
from trainyard.plan.parts import CpuNodesPlan, PoolPlan
from trainyard.settings.shared_network import KEY
from trainyard.settings.types import PRIVATE, SPECIAL

LARGEST_PREFIX, SMALLEST_PREFIX = 12, 18
"""Prefix lengths that the network may have: half of it are pods, a sixteenth at most nodes."""

PODS_OF_A_NODE_PREFIX = 24
"""GKE gives a node so much of the pods' range at 110 pods, twice as many addresses (GKE, "Configure maximum Pods per
node", as generally known)."""

MOST_NODE_PREFIX = 20
"""Nodes' subnets are no larger: 4,092 nodes."""


def plan_network(context: Context, *, nat: bool = True) -> GcpNetworkPlan:
    """The ranges, all of `network.cidr` but the services'.

    The second half are pods. Of the first quarter the first part are nodes, the second the database's, and the third
    begins with the control plane's; the rest is free. `nat` says whether there is a way out to the internet.
    """
    shared = context.settings.gcp.shared_network
    if shared is not None:
        return plan_shared_network(shared, context)
    check_own_network(context)
    own, ledger = context.settings.network, context.ledger
    kept, key = context.lock.network or LockedNetwork(), "network.serviceCidr"
    cidr = context.keep("gcp.network.cidr", "network.cidr", own.cidr, kept.cidr, "network.cidr", key="network.cidr")
    service_cidr = context.keep(
        "gcp.network.service_cidr", key, own.service_cidr, kept.service_cidr, key, key="network.service_cidr"
    )
    vpc, services = IPv4Network(cidr), IPv4Network(service_cidr)
    special = next((what for network, what in SPECIAL.items() if vpc.overlaps(network)), "")
    if special:
        allowed = f"must be addresses that a network can have, not {special} ones"
        ledger.problem("network.cidr", cidr, allowed, "take a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    elif not LARGEST_PREFIX <= vpc.prefixlen <= SMALLEST_PREFIX:
        allowed = f"must be /{LARGEST_PREFIX} to /{SMALLEST_PREFIX} on Google Cloud: half of it are pods, a /24 a node"
        ledger.problem("network.cidr", cidr, allowed)
    if not 16 <= services.prefixlen <= 27 or not any(services.subnet_of(private) for private in PRIVATE):
        ledger.problem(key, service_cidr, "must be a private range of /16 to /27")
    reserved = [IPv4Network(other) for other in own.reserved_cidrs]
    for other, what in [(services, key), *((net, "network.reservedCidrs") for net in reserved)]:
        if vpc.overlaps(other):
            ledger.problem("network.cidr", cidr, f"must not overlap {what} {other}")
    for index, other in enumerate(reserved):
        if services.overlaps(other):
            allowed = f"must not overlap network.serviceCidr {services}"
            ledger.problem(f"network.reservedCidrs[{index}]", str(other), allowed)
    good = not special and LARGEST_PREFIX <= vpc.prefixlen <= SMALLEST_PREFIX
    whole = vpc if good else IPv4Network(context.figure("gcp.network.cidr"))
    quarter = next(whole.subnets(prefixlen_diff=2))
    parts = quarter.subnets(new_prefix=max(MOST_NODE_PREFIX, whole.prefixlen + 4))
    nodes, private_services, rest = next(parts), next(parts), next(parts)
    _, pods = whole.subnets(prefixlen_diff=1)
    split = "of network.cidr: the second half are pods, of the first quarter nodes, database, control plane"
    return GcpNetworkPlan(
        cidr=str(whole),
        node_cidr=ledger.decide("network.node_cidr", str(nodes), split),
        pod_cidr=ledger.decide("network.pod_cidr", str(pods), split),
        service_cidr=service_cidr,
        private_services_cidr=ledger.decide("network.private_services_cidr", str(private_services), split),
        control_plane_cidr=ledger.decide("network.control_plane_cidr", str(next(rest.subnets(new_prefix=28))), split),
        nat=nat,
    )


def check_addresses(
    network: GcpNetworkPlan,
    pools: Sequence[PoolPlan],
    tpu_pools: Sequence[TpuPoolPlan],
    without_gpus: Sequence[CpuNodesPlan],
    context: Context,
) -> None:
    """The pods' range must hold a part for every node that there may be: it grows by no change."""
    need = sum(group.max_nodes for pool in pools for group in pool.node_groups)
    need += sum(pool.most_machines for pool in tpu_pools) + sum(nodes.max_nodes for nodes in without_gpus)
    have = 2 ** (PODS_OF_A_NODE_PREFIX - IPv4Network(network.pod_cidr).prefixlen)
    if need > have:
        allowed = f"too small: {need} nodes at most need a /24 of pods each, {network.pod_cidr} has {have}"
        if network.shared is not None:
            context.ledger.problem(f"{KEY}.podCidr", network.pod_cidr, allowed, "take a larger range, or fewer nodes")
            return
        context.ledger.problem("network.cidr", network.cidr, allowed, f"take a larger range, up to /{LARGEST_PREFIX}")


_OF_GOOGLE = 4
"""Addresses of a subnet that Google keeps (VPC, "Subnets", as generally known)."""


def plan_fabric_networks(
    network: GcpNetworkPlan, pools: Sequence[PoolPlan], context: Context
) -> FabricNetworksPlan | None:
    """Networks of the fast interfaces, where the stack file asks for networks of its own and a pool has a fabric.

    Their ranges are parts of the second quarter of `network.cidr`, which nothing else has: sixteenths of it, so that a
    node has an address in each.
    """
    fast = [pool for pool in pools if pool.node.fabric is not None and pool.node_groups]
    key, how = "gcp.fastNetwork", context.settings.gcp.fast_network
    context.ledger.decide(
        "network.fast_network",
        how or "dranet",
        f"setting {key}" if how else "GKE sets the fast interfaces up itself, and pods claim them (DRANET)",
    )
    if how in (None, "dranet"):
        return None
    transport = gpudirect.TRANSPORTS.get(how)
    machines = " or ".join(GIB_TUNERS) if transport is None else transport.machine
    if not fast:
        allowed = "no pool has a fabric, which is what the networks are for"
        context.ledger.problem(key, how, allowed, f"leave it out, or add a pool of {machines}")
        return None
    zones = {zone: pool for pool in fast for group in pool.node_groups for zone in group.zones}
    if len(zones) > 1:
        where = ", ".join(f"{pool.name} in {zone}" for zone, pool in sorted(zones.items()))
        allowed = f"such networks are of one zone, which all pools with a fabric share; here {where}"
        context.ledger.problem(key, how, allowed, f"give these pools one zone{'' if transport else ', or take dranet'}")
    _, quarter, *_ = IPv4Network(network.cidr).subnets(prefixlen_diff=2)
    interfaces = max(pool.node.fabric_interfaces for pool in fast)
    parts = [str(part) for part in islice(quarter.subnets(prefixlen_diff=4), interfaces + (transport is None))]
    nodes = sum(group.max_nodes for pool in fast for group in pool.node_groups)
    have = IPv4Network(parts[0]).num_addresses - _OF_GOOGLE
    if nodes > have:
        allowed = f"too small: {nodes} nodes with a fabric at most; each of their networks has {have} addresses"
        context.ledger.problem("network.cidr", network.cidr, allowed, f"take a larger range, up to /{LARGEST_PREFIX}")
    split = "of network.cidr: sixteenths of the second quarter, one an interface"
    zone = context.ledger.decide("network.fabric.zone", min(zones), "that of the pools with a fabric")
    if transport is not None:
        cidrs = context.ledger.decide("network.fabric.tcp_cidrs", tuple(parts), split)
        return FabricNetworksPlan(zone, gvnic_cidr="", rdma_cidrs=(), tcp_cidrs=cidrs, transport=transport.name)
    gvnic, *rdma = parts
    return FabricNetworksPlan(
        zone=zone,
        gvnic_cidr=context.ledger.decide("network.fabric.gvnic_cidr", gvnic, split),
        rdma_cidrs=context.ledger.decide("network.fabric.rdma_cidrs", tuple(rdma), split),
        tcp_cidrs=(),
        transport="",
    )
