"""VPC endpoints: which services they bring into a VPC, and whether anybody there gets to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.recorded.types import DNS_ZONE, VPC_ENDPOINT
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup

ENDPOINT_ROUTES: Final = "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation"
ENDPOINT_SUBNETS: Final = "aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation"
ENDPOINT_GROUPS: Final = "aws:ec2/vpcEndpointSecurityGroupAssociation:VpcEndpointSecurityGroupAssociation"

_HTTPS: Final = Port(443)
_NAMED_BY_HAND: Final = ("s3", "s3-global.accesspoint")
"""Services whose interface endpoints are often used by their own names, beside a gateway endpoint."""


class Endpoints:
    """The recorded endpoints, by VPC and service."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.gateways: dict[tuple[str, str], list[View]] = {}
        self.interfaces: dict[tuple[str, str], list[View]] = {}
        self._blurred = False  # an endpoint that nobody knows the VPC, service or kind of may be the one
        for view in network.stack.of_type(VPC_ENDPOINT):
            self._blurred = self._blurred or any(map(view.is_unknown, ("vpcId", "serviceName", "vpcEndpointType")))
            vpc, service = view.text("vpcId"), service_of(view)
            if vpc is None or service is None or view.is_unknown("vpcEndpointType"):
                continue
            kind = view.text("vpcEndpointType") or "Gateway"
            found = self.interfaces if kind == "Interface" else self.gateways if kind == "Gateway" else None
            if found is not None:
                found.setdefault((vpc, service), []).append(view)

    def serves(self, service: str, subnet: str) -> bool:
        """Whether a subnet gets a service through an endpoint, or may."""
        vpc = self.network.subnets[subnet].text("vpcId")
        if vpc is None or self._blurred:
            return True
        interfaces = self.interfaces.get((vpc, service), [])
        if any(view.flag("privateDnsEnabled") or view.is_unknown("privateDnsEnabled") for view in interfaces):
            return True
        if interfaces and self.network.stack.of_type(DNS_ZONE):
            return True  # a zone of its own may name the endpoint
        return any(self.has_routes(view, subnet) for view in self.gateways.get((vpc, service), []))

    def has_routes(self, view: View, subnet: str) -> bool:
        """Whether a gateway endpoint adds its routes to a subnet's table, or may."""
        table = self.network.table_of(subnet)
        if table is None or view.blurred("routeTableIds") or table in view.texts("routeTableIds"):
            return True
        return any(
            other.text("vpcEndpointId") in (None, view.resource.id) and other.text("routeTableId") in (None, table)
            for other in self.network.stack.of_type(ENDPOINT_ROUTES)
        )


def service_of(view: View) -> str | None:
    """`ecr.api` of `com.amazonaws.us-east-1.ecr.api`; None where it is none of the region's own."""
    name = view.text("serviceName") or ""
    parts = name.split(".", 3)
    return parts[3] if name.startswith("com.amazonaws.") and len(parts) > 3 else None


def check(endpoints: Endpoints, groups: Groups, nodes: Sequence[NodeGroup]) -> None:
    """Notes endpoints that nobody gets to."""
    for (vpc, service), views in endpoints.interfaces.items():
        for view in views:
            _interface(endpoints, groups, nodes, vpc, service, view)
    for views in endpoints.gateways.values():
        for view in views:
            _gateway(endpoints, nodes, view)


def _interface(
    endpoints: Endpoints, groups: Groups, nodes: Sequence[NodeGroup], vpc: str, service: str, view: View
) -> None:
    network = endpoints.network
    here = network.vpcs.get(vpc)
    named = view.flag("privateDnsEnabled")
    if named and here is not None:
        for path, standard in (("enableDnsSupport", True), ("enableDnsHostnames", False)):
            if not here.is_unknown(path) and (here.flag(path) if here.has(path) else standard) is False:
                view.error(
                    "paths-endpoint-names",
                    "privateDnsEnabled",
                    f"needs {path} of VPC {here.name}, which is off",
                    allowed=f"{path} true on the VPC",
                )
    _subnets(network, vpc, view)
    if not named and not view.is_unknown("privateDnsEnabled") and not network.stack.of_type(DNS_ZONE):
        if service not in _NAMED_BY_HAND and _nodes_in(network, nodes, vpc):
            view.warning(
                "paths-endpoint-unnamed",
                "privateDnsEnabled",
                f"is off, so that {service} still has its public addresses inside, and nobody uses this endpoint",
                allowed="true",
            )
        return
    if not named or network.stack.of_type(ENDPOINT_GROUPS):
        return
    stated = groups.of(view, "securityGroupIds") if view.has("securityGroupIds") else groups.default_of(here)
    for group in _nodes_in(network, nodes, vpc):
        closed = groups.closed_into(stated, group, _HTTPS)
        if closed:
            view.error(
                "paths-endpoint-closed",
                "securityGroupIds",
                f"its name leads the nodes of {group.view.name} here, and {closed}",
                allowed="an ingress rule for TCP 443 from the nodes",
            )
            return


def _subnets(network: Network, vpc: str, view: View) -> None:
    if view.lacks("subnetIds") and not network.stack.of_type(ENDPOINT_SUBNETS):
        if view.lacks("subnetConfigurations"):
            view.error(
                "paths-endpoint-nowhere",
                "subnetIds",
                "the endpoint has an interface in no subnet, so that its name leads nowhere",
                allowed="a subnet in each zone that has nodes",
            )
        return
    for subnet in view.texts("subnetIds"):
        found = network.subnets.get(subnet)
        if found is not None and found.text("vpcId") not in (None, vpc):
            view.error(
                "paths-other-vpc",
                "subnetIds",
                f"subnet {found.name} is of another VPC than the endpoint",
                allowed="subnets of the endpoint's VPC",
            )


def _gateway(endpoints: Endpoints, nodes: Sequence[NodeGroup], view: View) -> None:
    """A gateway endpoint works for the route tables that it is given, and for no other."""
    network = endpoints.network
    left_out = [
        network.subnets[subnet].name
        for group in _nodes_in(network, nodes, view.text("vpcId") or "")
        for subnet in group.subnets
        if not endpoints.has_routes(view, subnet)
    ]
    service = service_of(view) or "the service"
    if (
        not nodes
        and not any(endpoints.has_routes(view, subnet) for subnet in network.subnets)
        and not view.blurred("routeTableIds")
    ):
        view.warning(
            "paths-endpoint-without-routes", "routeTableIds",
            f"no subnet's route table is among them: nobody reaches {service} through it",
            allowed="the route tables of the subnets that ask it",
        )  # fmt: skip
    if left_out:
        view.warning(
            "paths-endpoint-without-routes",
            "routeTableIds",
            f"the route tables of {', '.join(sorted(set(left_out))[:3])} are not among them: what nodes there ask of "
            f"{service} goes through the NAT gateway, or nowhere",
            allowed="the route tables of all subnets with nodes",
        )


def _nodes_in(network: Network, nodes: Sequence[NodeGroup], vpc: str) -> list[NodeGroup]:
    return [group for group in nodes if any(network.subnets[subnet].text("vpcId") == vpc for subnet in group.subnets)]
