"""Resources of programs that someone else could have written, as a recording holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.recorded.model import RecordedResource

PREFIX = "urn:pulumi:test::theirs::"


def made(type_: str, name: str, inputs: Mapping[str, Any] | None = None, **more: Any) -> RecordedResource:
    """A resource with the id `id-NAME`; `uses`: property -> the resources that it is made of."""
    uses = more.pop("uses", {})
    fields = {"parent": "", "component": "", "custom": True, "provider": "", "id": f"id-{name}", **more}
    made_of = {key: tuple(other.urn for other in others) for key, others in uses.items()}
    urn = f"{PREFIX}{type_}::{name}"
    return RecordedResource(
        urn=urn, type=type_, name=name, inputs=inputs or {}, property_dependencies=made_of, **fields
    )


VPC = made("aws:ec2/vpc:Vpc", "their-vpc", {"cidrBlock": "10.9.0.0/16"})
GATEWAY = made("aws:ec2/internetGateway:InternetGateway", "way-out", {"vpcId": VPC.id})


def subnet(name: str, zone: str = "eu-west-1a", **inputs: Any) -> RecordedResource:
    """A subnet of `VPC`."""
    given = {"vpcId": VPC.id, "cidrBlock": "10.9.1.0/24", "availabilityZone": zone}
    return made("aws:ec2/subnet:Subnet", name, {**given, **inputs})


def table(name: str, of: RecordedResource, *routes: Mapping[str, Any]) -> tuple[RecordedResource, RecordedResource]:
    """The route table of a subnet with its routes inside, and what joins them."""
    own = made("aws:ec2/routeTable:RouteTable", name, {"vpcId": VPC.id, "routes": list(routes)})
    joined = {"routeTableId": own.id, "subnetId": of.id}
    return own, made("aws:ec2/routeTableAssociation:RouteTableAssociation", name, joined)
