"""Networks: their zones with subnets, the ways out, and what is reached without the internet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    EKS_CLUSTER,
    FLOW_LOG,
    GCP_CONNECTION,
    GCP_NETWORK,
    GCP_SUBNETWORK,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SUBNET,
    VPC,
    VPC_ENDPOINT,
)
from trainyard.review.reports.picture.google import nat_gateways
from trainyard.review.reports.picture.model import UNTOLD, Network, Subnet, Zone
from trainyard.review.reports.picture.told import entries, on, told

DRAWN = (
    *(VPC, SUBNET, ROUTE_TABLE, ROUTE, ROUTE_TABLE_ASSOCIATION, INTERNET_GATEWAY, NAT_GATEWAY, VPC_ENDPOINT, FLOW_LOG),
    *(GCP_NETWORK, GCP_SUBNETWORK, GCP_CONNECTION),
)
"""Types that the picture shows, here and below."""

_EVERYWHERE = ("0.0.0.0/0", "::/0")
_CONTROL_PLANE = "control plane"
_REACHES = ("public", "private", _CONTROL_PLANE, "isolated", "")


def networks(resources: Resources) -> Iterator[Network]:
    """Every network of the recording; last one for subnets whose network is somewhere else."""
    reaches = _reaches(resources)
    for vpc in resources.of(VPC):
        yield Network(
            urn=vpc.urn,
            name=told(vpc.inputs, "tags", "Name") or vpc.name,
            cidr=told(vpc.inputs, "cidrBlock"),
            zones=_zones(resources, _in(resources, vpc, SUBNET), reaches),
            has_internet_gateway=bool(_in(resources, vpc, INTERNET_GATEWAY)),
            endpoints=tuple(sorted({_service(found) for found in _in(resources, vpc, VPC_ENDPOINT)})),
            flow_logs=", ".join(sorted({_logged(found) for found in _in(resources, vpc, FLOW_LOG)})),
        )
    for network in resources.of(GCP_NETWORK):
        subnets = [one for one in resources.of(GCP_SUBNETWORK) if _belongs(resources, one, "network", network)]
        yield Network(
            urn=network.urn,
            name=told(network.inputs, "name") or network.name.removesuffix("-vpc"),
            cidr="",
            zones=_zones(resources, subnets, reaches),
            has_internet_gateway=False,
            endpoints=tuple(_google_services(resources, network, subnets)),
            flow_logs="all" if subnets and all(is_set(one.inputs, "logConfig") for one in subnets) else "",
        )
    orphans = [one for one in resources.of(SUBNET) if not resources.referred(one, "vpcId", VPC)]
    orphans += [one for one in resources.of(GCP_SUBNETWORK) if not resources.referred(one, "network", GCP_NETWORK)]
    if orphans:
        yield _of_subnets("", "a network of another program", _zones(resources, orphans, reaches))


def _of_subnets(urn: str, name: str, zones: tuple[Zone, ...]) -> Network:
    return Network(urn, name, cidr="", zones=zones, has_internet_gateway=False, endpoints=(), flow_logs="")


def _google_services(resources: Resources, network: RecordedResource, subnets: list[RecordedResource]) -> Iterator[str]:
    if subnets and all(on(one.inputs, "privateIpGoogleAccess") for one in subnets):
        yield "Google's APIs"
    if any(_belongs(resources, one, "network", network) for one in resources.of(GCP_CONNECTION)):
        yield "managed services by private services access"


def _belongs(resources: Resources, resource: RecordedResource, path: str, to: RecordedResource) -> bool:
    return to in resources.referred(resource, path, to.type)


def _in(resources: Resources, vpc: RecordedResource, type_: str) -> list[RecordedResource]:
    return [resource for resource in resources.of(type_) if _belongs(resources, resource, "vpcId", vpc)]


def zone_of(subnet: RecordedResource) -> str:
    """The zone of a subnet; a subnet of Google Cloud spans the zones of its region."""
    return told(subnet.inputs, "region" if subnet.type == GCP_SUBNETWORK else "availabilityZone") or UNTOLD


def _zones(resources: Resources, subnets: list[RecordedResource], reaches: dict[str, str]) -> tuple[Zone, ...]:
    by_zone: dict[str, list[RecordedResource]] = {}
    for subnet in subnets:
        by_zone.setdefault(zone_of(subnet), []).append(subnet)
    nats = [place for nat in resources.of(NAT_GATEWAY) for place in resources.referred(nat, "subnetId", SUBNET)]
    google = {one.urn: nat_gateways(one, resources) for one in subnets if one.type == GCP_SUBNETWORK}
    return tuple(
        Zone(
            zone,
            tuple(
                sorted(
                    (row for one in here for row in _rows(one, reaches, google)),
                    key=lambda row: _REACHES.index(row.reach) if row.reach in _REACHES else len(_REACHES),
                )
            ),
            sum(place in here for place in nats) + max((google.get(one.urn, 0) for one in here), default=0),
        )
        for zone, here in sorted(by_zone.items())
    )


def _rows(subnet: RecordedResource, reaches: dict[str, str], google: dict[str, int]) -> Iterator[Subnet]:
    """A subnet; on Google Cloud with its secondary ranges, which are of the pods and of the services."""
    if subnet.type != GCP_SUBNETWORK:
        reach = reaches.get(subnet.urn) or ("public" if on(subnet.inputs, "mapPublicIpOnLaunch") else "")
        yield Subnet(subnet.name, told(subnet.inputs, "cidrBlock") or UNTOLD, reach)
        return
    yield Subnet(subnet.name, told(subnet.inputs, "ipCidrRange") or UNTOLD, "private" if google[subnet.urn] else "")
    for secondary in entries(subnet.inputs, "secondaryIpRanges"):
        name = told(secondary, "rangeName") or UNTOLD
        yield Subnet(f"{subnet.name}, {name}", told(secondary, "ipCidrRange") or UNTOLD, name)


def _reaches(resources: Resources) -> dict[str, str]:
    """How the internet is reached from a subnet, by the default route of its own route table. A subnet without one
    follows the main table of its network, which is seldom recorded: nothing is said of it."""
    ways: dict[str, set[str]] = {table.urn: set() for table in resources.of(ROUTE_TABLE)}
    for table in resources.of(ROUTE_TABLE):
        ways[table.urn] |= {_way(route) for route in entries(table.inputs, "routes")}
    for route in resources.of(ROUTE):
        for table in resources.referred(route, "routeTableId", ROUTE_TABLE):
            ways[table.urn].add(_way(route.inputs))
    clusters = {
        subnet.urn
        for cluster in resources.of(EKS_CLUSTER)
        for subnet in resources.referred(cluster, "vpcConfig.subnetIds", SUBNET)
    }
    return {
        subnet.urn: next(
            (way for way in _REACHES if way in ways[table.urn]),
            _CONTROL_PLANE if subnet.urn in clusters else "isolated",
        )
        for association in resources.of(ROUTE_TABLE_ASSOCIATION)
        for table in resources.referred(association, "routeTableId", ROUTE_TABLE)
        for subnet in resources.referred(association, "subnetId", SUBNET)
    }


def _way(route: Any) -> str:
    """Where a route leads: `isolated` for one that does not lead everywhere."""
    to = {
        told(route, key) for key in ("destinationCidrBlock", "destinationIpv6CidrBlock", "cidrBlock", "ipv6CidrBlock")
    }
    if to.isdisjoint(_EVERYWHERE):
        return "isolated"
    return "public" if is_set(route, "gatewayId") else "private"


def _service(endpoint: RecordedResource) -> str:
    """`ecr.api` of `com.amazonaws.us-east-1.ecr.api`."""
    name = told(endpoint.inputs, "serviceName") or UNTOLD
    parts = name.split(".")
    return ".".join(parts[3:]) if len(parts) > 3 and "amazonaws" in parts else name


def _logged(flow_log: RecordedResource) -> str:
    return (told(flow_log.inputs, "trafficType") or UNTOLD).lower()
