"""A network that somebody else made: looked up, not made, and left as it is.

VPC and subnets are read by their ids, with what the settings say of them, so that whoever looks at the program knows
their zones and addresses. Endpoints that the VPC lacks, their security group and flow logs are made, and go with the
environment; nothing else of the network is changed.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2

from trainyard.components.aws.endpoints import make_endpoints
from trainyard.components.aws.flow_logs import make_flow_logs
from trainyard.components.aws.network import Network
from trainyard.components.outputs import register


class ExistingSubnetArgs(TypedDict):
    """A subnet that is there."""

    id: str
    """Id of the subnet."""
    cidr: str
    """Its CIDR block."""


class ExistingZoneArgs(TypedDict):
    """One availability zone with its three subnets."""

    name: str
    """Name of the zone, such as `us-east-1a`. Plain text: it names resources."""
    private: ExistingSubnetArgs
    """The subnet of nodes and pods."""
    isolated: ExistingSubnetArgs
    """The subnet of the database and interface endpoints."""
    control: ExistingSubnetArgs
    """The subnet of the control plane's interfaces."""


class ExistingNetworkArgs(TypedDict):
    """What `ExistingNetwork` needs."""

    vpc_id: str
    """Id of the VPC."""
    cidrs: Sequence[str]
    """CIDR blocks of the VPC, the primary one first."""
    zones: Sequence[ExistingZoneArgs]
    """Availability zones, at least two."""
    route_table_ids: Sequence[str]
    """Route tables of the subnets, which gateway endpoints add routes to."""
    gateway_endpoints: Sequence[str]
    """Services that a gateway endpoint is made for: `s3`, or none where it is there."""
    interface_endpoints: Sequence[str]
    """Services that an interface endpoint is made for."""
    endpoint_zones: NotRequired[Sequence[str]]
    """Zones that interface endpoints have an address in. Default: all."""
    region: pulumi.Input[str]
    """Region of the VPC."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits, whose principals and resources may be used through the endpoints."""
    organization_id: NotRequired[str | None]
    """The organisation, whose accounts may all be used through the endpoints. Default: the account alone."""
    public_buckets: NotRequired[Sequence[str]]
    """Names of others' buckets that may be read through the endpoint of S3. Default: none."""
    flow_log_retention_days: NotRequired[pulumi.Input[int]]
    """Days that flow logs are kept. Default: none are written, somebody else does."""
    key_arn: pulumi.Input[str]
    """KMS key of the flow logs. Its policy must admit CloudWatch Logs."""


class ExistingNetwork(pulumi.ComponentResource):
    """The VPC and its subnets as they are, with the endpoints that were missing.

    `ways_out` lists what nodes wait for, as of `Network`: here, what is made.
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    private_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its private subnet."""
    isolated_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its isolated subnet."""
    control_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its subnet for the control plane's interfaces."""
    object_store_cidrs: pulumi.Output[Sequence[str]]
    """CIDR blocks of the region's S3, as its gateway endpoint routes them."""
    endpoint_security_group_id: pulumi.Output[str]
    """Id of the security group of the interface endpoints that are made."""

    def __init__(self, name: str, args: ExistingNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for fewer than two zones."""
        super().__init__("trainyard:index:ExistingNetwork", name, None, opts)
        zones = list(args["zones"])
        if len(zones) < 2:
            raise ValueError(f"zones: got {[zone['name'] for zone in zones]}; an EKS cluster needs at least two")
        child = pulumi.ResourceOptions(parent=self)
        # Other names than those of a network of one's own: the engine deletes what it made under the name of what it
        # is to read.
        found = ec2.Vpc.get(f"{name}-existing-vpc", args["vpc_id"], cidr_block=args["cidrs"][0], opts=child)
        self.vpc_id = found.id
        self.private_subnet_ids, self.isolated_subnet_ids, self.control_subnet_ids = {}, {}, {}
        for zone in zones:
            for kind, subnet, ids in (
                ("private", zone["private"], self.private_subnet_ids),
                ("isolated", zone["isolated"], self.isolated_subnet_ids),
                ("control", zone["control"], self.control_subnet_ids),
            ):
                there = ec2.Subnet.get(
                    f"{name}-existing-{kind}-{zone['name']}",
                    subnet["id"],
                    vpc_id=args["vpc_id"],
                    availability_zone=zone["name"],
                    cidr_block=subnet["cidr"],
                    opts=child,
                )
                ids[zone["name"]] = there.id
        endpoints = make_endpoints(
            name,
            {
                "vpc_id": self.vpc_id,
                "vpc_cidrs": args["cidrs"],
                "route_table_ids": args["route_table_ids"],
                "subnet_ids": self.isolated_subnet_ids,
                "gateway_endpoints": args["gateway_endpoints"],
                "interface_endpoints": args["interface_endpoints"],
                "endpoint_zones": args.get("endpoint_zones"),
                "region": args["region"],
                "account_id": args["account_id"],
                "organization_id": args.get("organization_id"),
                "public_buckets": args.get("public_buckets", ()),
            },
            child,
        )
        self.ways_out: list[pulumi.Resource] = [*endpoints.ways_out]
        self.endpoint_security_group_id = endpoints.security_group_id
        if "s3" in args["gateway_endpoints"]:
            self.object_store_cidrs = endpoints.object_store_cidrs
        else:  # the VPC has it: its routes are for the same list of addresses
            store = ec2.get_prefix_list_output(
                name=pulumi.Output.concat("com.amazonaws.", args["region"], ".s3"),
                opts=pulumi.InvokeOutputOptions(parent=self),
            )
            self.object_store_cidrs = store.cidr_blocks
        if "flow_log_retention_days" in args:
            make_flow_logs(
                name,
                vpc_id=self.vpc_id,
                region=args["region"],
                account_id=args["account_id"],
                retention_days=args["flow_log_retention_days"],
                key_arn=args["key_arn"],
                opts=child,
            )
        register(self)


AnyNetwork = Network | ExistingNetwork
"""A network that things are put in, whoever made it."""
