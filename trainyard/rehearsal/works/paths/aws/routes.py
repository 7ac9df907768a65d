"""Gateways and route tables that lead nowhere, whoever uses them."""

from __future__ import annotations

from trainyard.recorded.types import INTERNET_GATEWAY, ROUTE_TABLE_ASSOCIATION
from trainyard.rehearsal.works.paths.aws.network import Network, Route


def check(network: Network) -> None:
    """Notes gateways without a way out, and what is put together across VPCs."""
    _nat_gateways(network)
    _internet_gateways(network)
    _associations(network)
    for table, routes in network.routes.items():
        for route in routes:
            _route(network, table, route)


def _nat_gateways(network: Network) -> None:
    """A public NAT gateway needs a route to an internet gateway in its own subnet (VPC user guide, "NAT gateways")."""
    for nat in network.nats.values():
        subnet = nat.text("subnetId")
        if subnet is None or nat.text("connectivityType") == "private" or nat.is_unknown("connectivityType"):
            continue
        way = network.internet(subnet, public=True)
        if way.open is False:
            nat.error(
                "paths-nat-no-way-out",
                "subnetId",
                f"no way leads from this NAT gateway to the internet: {way.why}",
                allowed="a subnet whose route table sends 0.0.0.0/0 to an internet gateway",
            )


def _internet_gateways(network: Network) -> None:
    used = {route.target for routes in network.routes.values() for route in routes if route.kind == "gatewayId"}
    for view in network.stack.of_type(INTERNET_GATEWAY):
        if view.resource.id in used and not view.resource.read and not network.is_attached(view, None):
            view.error(
                "paths-gateway-detached",
                "vpcId",
                "routes lead to this internet gateway, which is attached to no VPC",
                allowed="vpcId, or an InternetGatewayAttachment",
            )


def _associations(network: Network) -> None:
    for view in network.stack.of_type(ROUTE_TABLE_ASSOCIATION):
        subnet = network.subnets.get(view.text("subnetId") or "")
        table = network.tables.get(view.text("routeTableId") or "")
        if subnet and table and subnet.text("vpcId") and table.text("vpcId") not in (None, subnet.text("vpcId")):
            view.error(
                "paths-other-vpc",
                "routeTableId",
                f"route table {table.name} is of another VPC than subnet {subnet.name}",
                allowed="a route table of the subnet's VPC",
            )


def _route(network: Network, table: str, route: Route) -> None:
    """A NAT or internet gateway is used from its own VPC alone."""
    here = network.tables.get(table)
    vpc = here.text("vpcId") if here else None
    path = f"{route.path}.{route.kind}" if route.path else route.kind
    nat = network.nats.get(route.target or "") if route.kind == "natGatewayId" else None
    if nat is not None and vpc:
        subnet = network.subnets.get(nat.text("subnetId") or "")
        if subnet and subnet.text("vpcId") not in (None, vpc):
            route.view.error(
                "paths-other-vpc",
                path,
                f"NAT gateway {nat.name} is in another VPC than the route table",
                allowed="a gateway of the route table's VPC",
            )
    gateway = network.gateways.get(route.target or "") if route.kind == "gatewayId" else None
    if gateway is not None and vpc and gateway.text("vpcId") not in (None, vpc):
        route.view.error(
            "paths-other-vpc",
            path,
            f"internet gateway {gateway.name} is attached to another VPC than the route table's",
            allowed="a gateway of the route table's VPC",
        )
