"""The environment's network: a VPC with four kinds of subnet in each availability zone.

Public subnets hold NAT gateways and nothing else; private ones hold nodes and pods, with a route out through NAT;
isolated ones hold the database and the interface endpoints, with no route out at all; the control plane's interfaces
have subnets of their own, so that network policies can let them in to webhooks, and nobody else. S3 is reached through
a gateway endpoint from all of them, other AWS services through interface endpoints, so that images, logs and
checkpoints cross no NAT gateway. Names of children carry the zone, never an index: adding a zone replaces nothing.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ec2 as ec2

from trainyard.components.aws.endpoints import make_endpoints
from trainyard.components.aws.flow_logs import make_flow_logs
from trainyard.components.outputs import register

ANYWHERE = "0.0.0.0/0"


class ZoneArgs(TypedDict):
    """One availability zone; its four CIDR blocks are disjoint and inside the VPC's."""

    name: str
    """Name of the zone, such as `us-east-1a`. Plain text: it names resources."""
    public_cidr: pulumi.Input[str]
    """CIDR block of the zone's public subnet, which the NAT gateway is in."""
    private_cidr: pulumi.Input[str]
    """CIDR block of the zone's private subnet, which nodes and pods are in."""
    isolated_cidr: pulumi.Input[str]
    """CIDR block of the zone's isolated subnet, which the database and interface endpoints are in."""
    control_cidr: pulumi.Input[str]
    """CIDR block of the zone's subnet for the control plane's interfaces: 16 addresses or more."""


class NetworkArgs(TypedDict):
    """What `Network` needs."""

    cidr: pulumi.Input[str]
    """CIDR block of the VPC, /16 to /28."""
    zones: Sequence[ZoneArgs]
    """Availability zones, at least two (EKS asks for two)."""
    nat_gateways: int
    """Number of NAT gateways: 1, which saves money, or one a zone, which survives the loss of a zone. 0: no way out but
    endpoints, and neither public subnets nor an internet gateway."""
    gateway_endpoints: Sequence[str]
    """Services with a gateway endpoint: `s3`, `dynamodb`."""
    interface_endpoints: Sequence[str]
    """Services with an interface endpoint, such as `ecr.api`, `sts`, `logs`."""
    endpoint_zones: NotRequired[Sequence[str]]
    """Zones whose isolated subnets interface endpoints have an address in; nodes of other zones reach them across.
    Default: all."""
    region: pulumi.Input[str]
    """Region of the VPC; the names of the endpoints' services hold it."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits: the only one for whose flow logs their role may be taken, and whose principals and
    resources may be used through the endpoints."""
    organization_id: NotRequired[str | None]
    """The organisation (`o-…`), whose accounts may all be used through the endpoints. Default: the account alone."""
    public_buckets: NotRequired[Sequence[str]]
    """Names of others' buckets that may be read through the endpoint of S3. Default: none."""
    flow_log_retention_days: pulumi.Input[int]
    """Days that flow logs are kept; a value that CloudWatch knows, such as 365."""
    key_arn: pulumi.Input[str]
    """KMS key of the flow logs. Its policy must admit CloudWatch Logs."""
    cluster_names: Sequence[str]
    """Names of the EKS clusters that the private subnets are tagged for."""


class Network(pulumi.ComponentResource):
    """VPC, subnets, routes, NAT, endpoints, flow logs and an emptied default security group.

    `ways_out` lists what nodes wait for: routes, with the NAT gateways behind them, and endpoints. A node that starts
    before them, or outlasts them, pulls no image and joins no cluster.
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    private_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its private subnet."""
    isolated_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its isolated subnet."""
    control_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its subnet for the control plane's interfaces."""
    public_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone name to the id of its public subnet."""
    object_store_cidrs: pulumi.Output[Sequence[str]]
    """CIDR blocks of the region's S3, as the gateway endpoint routes them; none without that endpoint."""
    endpoint_security_group_id: pulumi.Output[str]
    """Id of the security group of the interface endpoints."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for fewer than two zones, and for NAT gateways other than none, one or one a zone."""
        super().__init__("trainyard:index:Network", name, None, opts)
        zones = list(args["zones"])
        if len(zones) < 2:
            raise ValueError(f"zones: got {[zone['name'] for zone in zones]}; an EKS cluster needs at least two")
        if args["nat_gateways"] not in (0, 1, len(zones)):
            raise ValueError(f"nat_gateways: got {args['nat_gateways']}; none, 1, or one a zone ({len(zones)})")
        self._name = name
        self._child = pulumi.ResourceOptions(parent=self)
        self._vpc = ec2.Vpc(
            f"{name}-vpc",
            cidr_block=args["cidr"],
            enable_dns_support=True,
            enable_dns_hostnames=True,  # private names of interface endpoints resolve only with both
            tags={"Name": name},
            opts=self._child,
        )
        # Adopts the group that every VPC comes with and takes its rules away.
        ec2.DefaultSecurityGroup(
            f"{name}-default", vpc_id=self._vpc.id, tags={"Name": f"{name}-default-closed"}, opts=self._child
        )
        self.ways_out: list[pulumi.Resource] = []
        self._make_subnets(zones, args["cluster_names"], public=args["nat_gateways"] > 0)
        tables = self._make_routes(zones, args["nat_gateways"])
        self.vpc_id = self._vpc.id
        endpoints = make_endpoints(
            name,
            {
                "vpc_id": self.vpc_id,
                "vpc_cidrs": [args["cidr"]],
                "route_table_ids": [table.id for table in tables],
                "subnet_ids": self.isolated_subnet_ids,
                "gateway_endpoints": args["gateway_endpoints"],
                "interface_endpoints": args["interface_endpoints"],
                "endpoint_zones": args.get("endpoint_zones"),
                "region": args["region"],
                "account_id": args["account_id"],
                "organization_id": args.get("organization_id"),
                "public_buckets": args.get("public_buckets", ()),
            },
            self._child,
        )
        self.ways_out += endpoints.ways_out
        self.object_store_cidrs = endpoints.object_store_cidrs
        self.endpoint_security_group_id = endpoints.security_group_id
        make_flow_logs(
            name,
            vpc_id=self.vpc_id,
            region=args["region"],
            account_id=args["account_id"],
            retention_days=args["flow_log_retention_days"],
            key_arn=args["key_arn"],
            opts=self._child,
        )
        register(self)

    def _make_subnets(self, zones: Sequence[ZoneArgs], cluster_names: Sequence[str], *, public: bool) -> None:
        self.public_subnet_ids, self.private_subnet_ids = {}, {}
        self.isolated_subnet_ids, self.control_subnet_ids = {}, {}
        # No kubernetes.io/role/elb tag on the public subnets: a Service cannot put a load balancer there by accident.
        kubernetes = {
            "kubernetes.io/role/internal-elb": "1",
            **{f"kubernetes.io/cluster/{cluster_name}": "shared" for cluster_name in cluster_names},
        }
        for zone in zones:
            for kind, cidr, ids, tags in (
                ("public", zone["public_cidr"], self.public_subnet_ids, {}),
                ("private", zone["private_cidr"], self.private_subnet_ids, kubernetes),
                ("isolated", zone["isolated_cidr"], self.isolated_subnet_ids, {}),
                ("control", zone["control_cidr"], self.control_subnet_ids, {}),
            ):
                if kind == "public" and not public:
                    continue
                subnet_name = f"{self._name}-{kind}-{zone['name']}"
                subnet = ec2.Subnet(
                    subnet_name,
                    vpc_id=self._vpc.id,
                    availability_zone=zone["name"],
                    cidr_block=cidr,
                    map_public_ip_on_launch=False,
                    tags={"Name": subnet_name, **tags},
                    opts=self._child,
                )
                ids[zone["name"]] = subnet.id

    def _make_routes(self, zones: Sequence[ZoneArgs], nat_gateways: int) -> list[ec2.RouteTable]:
        """One table a kind of subnet, and for the private ones one a zone."""
        public, nats = self._make_public_routes(zones, nat_gateways) if nat_gateways else ([], [])
        tables = [
            *public,
            self._route_table("isolated", self.isolated_subnet_ids),
            self._route_table("control", self.control_subnet_ids),
        ]
        for index, zone in enumerate(zones):
            table = self._route_table(f"private-{zone['name']}", {zone["name"]: self.private_subnet_ids[zone["name"]]})
            tables.append(table)
            if not nats:
                continue
            out = ec2.Route(
                f"{self._name}-private-{zone['name']}-out",
                route_table_id=table.id,
                destination_cidr_block=ANYWHERE,
                nat_gateway_id=nats[index % len(nats)].id,  # its own zone's, or the only one
                opts=self._child,
            )
            self.ways_out.append(out)
        return tables

    def _make_public_routes(
        self, zones: Sequence[ZoneArgs], nat_gateways: int
    ) -> tuple[list[ec2.RouteTable], list[ec2.NatGateway]]:
        """The public subnets' way to the internet, and the NAT gateways behind it."""
        gateway = ec2.InternetGateway(
            f"{self._name}-internet", vpc_id=self._vpc.id, tags={"Name": self._name}, opts=self._child
        )
        public = self._route_table("public", self.public_subnet_ids)
        way_out = ec2.Route(
            f"{self._name}-public-out",
            route_table_id=public.id,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway.id,
            opts=self._child,
        )
        return [public], [self._nat_gateway(zone["name"], way_out) for zone in zones[:nat_gateways]]

    def _route_table(self, kind: str, subnet_ids: dict[str, pulumi.Output[str]]) -> ec2.RouteTable:
        table_name = f"{self._name}-{kind}"
        table = ec2.RouteTable(table_name, vpc_id=self._vpc.id, tags={"Name": table_name}, opts=self._child)
        for zone_name, subnet_id in subnet_ids.items():
            suffix = "" if kind.endswith(zone_name) else f"-{zone_name}"
            association = ec2.RouteTableAssociation(
                f"{table_name}{suffix}", route_table_id=table.id, subnet_id=subnet_id, opts=self._child
            )
            self.ways_out.append(association)
        return table

    def _nat_gateway(self, zone_name: str, way_out: ec2.Route) -> ec2.NatGateway:
        # AWS wants the internet gateway there before an address is used and after it is released.
        after = pulumi.ResourceOptions(parent=self, depends_on=[way_out])
        nat_name = f"{self._name}-nat-{zone_name}"
        address = ec2.Eip(nat_name, domain="vpc", tags={"Name": nat_name}, opts=after)
        return ec2.NatGateway(
            nat_name,
            allocation_id=address.id,  # of an address in a VPC, the id is the allocation
            subnet_id=self.public_subnet_ids[zone_name],
            connectivity_type="public",
            tags={"Name": nat_name},
            opts=after,
        )
