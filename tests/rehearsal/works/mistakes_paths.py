"""Mistakes in the ways of a network, as they are made: each on a copy of the demo stack, one at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.policies.mutants import Change, Resources, drop, edit, put
from tests.rehearsal.works.mistakes import Mistake
from trainyard.recorded.model import RecordedResource

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROUTE = "aws:ec2/route:Route"
TABLE = "aws:ec2/routeTable:RouteTable"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
NAT = "aws:ec2/natGateway:NatGateway"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
CLUSTER = "aws:eks/cluster:Cluster"
NODES = "aws:eks/nodeGroup:NodeGroup"
DATABASE = "aws:rds/instance:Instance"
NAMES = "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList"
RULE = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"


def id_of(resources: Resources, type_: str, name: str) -> str:
    """The id of a recorded resource."""
    return next(str(found.id) for found in resources if (found.type, found.name) == (type_, name))


def pointing(type_: str, name: str, *path: str | int, at: tuple[str, str], listed: bool = False) -> Change:
    """Lets an input point at another resource."""

    def change(resources: Resources) -> list[RecordedResource]:
        target = id_of(resources, *at)
        return edit(type_, name, put(*path, value=[target] if listed else target))(resources)

    return change


def all_of(*changes: Change) -> Change:
    """Several changes that make one mistake."""

    def change(resources: Resources) -> list[RecordedResource]:
        for one in changes:
            resources = one(resources)
        return list(resources)

    return change


def every(type_: str, into: Callable[[dict[str, Any]], Any], *, of: str = "") -> Change:
    """Changes every resource of a type whose name holds a text."""

    def change(resources: Resources) -> list[RecordedResource]:
        found = []
        for resource in resources:
            if resource.type == type_ and of in resource.name:
                inputs = copy.deepcopy(dict(resource.inputs))
                into(inputs)
                resource = replace(resource, inputs=inputs)
            found.append(resource)
        return found

    return change


def without(type_: str, *names: str) -> Change:
    """Takes resources out."""
    return all_of(*(drop(type_, name) for name in names))


def added(type_: str, name: str, inputs: Mapping[str, Any], like: tuple[str, str]) -> Change:
    """Adds a resource beside another one of the same component."""

    def change(resources: Resources) -> list[RecordedResource]:
        near = next(found for found in resources if (found.type, found.name) == like)
        urn = f"{near.urn.rpartition('::')[0].replace(near.type, type_)}::{name}"
        new = replace(
            near, urn=urn, type=type_, name=name, inputs=inputs, outputs={}, id=f"{name}-id", property_dependencies={}
        )
        return [*resources, new]

    return change


def pop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    """Takes an input away."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for part in path[:-1]:
            target = target[part]
        del target[path[-1]]

    return into


ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
NO_ENDPOINT_OF_IMAGES = without(
    ENDPOINT, "network-ecr-api-interface", "network-ecr-dkr-interface", "network-ec2-interface"
)

MISTAKES = [
    Mistake(
        "registry-of-a-chart-not-listed",
        "the DNS firewall lists every registry but that of Kueue's chart",
        edit(NAMES, "dns-allowed", lambda inputs: inputs["domains"].remove("registry.k8s.io")),
        "paths-name-blocked",
    ),
    Mistake(
        "nat-in-private-subnet",
        "the NAT gateway stands in a private subnet and so leads to itself",
        pointing(NAT, "network-nat-us-east-1a", "subnetId", at=(SUBNET, "network-private-us-east-1a")),
        "paths-nat-no-way-out",
    ),
    Mistake(
        "nat-in-isolated-subnet",
        "the NAT gateway stands beside the database",
        pointing(NAT, "network-nat-us-east-1a", "subnetId", at=(SUBNET, "network-isolated-us-east-1a")),
        "paths-nat-no-way-out",
    ),
    Mistake(
        "public-without-route",
        "the public table lost its route to the internet gateway",
        drop(ROUTE, "network-public-out"),
        "paths-nat-no-way-out",
    ),
    Mistake(
        "public-subnet-without-table",
        "the subnet of the NAT gateway falls on the main table",
        drop(ASSOCIATION, "network-public-us-east-1a"),
        "paths-nat-no-way-out",
    ),
    Mistake(
        "gateway-not-attached",
        "the internet gateway names no VPC",
        edit(GATEWAY, "network-internet", pop("vpcId")),
        "paths-gateway-detached",
    ),
    Mistake(
        "private-routed-to-internet-gateway",
        "a private table leads straight to the internet gateway, where nodes have no public address",
        all_of(
            edit(ROUTE, "network-private-us-east-1b-out", pop("natGatewayId")),
            pointing(ROUTE, "network-private-us-east-1b-out", "gatewayId", at=(GATEWAY, "network-internet")),
            NO_ENDPOINT_OF_IMAGES,
        ),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "private-without-default-route",
        "one zone has no route to the NAT gateway, and images are not served inside",
        all_of(drop(ROUTE, "network-private-us-east-1b-out"), NO_ENDPOINT_OF_IMAGES),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "route-typo",
        "the default route of a zone is 0.0.0.0/8",
        all_of(
            edit(ROUTE, "network-private-us-east-1c-out", put("destinationCidrBlock", value="0.0.0.0/8")),
            without(ENDPOINT, "network-eks-auth-interface"),
        ),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "private-subnet-without-table",
        "a node subnet has no association and falls on the main table",
        all_of(drop(ASSOCIATION, "network-private-us-east-1b"), without(ENDPOINT, "network-autoscaling-interface")),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "nodes-in-isolated-subnet",
        "a node group is put where no route leads out, and images of EKS are not served there",
        all_of(
            pointing(NODES, "cluster-cpu", "subnetIds", at=(SUBNET, "network-isolated-us-east-1a"), listed=True),
            without(ENDPOINT, "network-ecr-dkr-interface"),
        ),
        "paths-nodes-cut-off",
    ),
    Mistake(
        "endpoint-without-names",
        "an endpoint leaves the service's own name alone",
        edit(ENDPOINT, "network-ecr-api-interface", put("privateDnsEnabled", value=False)),
        "paths-endpoint-unnamed",
    ),
    Mistake(
        "endpoint-names-forgotten",
        "an endpoint says nothing of names, which the provider reads as no",
        edit(ENDPOINT, "network-sts-interface", pop("privateDnsEnabled")),
        "paths-endpoint-unnamed",
    ),
    Mistake(
        "endpoint-of-wrong-port",
        "the group of the endpoints admits 80 rather than 443",
        edit(INGRESS, "network-endpoints-https", lambda rule: rule.update(fromPort=80, toPort=80)),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-of-wrong-network",
        "the group of the endpoints admits another office's network",
        edit(INGRESS, "network-endpoints-https", put("cidrIpv4", value="10.1.0.0/16")),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-without-rule",
        "nobody wrote the ingress rule of the endpoints' group",
        drop(INGRESS, "network-endpoints-https"),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-with-group-of-database",
        "an endpoint has the group of the database",
        pointing(
            ENDPOINT,
            "network-kms-interface",
            "securityGroupIds",
            at=("aws:ec2/securityGroup:SecurityGroup", "acme-demo-mlflow-access"),
            listed=True,
        ),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-without-group",
        "an endpoint has no group, so that it gets the VPC's own, which is empty",
        edit(ENDPOINT, "network-logs-interface", pop("securityGroupIds")),
        "paths-endpoint-closed",
    ),
    Mistake(
        "endpoint-without-subnets",
        "an endpoint stands in no subnet",
        edit(ENDPOINT, "network-eks-auth-interface", pop("subnetIds")),
        "paths-endpoint-nowhere",
    ),
    Mistake(
        "s3-endpoint-without-nodes-tables",
        "the S3 endpoint serves the public table alone",
        pointing(ENDPOINT, "network-s3", "routeTableIds", at=(TABLE, "network-public"), listed=True),
        "paths-endpoint-without-routes",
    ),
    Mistake(
        "no-names-in-vpc",
        "the VPC gives no host names",
        edit(VPC, "network-vpc", put("enableDnsHostnames", value=False)),
        "paths-dns-of-vpc",
    ),
    Mistake(
        "names-of-vpc-forgotten",
        "nobody asked for host names, and the VPC's default is none",
        edit(VPC, "network-vpc", pop("enableDnsHostnames")),
        "paths-dns-of-vpc",
    ),
    Mistake(
        "no-resolver",
        "the VPC has no resolver",
        edit(VPC, "network-vpc", put("enableDnsSupport", value=False)),
        "paths-dns-of-vpc",
    ),
    Mistake(
        "fabric-one-way-in",
        "the fabric's group has no egress to itself",
        drop(EGRESS, "gpu-nodes-efa-out"),
        "paths-fabric-closed",
    ),
    Mistake(
        "fabric-one-way-out",
        "the fabric's group has no ingress from itself",
        drop(INGRESS, "gpu-nodes-efa-in"),
        "paths-fabric-closed",
    ),
    Mistake(
        "fabric-by-address",
        "the fabric's egress names addresses, which adapters are not matched by",
        edit(
            EGRESS,
            "gpu-nodes-efa-out",
            lambda rule: (rule.pop("referencedSecurityGroupId"), rule.update(cidrIpv4="0.0.0.0/0")),
        ),
        "paths-fabric-closed",
    ),
    Mistake(
        "fabric-tcp-alone",
        "the fabric's ingress is of TCP",
        edit(INGRESS, "gpu-nodes-efa-in", lambda rule: rule.update(ipProtocol="tcp", fromPort=0, toPort=65535)),
        "paths-fabric-closed",
    ),
    Mistake(
        "public-api-alone",
        "the API has a public endpoint alone, for the office; nodes come from the NAT gateway",
        edit(
            CLUSTER,
            "cluster-cluster",
            lambda inputs: inputs["vpcConfig"].update(
                endpointPrivateAccess=False, endpointPublicAccess=True, publicAccessCidrs=["198.51.100.0/24"]
            ),
        ),
        "paths-api-not-admitted",
    ),
    Mistake(
        "public-api-and-no-way-out",
        "the API has a public endpoint alone, and one zone has no route out",
        all_of(
            edit(
                CLUSTER,
                "cluster-cluster",
                lambda inputs: inputs["vpcConfig"].update(endpointPrivateAccess=False, endpointPublicAccess=True),
            ),
            drop(ROUTE, "network-private-us-east-1b-out"),
        ),
        "paths-api-cut-off",
    ),
    Mistake(
        "zone-without-way-out",
        "one zone lost its route to the NAT gateway; what AWS serves is inside, and images are not",
        drop(ROUTE, "network-private-us-east-1b-out"),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "zone-on-main-table",
        "one node subnet has no route table",
        drop(ASSOCIATION, "network-private-us-east-1c"),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "no-zone-with-way-out",
        "nobody wrote default routes, as every service of AWS has its endpoint",
        without(ROUTE, *(f"network-private-{zone}-out" for zone in ZONES)),
        "paths-image-out-of-reach",
    ),
    Mistake(
        "docker-hub-not-allowed",
        "the list of names has docker.io, and images come from registry-1.docker.io",
        edit(NAMES, "dns-allowed", lambda inputs: inputs["domains"].remove("*.docker.io")),
        "paths-name-blocked",
    ),
    Mistake(
        "aws-not-allowed",
        "the list of names has one service of AWS rather than all",
        edit(
            NAMES,
            "dns-allowed",
            lambda inputs: inputs.update(
                domains=[
                    "s3.us-east-1.amazonaws.com" if name == "*.amazonaws.com" else name for name in inputs["domains"]
                ]
            ),
        ),
        "paths-name-blocked",
    ),
    Mistake(
        "names-in-wrong-order",
        "the rule that blocks the rest is asked before the one that allows",
        edit(RULE, "dns-others", put("priority", value=50)),
        "paths-name-blocked",
    ),
    Mistake(
        "services-on-the-network",
        "services have addresses of the VPC",
        edit(CLUSTER, "cluster-cluster", put("kubernetesNetworkConfig", "serviceIpv4Cidr", value="10.0.128.0/20")),
        "paths-services-on-network",
    ),
    Mistake(
        "nat-without-address",
        "nobody gave the NAT gateway an address",
        edit(NAT, "network-nat-us-east-1a", pop("allocationId")),
        "paths-nat-without-address",
    ),
    Mistake(
        "endpoint-twice",
        "the endpoint of ecr.api was copied for ecr.dkr, and the service's name forgotten",
        edit(ENDPOINT, "network-ecr-dkr-interface", put("serviceName", value="com.amazonaws.us-east-1.ecr.api")),
        "paths-endpoint-twice",
    ),
    Mistake(
        "subnet-too-small",
        "the subnet of the training nodes is a /28",
        edit(SUBNET, "network-private-us-east-1b", put("cidrBlock", value="10.0.32.0/28")),
        "paths-subnet-too-small",
    ),
    Mistake(
        "more-nodes-than-addresses",
        "a group may have 2,000 nodes in one /19",
        edit(NODES, "gpu-nodes-train-spot", put("scalingConfig", "maxSize", value=2000)),
        "paths-subnet-too-small",
    ),
    Mistake(
        "load-balancer-without-subnets",
        "a service asks for a load balancer on the internet, and no subnet is marked for one",
        edit(
            "kubernetes:core/v1:Service",
            "mlflow-service",
            lambda inputs: (
                inputs["spec"].update(type="LoadBalancer"),
                inputs["metadata"]["annotations"].update(
                    {"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"}
                ),
            ),
        ),
        "paths-load-balancer-subnets",
    ),
    Mistake(
        "gateway-that-nobody-knows",
        "the default route names a NAT gateway of another stack, which is gone",
        edit(ROUTE, "network-private-us-east-1a-out", put("natGatewayId", value="nat-0123456789abcdef0")),
        None,
        "what another stack has is in no recording",
    ),
]
