"""Walls around the network: nodes, databases and file servers have no way to the internet of their own."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.access import internet
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    DATABASE_SUBNETS,
    EFS_MOUNT_TARGET,
    INTERNET_GATEWAY,
    LUSTRE,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SUBNET,
)

_INSIDE = {
    EKS_NODE_GROUP: "subnetIds",
    DATABASE_SUBNETS: "subnetIds",
    LUSTRE: "subnetIds",
    EFS_MOUNT_TARGET: "subnetId",
}
"""What stands in no public subnet, and where it names its own."""


@stack_rule(
    "subnet-routed-to-the-internet",
    "Nodes, databases and file servers stand in subnets without a route to an internet gateway.",
    types=(*_INSIDE, SUBNET, ROUTE, ROUTE_TABLE, ROUTE_TABLE_ASSOCIATION, INTERNET_GATEWAY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 5.4.3", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Use the network as it is: its private subnets go out through a NAT gateway, the isolated ones not at all.",
)
def subnet_routed_to_the_internet(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """With such a route an address is all that is missing. Judged by what a property is made of."""
    for route in resources.of(ROUTE):
        out = internet(value_at(route.inputs, "destinationCidrBlock", unknown=None)) or internet(
            value_at(route.inputs, "destinationIpv6CidrBlock", unknown=None)
        )
        if not out or value_at(route.inputs, "gatewayId", unknown="unknown") is None:
            continue
        for table in resources.of(ROUTE_TABLE):
            if table.urn not in route.property_dependencies.get("routeTableId", ()):
                continue
            for subnet in _subnets(resources, table.urn):
                for type_, key in _INSIDE.items():
                    for found in resources.of(type_):
                        if subnet in found.property_dependencies.get(key, ()):
                            yield route, f"leads from the subnet of {found.name} to the internet"


def _subnets(resources: Resources, table: str) -> Iterator[str]:
    for association in resources.of(ROUTE_TABLE_ASSOCIATION):
        if table in association.property_dependencies.get("routeTableId", ()):
            yield from association.property_dependencies.get("subnetId", ())
