"""Settings: a network that somebody else made, the block `aws.existingNetwork` of a stack file."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from trainyard.problems import Problem, some_of
from trainyard.settings.types import SPECIAL, Cidr, Model, matching

if TYPE_CHECKING:
    from trainyard.settings.common import Settings

KEY = "aws.existingNetwork"
_ID = "([0-9a-f]{8}|[0-9a-f]{17})"

VpcId = Annotated[str, matching(f"vpc-{_ID}", "must be the id of a VPC, like vpc-0123456789abcdef0")]
SubnetId = Annotated[str, matching(f"subnet-{_ID}", "must be the id of a subnet, like subnet-0123456789abcdef0")]
RouteTableId = Annotated[str, matching(f"rtb-{_ID}", "must be the id of a route table, like rtb-0123456789abcdef0")]
ZoneName = Annotated[
    str, matching(r"[a-z]{2}(-[a-z]+)+-[0-9]+[a-z]", "must be the name of an availability zone, like us-east-1a")
]
EndpointService = Annotated[
    str, matching(r"[a-z0-9]+([.-][a-z0-9]+)*", "must be a service as its endpoint names it, like s3 or ecr.api")
]

WayOut = Literal["nat", "transit-gateway", "none"]

SMALLEST_SUBNET = 28
"""Longest prefix of a subnet (VPC user guide, "Subnet CIDR blocks", 2026-11)."""

LARGEST_BLOCK = 16
"""Shortest prefix of a VPC's block (the same guide, "VPC CIDR blocks")."""


class ExistingSubnet(Model):
    """A subnet that is there."""

    id: SubnetId = Field(description="its id")
    cidr: Cidr = Field(description="its addresses, by which network policies know what stands in it")


class ExistingZone(Model):
    """The three subnets of one zone. Each kind is apart, so that network policies can tell them by address."""

    nodes: ExistingSubnet = Field(description="of nodes and pods, with the way out")
    control_plane: ExistingSubnet = Field(
        description="of the control plane's interfaces and nothing else; /28 is enough"
    )
    services: ExistingSubnet = Field(description="of the database and AWS's interface endpoints, which need no way out")


class ExistingNetwork(Model):
    """A VPC and subnets that somebody else made and keeps. The environment makes nothing of it and deletes nothing."""

    vpc_id: VpcId = Field(description="the VPC's id")
    secondary_cidrs: list[Cidr] = Field(
        default=[], max_length=10, description="its address blocks besides the primary one, which is network.cidr"
    )
    zones: dict[ZoneName, ExistingZone] = Field(
        description="its subnets by the name of their zone, two zones or more; network.zones may take some of them"
    )
    route_tables: list[RouteTableId] = Field(
        default=[],
        max_length=20,
        description="ids of the subnets' route tables, which S3's gateway endpoint is made for; none where it is there",
    )
    way_out: WayOut = Field(
        description=(
            "where the nodes' default route leads, and on to the internet; none: there is no default route, and AWS's "
            "endpoints are all that is reached"
        )
    )
    endpoints: list[EndpointService] = Field(
        default=[],
        max_length=50,
        description=(
            "services of AWS that the VPC has an endpoint of already, like s3 or sts: a second one of a name is "
            "refused. Their policies are their owner's: what leaves through them is not limited here"
        ),
    )
    flow_logs: Literal["stack", "account"] = Field(
        default="stack", description="who writes its flow logs: account, where somebody else does already"
    )


def existing_network_checks(settings: Settings) -> Iterator[Problem]:
    """The network's parts fit together, and no setting asks for another."""
    own = settings.aws.existing_network
    if own is None or settings.cloud != "aws":
        return
    if settings.network.cidr is None:
        yield Problem("network.cidr", "nothing", f"must be the primary block of the VPC that {KEY} names")
    if settings.aws.nat_per_zone:
        yield Problem("aws.natPerZone", "true", f"makes NAT gateways, and {KEY} has its own way out", "leave it out")
    days = settings.aws.flow_log_retention_days
    if days is not None and own.flow_logs == "account":
        allowed = f"is read only where {KEY}.flowLogs is stack, and it is account"
        yield Problem("aws.flowLogRetentionDays", str(days), allowed, "leave it out")
    if "s3" not in own.endpoints and not own.route_tables:
        allowed = "must name the tables that S3's gateway endpoint is made for"
        yield Problem(
            f"{KEY}.routeTables", "none", allowed, f"or name s3 in {KEY}.endpoints, where it is there already"
        )
    if "s3" in own.endpoints and own.route_tables:
        allowed = f"is read only where S3's gateway endpoint is made, and {KEY}.endpoints has s3"
        yield Problem(f"{KEY}.routeTables", some_of(own.route_tables), allowed, "leave one of them out")
    yield from _repeated("routeTables", own.route_tables)
    yield from _repeated("endpoints", own.endpoints)
    blocks = [("network.cidr", settings.network.cidr)] if settings.network.cidr else []
    blocks += [(f"{KEY}.secondaryCidrs[{index}]", text) for index, text in enumerate(own.secondary_cidrs)]
    networks = [(key, ipaddress.IPv4Network(text)) for key, text in blocks]
    yield from _blocks(networks)
    yield from _subnets(own, [network for _, network in networks])


def _blocks(blocks: list[tuple[str, ipaddress.IPv4Network]]) -> Iterator[Problem]:
    for key, block in blocks:
        what = next((what for network, what in SPECIAL.items() if block.overlaps(network)), None)
        if what is not None:
            yield Problem(key, str(block), f"must be addresses that a network can have, not {what} ones")
        elif not LARGEST_BLOCK <= block.prefixlen <= SMALLEST_SUBNET:
            yield Problem(key, str(block), f"must be a VPC's block, /{LARGEST_BLOCK} to /{SMALLEST_SUBNET}")
    for (_, other), (key, block) in combinations(blocks, 2):
        if block.overlaps(other):
            yield Problem(key, str(block), f"must not overlap {other}, which the network has already")


def _subnets(own: ExistingNetwork, blocks: list[ipaddress.IPv4Network]) -> Iterator[Problem]:
    if len(own.zones) < 2:
        yield Problem(f"{KEY}.zones", some_of(list(own.zones)) or "none", "must be two zones or more; EKS needs two")
    found = [
        (f"{KEY}.zones.{zone}.{kind}", subnet)
        for zone, subnets in own.zones.items()
        for kind, subnet in (
            ("nodes", subnets.nodes), ("controlPlane", subnets.control_plane), ("services", subnets.services),
        )
    ]  # fmt: skip
    for key, subnet in found:
        network = ipaddress.IPv4Network(subnet.cidr)
        if blocks and not any(network.subnet_of(block) for block in blocks):
            of = some_of(list(map(str, blocks)))
            yield Problem(f"{key}.cidr", subnet.cidr, f"must lie in network.cidr or {KEY}.secondaryCidrs: {of}")
        elif network.prefixlen > SMALLEST_SUBNET:
            yield Problem(f"{key}.cidr", subnet.cidr, f"must be a subnet's block, /{SMALLEST_SUBNET} or larger")
    for (other_key, other), (key, subnet) in combinations(found, 2):
        if subnet.id == other.id:
            allowed = f"is {other_key} too: each kind of each zone has a subnet of its own"
            yield Problem(f"{key}.id", subnet.id, allowed, "walls between pods tell them by their addresses")
        elif ipaddress.IPv4Network(subnet.cidr).overlaps(ipaddress.IPv4Network(other.cidr)):
            yield Problem(f"{key}.cidr", subnet.cidr, f"must not overlap {other.cidr} of {other_key}")


def _repeated(key: str, given: list[str]) -> Iterator[Problem]:
    for index, text in enumerate(given):
        if text in given[:index]:
            yield Problem(f"{KEY}.{key}[{index}]", text, "must not be there twice")
