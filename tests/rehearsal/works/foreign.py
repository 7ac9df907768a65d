"""Correct networks of other people's programs, by hand: what the rooms of networks must stay silent about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.model import RecordedResource

ZONES = ("us-east-1a", "us-east-1b")
CLUSTER_GROUP = "sg-0cluster000000000"
VPC = "vpc-0000000000000000a"


def vpc(**inputs: Any) -> RecordedResource:
    """A VPC with names, 10.4.0.0/16."""
    given = {"cidrBlock": "10.4.0.0/16", "enableDnsHostnames": True, "enableDnsSupport": True, **inputs}
    outputs = {"mainRouteTableId": "rtb-main", "defaultSecurityGroupId": "sg-default"}
    return resource("aws:ec2/vpc:Vpc", "vpc", given, VPC, **outputs)


def subnet(name: str, block: str, zone: str, **inputs: Any) -> RecordedResource:
    """A subnet of the VPC."""
    given = {"vpcId": VPC, "cidrBlock": block, "availabilityZone": zone, **inputs}
    return resource("aws:ec2/subnet:Subnet", name, given, f"subnet-{name}")


def table(name: str, *routes: Mapping[str, Any]) -> RecordedResource:
    """A route table with its routes written into it."""
    return resource("aws:ec2/routeTable:RouteTable", name, {"vpcId": VPC, "routes": list(routes)}, f"rtb-{name}")


def associated(subnet_name: str, table_name: str) -> RecordedResource:
    """An association of the two."""
    given = {"subnetId": f"subnet-{subnet_name}", "routeTableId": f"rtb-{table_name}"}
    return resource("aws:ec2/routeTableAssociation:RouteTableAssociation", f"{subnet_name}-{table_name}", given)


def internet_gateway() -> RecordedResource:
    """One that is attached."""
    return resource("aws:ec2/internetGateway:InternetGateway", "igw", {"vpcId": VPC}, "igw-1")


def nat(subnet_name: str) -> list[RecordedResource]:
    """A NAT gateway with its address."""
    return [
        resource("aws:ec2/eip:Eip", "nat", {"domain": "vpc"}, "eipalloc-1", publicIp="203.0.113.7"),
        resource(
            "aws:ec2/natGateway:NatGateway",
            "nat",
            {"subnetId": f"subnet-{subnet_name}", "allocationId": "eipalloc-1"},
            "nat-1",
        ),
    ]


def endpoint(service: str, **inputs: Any) -> RecordedResource:
    """A VPC endpoint of a service; a gateway unless it says otherwise."""
    given = {"vpcId": VPC, "serviceName": f"com.amazonaws.us-east-1.{service}", **inputs}
    return resource("aws:ec2/vpcEndpoint:VpcEndpoint", f"endpoint-{service}", given, f"vpce-{service}")


def group(name: str, **inputs: Any) -> RecordedResource:
    """A security group of the VPC."""
    return resource("aws:ec2/securityGroup:SecurityGroup", name, {"vpcId": VPC, **inputs}, f"sg-{name}")


Rule = tuple[str, str, int, int]
"""Action, block, first and last port."""


def acl(name: str, subnets: Iterable[str], *, ingress: Sequence[Rule], egress: Sequence[Rule]) -> RecordedResource:
    """A network ACL of some subnets."""
    keys = ("action", "cidrBlock", "fromPort", "toPort")
    numbered = {
        side: [
            {
                "ruleNo": 100 + index,
                "protocol": "-1" if rule[2:] == (0, 65535) else "tcp",
                **dict(zip(keys, rule, strict=True)),
            }
            for index, rule in enumerate(rules)
        ]
        for side, rules in (("ingress", ingress), ("egress", egress))
    }
    given = {"vpcId": VPC, "subnetIds": [f"subnet-{subnet}" for subnet in subnets], **numbered}
    return resource("aws:ec2/networkAcl:NetworkAcl", name, given, f"acl-{name}")


def cluster(*subnets: str, **network: Any) -> RecordedResource:
    """A cluster of EKS."""
    given = {"subnetIds": [f"subnet-{name}" for name in subnets], "endpointPrivateAccess": True, **network}
    return resource(
        "aws:eks/cluster:Cluster",
        "cluster",
        {"name": "cluster", "vpcConfig": given},
        "cluster",
        vpcConfig={"clusterSecurityGroupId": CLUSTER_GROUP},
        endpoint="https://ABC.gr7.us-east-1.eks.amazonaws.com",
    )


def nodes(name: str, *subnets: str, **inputs: Any) -> RecordedResource:
    """A node group of the cluster."""
    given = {"clusterName": "cluster", "subnetIds": [f"subnet-{one}" for one in subnets], **inputs}
    return resource("aws:eks/nodeGroup:NodeGroup", name, given, f"cluster:{name}")


def deployment(name: str, namespace: str, image: str, **spec: Any) -> RecordedResource:
    """A deployment of one container."""
    pod = {"containers": [{"name": name, "image": image}], **spec}
    return resource(
        "kubernetes:apps/v1:Deployment",
        f"{namespace}-{name}",
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
            },
        },
    )


def public() -> list[RecordedResource]:
    """Nodes with public addresses, no NAT gateway: small, and correct."""
    return [
        vpc(),
        internet_gateway(),
        table("public", {"cidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}),
        *(
            part
            for index, zone in enumerate(ZONES)
            for part in (
                subnet(zone, f"10.4.{index}.0/24", zone, mapPublicIpOnLaunch=True),
                associated(zone, "public"),
            )
        ),
        cluster(*ZONES, endpointPrivateAccess=False),
        nodes("workers", *ZONES),
        deployment("web", "default", "nginx:1.29"),
    ]


def private(*default: Mapping[str, Any]) -> list[RecordedResource]:
    """Nodes in private subnets behind whatever route."""
    return [
        vpc(),
        internet_gateway(),
        subnet("public", "10.4.100.0/24", ZONES[0]),
        *nat("public"),
        table("public", {"cidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}),
        associated("public", "public"),
        table("private", *default),
        *(
            part
            for index, zone in enumerate(ZONES)
            for part in (subnet(zone, f"10.4.{index}.0/24", zone), associated(zone, "private"))
        ),
        cluster(*ZONES, endpointPublicAccess=False),
        nodes("workers", *ZONES),
        deployment("web", "default", "nginx:1.29"),
    ]


def behind_nat() -> list[RecordedResource]:
    """Nodes behind a NAT gateway."""
    return private({"cidrBlock": "0.0.0.0/0", "natGatewayId": "nat-1"})


def behind_hub() -> list[RecordedResource]:
    """Nodes behind a transit gateway of somebody else's, which has the way out and the endpoints."""
    return private({"cidrBlock": "0.0.0.0/0", "transitGatewayId": "tgw-1"})


def without_internet() -> list[RecordedResource]:
    """Nodes with endpoints alone, and images of the account."""
    services = ("ec2", "ecr.api", "ecr.dkr", "sts", "eks-auth")
    inside = {
        "vpcEndpointType": "Interface",
        "privateDnsEnabled": True,
        "subnetIds": [f"subnet-{zone}" for zone in ZONES],
        "securityGroupIds": ["sg-endpoints"],
    }
    rule = {"protocol": "tcp", "fromPort": 443, "toPort": 443, "cidrBlocks": ["10.4.0.0/16"]}
    return [
        vpc(),
        group("endpoints", ingress=[rule]),
        *(endpoint(service, **inside) for service in services),
        endpoint("s3"),
        resource(
            "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
            "s3",
            {"vpcEndpointId": "vpce-s3", "routeTableId": "rtb-main"},
        ),
        *(subnet(zone, f"10.4.{index}.0/24", zone) for index, zone in enumerate(ZONES)),
        cluster(*ZONES, endpointPublicAccess=False),
        nodes("workers", *ZONES),
        deployment("web", "default", "123456789012.dkr.ecr.us-east-1.amazonaws.com/docker-hub/library/nginx:1.29"),
    ]


def in_a_network_of_others() -> list[RecordedResource]:
    """A cluster in subnets that are known by id alone."""
    return [
        cluster("theirs-a", "theirs-b", endpointPublicAccess=False),
        nodes("workers", "theirs-a", "theirs-b"),
        deployment("web", "default", "nginx:1.29"),
    ]


def with_group_of_nodes() -> list[RecordedResource]:
    """Nodes with a group of their own, and rules between it and that of the control plane."""
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "workers",
        {"vpcSecurityGroupIds": ["sg-node"], "name": "workers"},
        "lt-1",
    )
    plane = {"protocol": "tcp", "securityGroups": ["sg-plane"]}
    own = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]
    out = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}]
    ports = (443, 4443, 8443, 9443, 10250, 10251)
    node_rules = [*own, *({**plane, "fromPort": port, "toPort": port} for port in ports)]
    from_nodes = [{"protocol": "tcp", "fromPort": 443, "toPort": 443, "securityGroups": ["sg-node"]}]
    return [
        found for found in behind_nat() if found.type not in ("aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster")
    ] + [
        cluster(*ZONES, endpointPublicAccess=False, securityGroupIds=["sg-plane"]),
        group("node", ingress=node_rules, egress=out),
        group("plane", ingress=from_nodes, egress=out),
        template,
        nodes("workers", *ZONES, launchTemplate={"id": "lt-1", "version": "1"}),
    ]


STACKS = {
    "public": public,
    "behind NAT": behind_nat,
    "behind a hub": behind_hub,
    "without internet": without_internet,
    "in a network of others": in_a_network_of_others,
    "with a group of nodes": with_group_of_nodes,
}
"""By name."""
