"""The VPC: address ranges, subnets, endpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from ipaddress import IPv4Network

from trainyard.plan.aws.cidr import LARGEST_PREFIX, SMALLEST_PREFIX, plan_zones, usable_addresses
from trainyard.plan.aws.existing_network import check_lock, check_small_subnets, plan_existing, zones_of
from trainyard.plan.aws.logs import retention
from trainyard.plan.aws.no_way_out import FIGURES, PRIVATE_SERVICES, check_no_way_out
from trainyard.plan.aws.parts import DnsFirewall, ExistingNetworkPlan, NetworkPlan
from trainyard.plan.context import Context
from trainyard.plan.lock import LockedNetwork
from trainyard.plan.parts import CpuNodesPlan, NodeGroupPlan, PoolPlan
from trainyard.settings.existing_network import KEY
from trainyard.settings.types import PRIVATE, SPECIAL
from trainyard.settings.way_out import is_closed, way_out_key


def plan_network(
    zone_names: Sequence[str], mlflow: bool, context: Context, nat_gateways: int | None = None
) -> NetworkPlan:
    """The VPC with its subnets; `mlflow` says whether there is a tracking server, `nat_gateways` how many, decided.

    Where its range is wrong, the profile's stands in, so that the rest can be checked.
    """
    own, aws, ledger = context.settings.network, context.settings.aws, context.ledger
    there = aws.existing_network
    kept, key = context.lock.network or LockedNetwork(), "network.serviceCidr"
    cidr = context.keep("network.cidr", "network.cidr", own.cidr, kept.cidr, "network.cidr")
    service_cidr = context.keep("network.service_cidr", key, own.service_cidr, kept.service_cidr, key)
    secondary = tuple(there.secondary_cidrs) if there else ()
    good = _check_blocks([cidr, *secondary], service_cidr, context)
    check_lock(context)
    if there is not None:
        zones = zones_of(there, zone_names, context)
    else:
        zones = plan_zones(cidr if good else str(context.figure("network.cidr")), zone_names, context.lock.slots)
    if is_closed(context.settings):
        why = f"{way_out_key(context.settings)} is none: endpoints are all that is reached"
        nat_gateways = ledger.decide("network.nat_gateways", 0, why)
        check_no_way_out(context)
    if nat_gateways is None:
        per_zone = context.take("network.nat_per_zone", "aws.natPerZone", aws.nat_per_zone)
        nat_gateways = len(zones) if per_zone else 1
        why = "one a zone, or one in all"
        if there is not None:
            nat_gateways, why = 0, f"{KEY} has a way out of its own: {there.way_out}"
        ledger.decide("network.nat_gateways", nat_gateways, why)
    existing = plan_existing(there, zones, context) if there else None
    gateways = _missing("network.gateway_endpoints", context.figure("network.gateway_endpoints"), existing, context)
    network = NetworkPlan(
        cidr=cidr,
        service_cidr=service_cidr,
        zones=zones,
        nat_gateways=nat_gateways if existing is None else 0,
        gateway_endpoints=gateways,
        interface_endpoints=_interface_endpoints(mlflow, existing, context),
        endpoint_zones=_endpoint_zones([zone.name for zone in zones], context),
        flow_log_retention_days=retention(
            "network.flow_log_retention_days", "aws.flowLogRetentionDays", aws.flow_log_retention_days, context
        ),
        public_buckets=tuple(aws.public_buckets),
        dns_firewall=_dns_firewall(context),
        dns_allow=tuple(aws.dns_allow),
        secondary_cidrs=secondary,
        existing=existing,
    )
    check_small_subnets(network, context)
    return network


def _check_blocks(blocks: Sequence[str], service_cidr: str, context: Context) -> bool:
    """Whether the network's own block can be cut into subnets; it, its further ones, and those of services are apart
    from each other and from what is in use elsewhere."""
    ledger, own = context.ledger, context.settings.network
    services = IPv4Network(service_cidr)
    reserved = [IPv4Network(other) for other in own.reserved_cidrs]
    vpc, exists = IPv4Network(blocks[0]), context.settings.aws.existing_network is not None
    special = next((what for network, what in SPECIAL.items() if vpc.overlaps(network)), "")
    good = LARGEST_PREFIX <= vpc.prefixlen <= SMALLEST_PREFIX and not special
    if special and not exists:
        allowed = f"must be addresses that a network can have, not {special} ones"
        ledger.problem("network.cidr", str(vpc), allowed, "take a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    elif not good and not exists:
        ledger.problem("network.cidr", str(vpc), f"must be /{LARGEST_PREFIX} to /{SMALLEST_PREFIX}")
    if not 12 <= services.prefixlen <= 24 or not any(services.subnet_of(private) for private in PRIVATE):
        ledger.problem("network.serviceCidr", service_cidr, "must be a private range of /12 to /24")
    for index, block in enumerate(map(IPv4Network, blocks)):
        key = f"{KEY}.secondaryCidrs[{index - 1}]" if index else "network.cidr"
        for other, what in [(services, "network.serviceCidr"), *((net, "network.reservedCidrs") for net in reserved)]:
            if (good or exists) and block.overlaps(other):
                ledger.problem(key, str(block), f"must not overlap {what} {other}")
    for index, other in enumerate(reserved):
        if services.overlaps(other):
            key, allowed = f"network.reservedCidrs[{index}]", f"must not overlap network.serviceCidr {services}"
            ledger.problem(key, str(other), allowed)
    return good


def _dns_firewall(context: Context) -> DnsFirewall:
    """What becomes of lookups of other names: where pods may reach every name, they have to be able to look it up."""
    path, given = "network.dns_firewall", context.settings.aws.dns_firewall
    if given is None and context.settings.network.egress.mode == "internet":
        return context.ledger.decide(path, "alert", "network.egress.mode is internet: every name may be looked up")
    return context.take(path, "aws.dnsFirewall", given)


def _interface_endpoints(mlflow: bool, existing: ExistingNetworkPlan | None, context: Context) -> tuple[str, ...]:
    """The tracking server alone reads secrets; without it nobody needs the way there, which costs by the hour."""
    path = "network.interface_endpoints"
    wanted = tuple(name for name in context.figure(path) if mlflow or name != "secretsmanager")
    if is_closed(context.settings):
        figures = [FIGURES] if context.settings.monitoring.service == "managed" else []
        wanted = tuple(dict.fromkeys((*wanted, *PRIVATE_SERVICES, *figures)))
    return _missing(path, wanted, existing, context)


def _missing(
    path: str, wanted: Sequence[str], existing: ExistingNetworkPlan | None, context: Context
) -> tuple[str, ...]:
    """The endpoints that are not there yet: a second one with the name of a service is refused."""
    there = [service for service in wanted if existing is not None and service in existing.endpoints]
    source = context.source(path) + (f"; setting {KEY}.endpoints: {', '.join(there)} there already" if there else "")
    return context.ledger.decide(path, tuple(service for service in wanted if service not in there), source)


def _endpoint_zones(zone_names: Sequence[str], context: Context) -> tuple[str, ...]:
    """The zones that interface endpoints are in, which cost by the hour in each: the first has the NAT gateway too."""
    path, given = "network.endpoint_zones", context.settings.aws.endpoint_zones
    most = len(zone_names)
    if given is not None and not 1 <= given <= most:
        context.ledger.problem("aws.endpointZones", given, f"must be 1 to {most}, the number of zones")
        given = most
    wanted = given if given is not None else min(int(context.figure(path)), most)
    source = "setting aws.endpointZones" if given is not None else context.source(path)
    return tuple(zone_names[: context.ledger.decide(path, wanted, source)])


def check_addresses(
    network: NetworkPlan, pools: Sequence[PoolPlan], without_gpus: Sequence[CpuNodesPlan], context: Context
) -> None:
    """Each zone's private subnet must hold the nodes that may stand there, with their pods.

    A network that is there and names no zone is refused where its zones are read.
    """
    each = int(context.figure(ADDRESSES_PER_NODE))
    needs = [
        (most_nodes(zone.name, pools, without_gpus) * each, usable_addresses(zone.private_cidr), zone)
        for zone in network.zones
    ]
    if not needs:
        return
    need, have, zone = max(needs, key=lambda entry: entry[0] - entry[1])
    if need > have:
        demand = f"the nodes in {zone.name} need {need} addresses ({each} a node)"
        if network.existing is not None:
            key, hint = f"{KEY}.zones.{zone.name}.nodes.cidr", "name a larger subnet, or fewer maxNodes"
            context.ledger.problem(key, zone.private_cidr, f"too small: {demand}, and it has {have}", hint)
            return
        allowed = f"too small: {demand}, its subnet {zone.private_cidr} has {have}"
        context.ledger.problem("network.cidr", network.cidr, allowed, f"take a larger range, up to /{LARGEST_PREFIX}")


ADDRESSES_PER_NODE = "network.addresses_per_node"
"""Figure of the profiles: what a node takes with its pods."""


def most_nodes(zone: str, pools: Sequence[PoolPlan], without_gpus: Sequence[CpuNodesPlan]) -> int:
    """How many nodes may stand in a zone at most."""
    groups: list[CpuNodesPlan | NodeGroupPlan] = [
        *without_gpus,
        *(group for pool in pools for group in pool.node_groups),
    ]
    return sum(math.ceil(group.max_nodes / len(group.zones)) for group in groups if zone in group.zones)
