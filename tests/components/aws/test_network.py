"""Network: routes, endpoints and what is closed."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import KEY_ARN, REGION, inputs_of
from tests.components.aws.recordings import (
    ROLE,
    create_roles,
    document,
    names,
    statements,
    waits_for,
)
from tests.pulumi_harness import ACCOUNT, Recorded, Recording, record
from trainyard.components.aws.network import Network

SUBNET = "aws:ec2/subnet:Subnet"
ROUTE = "aws:ec2/route:Route"
TABLE = "aws:ec2/routeTable:RouteTable"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
NAT = "aws:ec2/natGateway:NatGateway"


def zone(letter: str, index: int) -> dict[str, str]:
    return {
        "name": f"us-east-1{letter}",
        "public_cidr": f"10.0.{index}.0/24",
        "private_cidr": f"10.0.{64 * (index + 1)}.0/18",
        "isolated_cidr": f"10.0.{16 + index}.0/24",
        "control_cidr": f"10.0.{32 + index}.0/24",
    }


ZONES = [zone("a", 0), zone("b", 1), zone("c", 2)]


def recorded(preview: bool = False, **changes: Any) -> Recording:
    args: Any = {
        "cidr": "10.0.0.0/16",
        "zones": ZONES,
        "nat_gateways": 1,
        "gateway_endpoints": ["s3"],
        "interface_endpoints": ["ecr.api", "ecr.dkr", "sts"],
        "region": REGION,
        "account_id": ACCOUNT,
        "flow_log_retention_days": 365,
        "key_arn": KEY_ARN,
        "cluster_names": ["acme-production"],
        **changes,
    }
    return record(lambda: Network("net", args), preview=preview)


def identities(recording: Recording, type_: str) -> dict[str, str]:
    """Name to id of the resources of a type, as those that refer to them saw it."""
    found: dict[str, str] = {}
    references = {
        SUBNET: (ASSOCIATION, "subnetId"),
        TABLE: (ASSOCIATION, "routeTableId"),
    }
    other, field = references[type_]
    for resource in recording.of_type(type_):
        for reference in recording.of_type(other):
            if resource.urn in reference.dependencies:
                found[resource.name] = reference.inputs[field]
    return found


def routes_of(recording: Recording, table: str) -> list[Recorded]:
    table_id = identities(recording, TABLE)[table]
    return [route for route in recording.of_type(ROUTE) if route.inputs["routeTableId"] == table_id]


def test_names_resolve_inside_the_vpc() -> None:
    vpc = inputs_of(recorded().one("aws:ec2/vpc:Vpc"))
    assert (vpc["cidrBlock"], vpc["enableDnsSupport"], vpc["enableDnsHostnames"]) == ("10.0.0.0/16", True, True)


def test_four_kinds_of_subnet_in_each_zone_none_of_which_gives_public_addresses() -> None:
    subnets = {subnet.name: inputs_of(subnet) for subnet in recorded().of_type(SUBNET)}
    assert set(subnets) == {
        f"net-{kind}-{z['name']}" for kind in ("public", "private", "isolated", "control") for z in ZONES
    }
    for name, subnet in subnets.items():
        assert subnet["mapPublicIpOnLaunch"] is False
        kubernetes = {key: value for key, value in subnet["tags"].items() if key.startswith("kubernetes.io/")}
        assert kubernetes == (
            {"kubernetes.io/role/internal-elb": "1", "kubernetes.io/cluster/acme-production": "shared"}
            if "private" in name
            else {}
        )
    assert subnets["net-private-us-east-1b"]["cidrBlock"] == ZONES[1]["private_cidr"]
    assert subnets["net-private-us-east-1b"]["availabilityZone"] == "us-east-1b"


def test_each_subnet_has_the_route_table_of_its_kind() -> None:
    recording = recorded()
    subnets, tables = identities(recording, SUBNET), identities(recording, TABLE)
    table_of = {a.inputs["subnetId"]: a.inputs["routeTableId"] for a in recording.of_type(ASSOCIATION)}
    for z in ZONES:
        assert table_of[subnets[f"net-public-{z['name']}"]] == tables["net-public"]
        for kind in ("isolated", "control"):
            assert table_of[subnets[f"net-{kind}-{z['name']}"]] == tables[f"net-{kind}"]
        assert table_of[subnets[f"net-private-{z['name']}"]] == tables[f"net-private-{z['name']}"]


def test_subnets_of_databases_and_of_the_control_plane_have_no_way_out_and_only_public_ones_the_internet_gateway() -> (
    None
):
    recording = recorded()
    assert routes_of(recording, "net-isolated") == routes_of(recording, "net-control") == []
    (public,) = routes_of(recording, "net-public")
    assert public.inputs["gatewayId"]
    for z in ZONES:
        (private,) = routes_of(recording, f"net-private-{z['name']}")
        assert private.inputs["destinationCidrBlock"] == "0.0.0.0/0"
        assert private.inputs["natGatewayId"]
        assert "gatewayId" not in private.inputs


def test_one_nat_gateway_serves_all_zones_or_each_its_own() -> None:
    one, each = recorded(nat_gateways=1), recorded(nat_gateways=3)
    assert names(one.of_type(NAT)) == {"net-nat-us-east-1a"}
    assert names(each.of_type(NAT)) == {f"net-nat-{z['name']}" for z in ZONES}
    for recording, expected in ((one, 1), (each, 3)):
        used = {r.inputs["natGatewayId"] for r in recording.of_type(ROUTE) if "natGatewayId" in r.inputs}
        assert len(used) == expected
    for z in ZONES:
        (route,) = routes_of(each, f"net-private-{z['name']}")
        assert f"NatGateway net-nat-{z['name']}" in waits_for(each, route)


def test_nat_gateways_use_addresses_of_public_subnets_behind_the_internet_gateway() -> None:
    recording = recorded(nat_gateways=3)
    subnets = identities(recording, SUBNET)
    for nat in recording.of_type(NAT):
        assert nat.inputs["subnetId"] == subnets[nat.name.replace("nat", "public", 1)]
        assert {f"Eip {nat.name}", "Route net-public-out", "InternetGateway net-internet"} <= waits_for(recording, nat)
    for address in recording.of_type("aws:ec2/eip:Eip"):
        assert "InternetGateway net-internet" in waits_for(recording, address)


def test_s3_is_reached_from_every_subnet_without_nat() -> None:
    recording = recorded()
    endpoint = recording.one(ENDPOINT, "net-s3")
    assert endpoint.inputs["vpcEndpointType"] == "Gateway"
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert set(endpoint.inputs["routeTableIds"]) == set(identities(recording, TABLE).values())
    assert len(endpoint.inputs["routeTableIds"]) == 6


def test_interface_endpoints_answer_https_from_the_vpc_in_every_zone() -> None:
    recording = recorded()
    subnets = identities(recording, SUBNET)
    endpoints = [e for e in recording.of_type(ENDPOINT) if e.inputs["vpcEndpointType"] == "Interface"]
    assert {e.inputs["serviceName"] for e in endpoints} == {
        f"com.amazonaws.us-east-1.{service}" for service in ("ecr.api", "ecr.dkr", "sts")
    }
    group = recording.one("aws:ec2/securityGroup:SecurityGroup")
    for endpoint in endpoints:
        assert endpoint.inputs["privateDnsEnabled"] is True
        assert set(endpoint.inputs["subnetIds"]) == {subnets[f"net-isolated-{z['name']}"] for z in ZONES}
        assert group.urn in endpoint.dependencies
    rule = inputs_of(recording.one("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"))
    assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"], rule["cidrIpv4"]) == (
        "tcp",
        443,
        443,
        "10.0.0.0/16",
    )
    assert not {"ingress", "egress"} & set(group.inputs)


def test_the_default_security_group_is_emptied() -> None:
    group = recorded().one("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
    assert group.inputs["vpcId"].startswith("vpc-")
    assert not {"ingress", "egress"} & set(group.inputs)


def test_flow_logs_are_complete_kept_and_encrypted() -> None:
    recording = recorded()
    flow_log = inputs_of(recording.one("aws:ec2/flowLog:FlowLog"))
    assert flow_log["trafficType"] == "ALL"
    assert flow_log["maxAggregationInterval"] in (60, 600)
    group = inputs_of(recording.one("aws:cloudwatch/logGroup:LogGroup"))
    assert (group["retentionInDays"], group["kmsKeyId"]) == (365, KEY_ARN)
    trust = document(recording.one(ROLE), "assumeRolePolicy")["Statement"]
    assert [s["Principal"] for s in trust] == [{"Service": "vpc-flow-logs.amazonaws.com"}]
    (statement,) = statements(recording)
    assert flow_log["logDestination"] in statement["Resource"]
    assert "*" not in statement["Resource"]
    assert create_roles(recording) == {"net-flow-logs": {"net-flow-logs"}}


def test_a_further_zone_changes_no_other_name() -> None:
    two = recorded(zones=ZONES[:2], nat_gateways=2)
    three = recorded(zones=[ZONES[2], *ZONES[:2]], nat_gateways=3)
    assert {(r.type, r.name) for r in two.resources} < {(r.type, r.name) for r in three.resources}


@pytest.mark.parametrize("nat_gateways", [-1, 2, 4])
def test_nat_gateways_are_none_one_or_one_a_zone(nat_gateways: int) -> None:
    with pytest.raises(ValueError, match=rf"nat_gateways: got {nat_gateways}; none, 1, or one a zone \(3\)"):
        recorded(nat_gateways=nat_gateways)


def test_without_nat_gateways_nothing_leads_out_of_the_private_subnets() -> None:
    recording = recorded(nat_gateways=0)
    types = {resource.type for resource in recording.resources}
    assert "aws:ec2/natGateway:NatGateway" not in types and "aws:ec2/eip:Eip" not in types


def test_one_zone_is_too_few() -> None:
    with pytest.raises(ValueError, match="at least two"):
        recorded(zones=ZONES[:1])


def test_first_preview_registers_the_same_resources_and_no_urn_twice() -> None:
    known, unknown = recorded(), recorded(preview=True)
    assert {(r.type, r.name) for r in known.resources} == {(r.type, r.name) for r in unknown.resources}
    assert len({(r.type, r.name) for r in known.resources}) == len(known.resources)


def test_ec2_takes_the_subnets_and_the_endpoints() -> None:
    recording = recorded()
    with mock_aws():
        client = boto3.client("ec2", region_name=REGION)
        vpc_id = client.create_vpc(CidrBlock=inputs_of(recording.one("aws:ec2/vpc:Vpc"))["cidrBlock"])["Vpc"]["VpcId"]
        for subnet in recording.of_type(SUBNET):
            client.create_subnet(
                VpcId=vpc_id, CidrBlock=subnet.inputs["cidrBlock"], AvailabilityZone=subnet.inputs["availabilityZone"]
            )
        found = client.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])["Subnets"]
        assert len(found) == 12
        for endpoint in recording.of_type(ENDPOINT):
            client.create_vpc_endpoint(
                VpcId=vpc_id,
                ServiceName=endpoint.inputs["serviceName"],
                VpcEndpointType=endpoint.inputs["vpcEndpointType"],
            )
        endpoints = client.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])["VpcEndpoints"]
        known = set(client.describe_vpc_endpoint_services()["ServiceNames"])
    assert len(endpoints) == 4
    assert {endpoint["ServiceName"] for endpoint in endpoints} <= known


def test_the_role_of_flow_logs_is_taken_for_flow_logs_of_the_account_alone() -> None:
    [statement] = document(recorded().one("aws:iam/role:Role"), "assumeRolePolicy")["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": ACCOUNT},
        "ArnLike": {"aws:SourceArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:vpc-flow-log/*"},
    }
