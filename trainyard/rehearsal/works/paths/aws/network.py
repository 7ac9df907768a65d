"""A stack's VPCs as data: which subnet has which route table, where its routes lead, what stands in it.

Only what the stack makes is here, and subnets that it looks up as far as it says where they lie: their routes are
somebody else's. What else somebody else made (a VPC by its id, a table of another stack) is None, and so is what is not
known yet: whoever asks keeps silent about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import (
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SUBNET,
    VPC,
)
from trainyard.rehearsal.context import Stack, View

DEFAULT_ROUTE_TABLE: Final = "aws:ec2/defaultRouteTable:DefaultRouteTable"
INTERNET_GATEWAY_ATTACHMENT: Final = "aws:ec2/internetGatewayAttachment:InternetGatewayAttachment"
MAIN_ROUTE_TABLE: Final = "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation"

EVERYWHERE: Final = "0.0.0.0/0"
_TARGETS: Final = (
    "gatewayId", "natGatewayId", "transitGatewayId", "vpcPeeringConnectionId", "networkInterfaceId", "vpcEndpointId",
    "egressOnlyGatewayId", "carrierGatewayId", "localGatewayId", "coreNetworkArn", "odbNetworkArn",
)  # fmt: skip
_DESTINATIONS: Final = ("destinationCidrBlock", "cidrBlock", "destinationPrefixListId")


@dataclass(frozen=True, slots=True)
class Route:
    """One route of a table that the stack makes."""

    view: View  # of the route, or of the table that it is written into
    path: str  # of the route in its inputs; empty for a route of its own
    destination: str | None  # block or prefix list; None: not known, or of IPv6
    kind: str  # which of the targets: "natGatewayId"
    target: str | None  # its id, where that is known


@dataclass(frozen=True, slots=True)
class Way:
    """Where a subnet's traffic to the internet ends."""

    open: bool | None  # None: not certain
    why: str = ""  # where it is not open


OPEN: Final = Way(True)
UNCERTAIN: Final = Way(None)


class Network:
    """Everything of the recorded VPCs that decides where a packet goes, found by id."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.vpcs = _made(stack, VPC)
        self.subnets = {**_looked_up(stack, SUBNET), **_made(stack, SUBNET)}
        self.tables = _made(stack, ROUTE_TABLE)
        self.nats = _made(stack, NAT_GATEWAY)
        self.gateways = _made(stack, INTERNET_GATEWAY)
        self._by_urn = {view.resource.urn: view for view in stack.views}
        self._main = dict(_main_tables(stack, self.vpcs))
        self.associations: dict[str, View] = {}
        self._unplaced = False
        for view in stack.of_type(ROUTE_TABLE_ASSOCIATION):
            subnet = view.text("subnetId")
            if subnet is not None:
                self.associations[subnet] = view
            elif not view.has("gatewayId"):
                self._unplaced = True  # one of the subnets has it, nobody knows which
        self.routes: dict[str, list[Route]] = {}
        self._unrouted = False
        for table, route in _all_routes(stack):
            if table is None:
                self._unrouted = True
            else:
                self.routes.setdefault(table, []).append(route)
        self._blurred = {id_ for id_, view in self.tables.items() if view.blurred("routes")}

    def view_of(self, resource: RecordedResource) -> View:
        """The view of a recorded resource."""
        return self._by_urn[resource.urn]

    def vpc_of(self, view: View, path: str = "vpcId") -> View | None:
        """The VPC of the stack that a subnet, table or group lies in."""
        return self.vpcs.get(view.text(path) or "")

    def table_of(self, subnet: str) -> str | None:
        """Id of the table that a subnet's traffic is routed by; None where that is not certain.

        A subnet without an association falls on the main table of its VPC (VPC user guide, "Subnet route tables",
        2026-11).
        """
        association = self.associations.get(subnet)
        if association is not None:
            return association.text("routeTableId")
        vpc = self.vpc_of(self.subnets[subnet]) if subnet in self.subnets else None
        if vpc is None or self._unplaced:
            return None
        return self._main.get(str(vpc.resource.id))

    def is_whole(self, table: str) -> bool:
        """Whether all routes of a table are known."""
        known = table in self.tables or table in self._main.values()
        return known and table not in self._blurred and not self._unrouted

    def table_name(self, table: str) -> str:
        """The table as a sentence calls it."""
        found = self.tables.get(table)
        return f"route table {found.name}" if found else "the VPC's main route table"

    def leads_elsewhere(self, subnet: str) -> bool:
        """Whether a subnet has a route to a network that nobody here knows, or may have one."""
        table = self.table_of(subnet)
        if table is None or not self.is_whole(table):
            return True
        own = ("natGatewayId", "gatewayId", "egressOnlyGatewayId")
        return any(route.kind not in own for route in self.routes.get(table, ()))

    def nat_subnet_of(self, subnet: str) -> str | None:
        """The subnet of the NAT gateway that a subnet's default route leads to."""
        table = self.table_of(subnet)
        for route in self.routes.get(table or "", ()):
            if route.destination == EVERYWHERE and route.kind == "natGatewayId":
                nat = self.nats.get(route.target or "")
                return nat.text("subnetId") if nat is not None else None
        return None

    def internet(self, subnet: str, *, public: bool) -> Way:
        """Whether what has an address in a subnet gets to the internet. `public`: it has a public address too."""
        return self._internet(subnet, public=public, seen=frozenset())

    def _internet(self, subnet: str, *, public: bool, seen: frozenset[str]) -> Way:
        table = self.table_of(subnet)
        if subnet in seen:
            return Way(False, f"its routes lead back to subnet {self.subnets[subnet].name}")
        if table is None or subnet not in self.subnets or not self.is_whole(table):
            return UNCERTAIN
        routes = self.routes.get(table, [])
        if any(route.destination is None or route.target is None for route in routes):
            return UNCERTAIN
        default = next((route for route in routes if route.destination == EVERYWHERE), None)
        if default is None:
            if any(str(route.destination).endswith(("/1", "/2", "/3", "/4")) for route in routes):
                return UNCERTAIN
            fallen = "" if subnet in self.associations else " (the subnet has no route table of its own)"
            return Way(False, f"{self.table_name(table)} has no route to {EVERYWHERE}{fallen}")
        return self._through(default, self.subnets[subnet], public=public, seen=seen | {subnet})

    def _through(self, route: Route, subnet: View, *, public: bool, seen: frozenset[str]) -> Way:
        target = str(route.target)
        if route.kind == "gatewayId" and target in self.gateways:
            if not self.is_attached(self.gateways[target], subnet.text("vpcId")):
                return Way(False, f"internet gateway {self.gateways[target].name} is not attached to its VPC")
            why = f"{subnet.name} leads to internet gateway {self.gateways[target].name}, and has no public address"
            return OPEN if public else Way(False, why)
        nat = self.nats.get(target) if route.kind == "natGatewayId" else None
        place = nat.text("subnetId") if nat is not None else None
        if nat is None or place is None:
            return UNCERTAIN
        private = nat.text("connectivityType") == "private"
        beyond = self._internet(place, public=not private, seen=seen)
        if beyond.open is False:
            where = self.subnets[place].name
            kind = "private NAT gateway" if private else "NAT gateway"
            return Way(False, f"{kind} {nat.name} lies in subnet {where}, from where nothing leads out: {beyond.why}")
        return beyond

    def is_attached(self, gateway: View, vpc: str | None) -> bool:
        """Whether an internet gateway is attached to a VPC, as far as it can be told; to any, where none is named."""
        if gateway.has("vpcId"):
            return vpc is None or gateway.is_unknown("vpcId") or gateway.text("vpcId") == vpc
        attached = [
            view
            for view in self.stack.of_type(INTERNET_GATEWAY_ATTACHMENT)
            if view.text("internetGatewayId") in (None, gateway.resource.id)
        ]
        return any(vpc is None or view.text("vpcId") in (None, vpc) for view in attached)


def _looked_up(stack: Stack, type_: str) -> dict[str, View]:
    """What the stack says of somebody else's things of a type, by id."""
    views = (view for view in stack.of_type(type_) if view.resource.read)
    return {view.resource.id: view for view in views if isinstance(view.resource.id, str)}


def _made(stack: Stack, type_: str) -> dict[str, View]:
    """What the stack makes of a type, by id; what it only looks up is somebody else's."""
    views = (view for view in stack.of_type(type_) if not view.resource.read)
    return {view.resource.id: view for view in views if isinstance(view.resource.id, str)}


def _main_tables(stack: Stack, vpcs: Mapping[str, View]) -> Iterator[tuple[str, str]]:
    """Id of each VPC with that of its main table: the one that it comes with, or the one that was made so."""
    for id_, view in vpcs.items():
        found = view.resource.outputs.get("mainRouteTableId")
        if isinstance(found, str):
            yield id_, found
    for view in stack.of_type(MAIN_ROUTE_TABLE):
        vpc, table = view.text("vpcId"), view.text("routeTableId")
        if vpc is not None:
            yield vpc, table or ""


def _all_routes(stack: Stack) -> Iterator[tuple[str | None, Route]]:
    for view in stack.of_type(ROUTE):
        yield view.text("routeTableId"), _route(view, "", view.inputs)
    for type_, key in ((ROUTE_TABLE, ""), (DEFAULT_ROUTE_TABLE, "defaultRouteTableId")):
        for view in stack.of_type(type_):
            table = view.text(key) if key else view.resource.id
            for path, inline in view.items("routes"):
                yield table if isinstance(table, str) else None, _route(view, path, inline)


def _route(view: View, path: str, given: Mapping[str, Any]) -> Route:
    kind = next((key for key in _TARGETS if given.get(key) not in (None, "")), "")
    target = given.get(kind)
    found = [given[key] for key in _DESTINATIONS if given.get(key) not in (None, "")]
    sixth = any(given.get(key) not in (None, "") for key in ("destinationIpv6CidrBlock", "ipv6CidrBlock"))
    destination = "::/0" if sixth and not found else next(iter(found), None)
    return Route(
        view,
        path,
        destination if isinstance(destination, str) else None,
        kind,
        target if isinstance(target, str) else None,
    )
