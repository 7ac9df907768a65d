"""A network that somebody else made: its zones, its subnets, and what the environment still makes in it."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.plan.aws.cidr import slots_of, usable_addresses
from trainyard.plan.aws.parts import ExistingNetworkPlan, ExistingSubnetsPlan, NetworkPlan, Zone
from trainyard.plan.context import Context
from trainyard.plan.lock import LockedNetwork
from trainyard.settings.existing_network import KEY, ExistingNetwork

CONTROL_ADDRESSES = 6
"""Addresses that a control plane needs in each of its subnets (EKS user guide, "Amazon EKS networking requirements for
VPC and subnets", 2026-11)."""

OTHER_SERVICES = 4
"""Own choice: addresses of a zone's subnet of services besides one of each endpoint: the database with its standby
while one takes over from the other, and room for one more of each."""


def requested_zones(context: Context) -> tuple[str, tuple[str, ...]] | None:
    """The zones that the stack file names, with the key that does; None where the planner chooses.

    Those of an existing network are all that there are; network.zones may take some of them.
    """
    given, own = context.settings.network.zones, context.settings.aws.existing_network
    if own is None:
        return None if given is None else ("network.zones", tuple(given))
    if given is None:
        return f"{KEY}.zones", tuple(sorted(own.zones))
    for zone in given:
        if zone not in own.zones:
            allowed = f"has no subnets in {KEY}.zones, which are {', '.join(sorted(own.zones))}"
            context.ledger.problem("network.zones", zone, allowed)
    return "network.zones", tuple(zone for zone in given if zone in own.zones) or tuple(sorted(own.zones))


def check_lock(context: Context) -> None:
    """Nothing that lives moves to another network: neither to another VPC, nor to other subnets of nodes."""
    own, lock = context.settings.aws.existing_network, context.lock
    kept = (lock.network or LockedNetwork()).id
    if own is None:
        if kept is not None:
            context.contradiction(KEY, "nothing", f"{kept}, a network that somebody else made", "network")
        return
    if lock.zones and kept is None:
        context.contradiction(f"{KEY}.vpcId", own.vpc_id, "a network of the environment's own", "network")
    elif kept not in (None, own.vpc_id):
        context.contradiction(f"{KEY}.vpcId", own.vpc_id, kept, "network.id")
    for zone in lock.zones:
        given = own.zones.get(zone.name)
        if given is not None and zone.nodes not in (None, given.nodes.id):
            context.contradiction(f"{KEY}.zones.{zone.name}.nodes.id", given.nodes.id, zone.nodes, "zones")


def zones_of(own: ExistingNetwork, zone_names: Sequence[str], context: Context) -> tuple[Zone, ...]:
    """The zones with the blocks of their subnets. A zone of the lock that is gone is told elsewhere."""
    names = [name for name in zone_names if name in own.zones] or sorted(own.zones)
    slots = slots_of(names[:6], context.lock.slots)
    return tuple(
        Zone(
            name,
            slot=slots.get(name, 0),
            public_cidr="",
            private_cidr=own.zones[name].nodes.cidr,
            isolated_cidr=own.zones[name].services.cidr,
            control_cidr=own.zones[name].control_plane.cidr,
        )
        for name in names
    )


def plan_existing(own: ExistingNetwork, zones: Sequence[Zone], context: Context) -> ExistingNetworkPlan:
    """What of the network is somebody else's."""
    source = f"setting {KEY}: somebody else's, and not touched"
    context.ledger.decide("network.existing", own.vpc_id, source)
    return ExistingNetworkPlan(
        vpc_id=own.vpc_id,
        subnets=tuple(
            ExistingSubnetsPlan(
                zone.name,
                private=own.zones[zone.name].nodes.id,
                isolated=own.zones[zone.name].services.id,
                control=own.zones[zone.name].control_plane.id,
            )
            for zone in zones
        ),
        route_tables=tuple(own.route_tables),
        way_out=context.ledger.decide("network.way_out", own.way_out, f"setting {KEY}.wayOut"),
        endpoints=tuple(own.endpoints),
        flow_logs=own.flow_logs == "stack",
    )


def check_small_subnets(network: NetworkPlan, context: Context) -> None:
    """The control plane's and the services' subnets hold what is put in them."""
    for zone in network.zones if network.existing else ():
        endpoints = len(network.interface_endpoints) if zone.name in network.endpoint_zones else 0
        needs = (
            ("controlPlane", zone.control_cidr, CONTROL_ADDRESSES, "a control plane needs six free ones"),
            ("services", zone.isolated_cidr, endpoints + OTHER_SERVICES, f"{endpoints} endpoints and a database"),
        )
        for kind, cidr, need, what in needs:
            have = usable_addresses(cidr)
            if have < need:
                allowed = f"too small: it has {have} addresses, and needs {need}: {what}"
                context.ledger.problem(f"{KEY}.zones.{zone.name}.{kind}.cidr", cidr, allowed)
