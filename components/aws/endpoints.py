"""VPC endpoints: services of AWS that are reached without the internet, in a network of any make.

S3 through a gateway endpoint, which costs nothing and is a route; others through an interface with an address in each
zone. Whoever may use them, and for what, is `perimeter`'s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.vpc as vpc

from trainyard.components.aws.perimeter import OwnersArgs, endpoint_policy


class EndpointsArgs(TypedDict):
    """What endpoints need."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""
    vpc_cidrs: Sequence[pulumi.Input[str]]
    """Its CIDR blocks, whose addresses may ask."""
    route_table_ids: Sequence[pulumi.Input[str]]
    """Route tables that gateway endpoints add routes to."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone name to the subnet that interface endpoints may stand in."""
    gateway_endpoints: Sequence[str]
    """Services with a gateway endpoint: `s3`, `dynamodb`."""
    interface_endpoints: Sequence[str]
    """Services with an interface endpoint, such as `ecr.api`."""
    endpoint_zones: Sequence[str] | None
    """Zones that interface endpoints have an address in. None: all."""
    region: pulumi.Input[str]
    """Region of the VPC; the names of the services hold it."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits."""
    organization_id: str | None
    """The organisation whose accounts may be used through them. None: the account alone."""
    public_buckets: Sequence[str]
    """Names of others' buckets that may be read through S3's."""


@dataclass(frozen=True)
class Endpoints:
    """What there is to wait for, and what others name."""

    ways_out: Sequence[pulumi.Resource]
    object_store_cidrs: pulumi.Output[Sequence[str]]  # none without a gateway endpoint for S3
    security_group_id: pulumi.Output[str]


def make_endpoints(name: str, args: EndpointsArgs, opts: pulumi.ResourceOptions) -> Endpoints:
    """Makes endpoints and their security group. `name` begins the names of all; `opts` are those of a child."""

    def service_name(service: str) -> pulumi.Output[str]:
        return pulumi.Output.concat("com.amazonaws.", args["region"], ".", service)

    owners: OwnersArgs = {"account_id": args["account_id"], "organization_id": args["organization_id"]}

    def policy(service: str) -> Any:
        return endpoint_policy(service, owners, args["region"], args["public_buckets"])

    ways_out: list[pulumi.Resource] = []
    object_store_cidrs: pulumi.Output[Sequence[str]] = pulumi.Output.from_input([])
    for service in args["gateway_endpoints"]:
        endpoint_name = f"{name}-{service}"
        endpoint = ec2.VpcEndpoint(
            endpoint_name,
            vpc_id=args["vpc_id"],
            service_name=service_name(service),
            vpc_endpoint_type="Gateway",
            policy=policy(service),
            route_table_ids=list(args["route_table_ids"]),
            tags={"Name": endpoint_name},
            opts=opts,
        )
        ways_out.append(endpoint)
        if service == "s3":
            object_store_cidrs = endpoint.cidr_blocks
    group = ec2.SecurityGroup(
        f"{name}-endpoints",
        vpc_id=args["vpc_id"],
        description="Interface endpoints of AWS services: HTTPS from inside the VPC",
        tags={"Name": f"{name}-endpoints"},
        opts=opts,
    )
    for index, cidr in enumerate(args["vpc_cidrs"]):
        answers = vpc.SecurityGroupIngressRule(
            f"{name}-endpoints-https{f'-{index}' if index else ''}",
            security_group_id=group.id,
            description="HTTPS from the VPC",
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=cidr,
            opts=opts,
        )
        ways_out.append(answers)
    zones = args["endpoint_zones"] or list(args["subnet_ids"])
    for service in args["interface_endpoints"]:
        endpoint_name = f"{name}-{service.replace('.', '-')}"
        interface = ec2.VpcEndpoint(
            f"{endpoint_name}-interface",
            vpc_id=args["vpc_id"],
            service_name=service_name(service),
            vpc_endpoint_type="Interface",
            policy=policy(service),
            private_dns_enabled=True,
            subnet_ids=[args["subnet_ids"][zone] for zone in zones],
            security_group_ids=[group.id],
            tags={"Name": endpoint_name},
            opts=opts,
        )
        ways_out.append(interface)
    return Endpoints(ways_out, object_store_cidrs, group.id)
