"""Routes: what a subnet's traffic gets to (VPC user guide, "Configure route tables", 2026-11).

Inside of the VPC everything is routed. The way out is the route of the longest prefix: through a NAT gateway, whose own
subnet has a route through an internet gateway, or through the latter, for what has a public address. A gateway endpoint
adds routes to its service's addresses. From the internet only what has a public address is found. Network ACLs are not
read here: a VPC's own lets everything by, and one that is stricter only takes away (`network_acls`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SUBNET,
    VPC,
    VPC_CIDR,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.works.flows.addresses import INTERNET, Addresses
from trainyard.rehearsal.works.flows.model import Flow, Judgement

_TARGETS: Final[Mapping[str, str]] = {
    "gatewayId": "internet gateway",
    "natGatewayId": "NAT gateway",
    "transitGatewayId": "transit gateway",
    "vpcPeeringConnectionId": "peering connection",
    "networkInterfaceId": "network interface",
    "vpcEndpointId": "firewall endpoint",
}
"""Inputs of a route that say where it leads, and what that is."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route of a table."""

    resource: RecordedResource
    addresses: Addresses
    prefix: int  # its length: the longest wins
    kind: str  # of _TARGETS
    target: str  # id


@dataclass(frozen=True, slots=True)
class Routes:
    """The route tables of a stack: a wall."""

    inside: Addresses  # of the VPCs, and of the services of the cluster in them
    tables: Mapping[str, str]  # id of the table by that of the subnet
    routes: Mapping[str, tuple[Route, ...]]  # by the table's id
    nat_subnets: Mapping[str, str]  # subnet of a NAT gateway with a public address, by its id
    gateway_endpoints: Mapping[str, RecordedResource]  # to the object store, by the id of a table that has its routes
    elsewhere: Mapping[str, RecordedResource] = field(default_factory=dict)
    """Subnets of somebody else's, by id, whose routes nobody here knows: they may lead anywhere."""

    @classmethod
    def recorded(cls, resources: Resources, services: Addresses) -> Routes:
        """Reads the recorded ones. `services` are the addresses that services have in the cluster.

        Raises:
            UnknownInput: a part of them is not known yet.
        """
        networks = texts_of(resources, "cidrBlock", VPC, VPC_CIDR, SUBNET)
        routes: dict[str, list[Route]] = {}
        for table, route in _all_routes(resources):
            routes.setdefault(table, []).append(route)
        return cls(
            inside=Addresses.of(*networks) | services,
            tables={
                str(value_at(found.inputs, "subnetId")): str(value_at(found.inputs, "routeTableId"))
                for found in resources.of(ROUTE_TABLE_ASSOCIATION)
            },
            routes={table: tuple(found) for table, found in routes.items()},
            nat_subnets={
                str(found.id): str(value_at(found.inputs, "subnetId"))
                for found in resources.of(NAT_GATEWAY)
                if value_at(found.inputs, "connectivityType", default="public") == "public"
            },
            gateway_endpoints={
                table: found
                for found in resources.of(VPC_ENDPOINT)
                if is_object_store(found)
                for table in texts_at(found.inputs, "routeTableIds")
            },
            elsewhere={str(found.id): found for found in resources.of(SUBNET) if found.read},
        )

    def judge(self, flow: Flow) -> Judgement | None:
        """Where the routes of the source's subnets lead; None where no route is asked."""
        source, destination = flow.source, flow.destination
        if destination.kind == "link-local":
            if source.kind in ("pods", "node"):
                return None
            return Judgement(
                flow.narrowed(to_addresses=Addresses()), f"{destination} answers nodes and their pods alone"
            )
        if "own node" in (source.kind, destination.kind):
            if "pods" in (source.kind, destination.kind):
                return None
            return Judgement(flow.narrowed(to_addresses=Addresses()), "only a pod has a node of its own")
        if source.kind == "internet":
            if not destination.public_to:
                return Judgement(flow.narrowed(from_addresses=Addresses()), f"{destination} has no public address")
            return Judgement(flow.narrowed(from_addresses=destination.public_to), f"{destination} has a public address")
        outside = flow.to_addresses - self.inside
        if not outside or not source.subnets:
            return None
        led: list[Addresses] = []
        by: dict[str, RecordedResource] = {}
        for subnet in sorted(source.subnets):
            for route, part in self._ways_out(subnet, outside, object_store=destination.kind == "object store"):
                led.append(part)
                by.setdefault(route.name, route)
        left = flow.narrowed(to_addresses=Addresses.union([flow.to_addresses & self.inside, *led]))
        if not left.passes:
            return Judgement(left, f"no route leads from {source} to {destination}")
        return Judgement(left, "through " + ", ".join(sorted(by)), tuple(by.values())) if by else None

    def ports(self) -> Iterable[int]:
        """None: routes know addresses alone."""
        return ()

    def _ways_out(
        self, subnet: str, wanted: Addresses, *, object_store: bool
    ) -> Iterator[tuple[RecordedResource, Addresses]]:
        table = self.tables.get(subnet, "")
        if not table and subnet in self.elsewhere:
            yield self.elsewhere[subnet], wanted
            return
        if object_store and table in self.gateway_endpoints:
            yield self.gateway_endpoints[table], wanted
            return
        left = wanted
        for route in sorted(self.routes.get(table, ()), key=lambda route: -route.prefix):
            part = left & route.addresses
            left = left - route.addresses
            if part and self._leads_out(route):
                yield route.resource, part

    def _leads_out(self, route: Route) -> bool:
        if route.kind == "internet gateway":
            return False  # nothing that is asked about has a public address of its own
        if route.kind != "NAT gateway":
            return True  # to another network, which may have a way on
        table = self.tables.get(self.nat_subnets.get(route.target, ""), "")
        return any(
            other.kind == "internet gateway" and other.addresses & INTERNET for other in self.routes.get(table, ())
        )


def texts_of(resources: Resources, key: str, *types: str) -> list[str]:
    """An input of all resources of some types, where it is set. Raises UnknownInput."""
    return [str(found) for one in resources.of(*types) if (found := value_at(one.inputs, key)) is not None]


def is_gateway(endpoint: RecordedResource) -> bool:
    """Whether a VPC endpoint is one of routes rather than of interfaces."""
    return bool(value_at(endpoint.inputs, "vpcEndpointType", default="Gateway") == "Gateway")


def is_object_store(endpoint: RecordedResource) -> bool:
    """Whether a VPC endpoint is the gateway to S3."""
    return is_gateway(endpoint) and str(value_at(endpoint.inputs, "serviceName")).endswith(".s3")


def _all_routes(resources: Resources) -> Iterator[tuple[str, Route]]:
    for found in resources.of(ROUTE):
        route = _route(found, found.inputs, "destinationCidrBlock")
        if route is not None:
            yield str(value_at(found.inputs, "routeTableId")), route
    for table in resources.of(ROUTE_TABLE):
        for inline in mappings_at(table.inputs, "routes"):
            route = _route(table, inline, "cidrBlock")
            if route is not None:
                yield str(table.id), route


def _route(resource: RecordedResource, given: Mapping[str, Any], key: str) -> Route | None:
    network = value_at(given, key)
    for target, kind in _TARGETS.items():
        found = value_at(given, target)
        if network is not None and found is not None:
            return Route(resource, Addresses.of(network), int(str(network).rpartition("/")[2]), kind, str(found))
    return None
