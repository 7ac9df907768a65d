"""A network that is there, asked of an account that has it: what is as the settings say, and what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest

from tests.account.answers import REGION, aws
from tests.existing_network import settings
from tests.shared import as_configuration
from trainyard.plan.resolve import resolve
from trainyard.preflight.aws import existing_network, network
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources

FAILS = Answer.FAILS
PLAN = resolve(as_configuration(settings()), "joined").plan


class Made:
    """The network of the settings in moto, and the stack with the ids that it got."""

    def __init__(self) -> None:
        own = PLAN.ground.network
        self.ec2: Any = boto3.client("ec2", REGION)
        self.vpc = self.ec2.create_vpc(CidrBlock=own.cidr)["Vpc"]["VpcId"]
        self.ec2.modify_vpc_attribute(VpcId=self.vpc, EnableDnsHostnames={"Value": True})
        for block in own.secondary_cidrs:
            self.ec2.associate_vpc_cidr_block(VpcId=self.vpc, CidrBlock=block)
        self.table = self.ec2.create_route_table(VpcId=self.vpc)["RouteTable"]["RouteTableId"]
        subnets = []
        for zone, ids in zip(own.zones, own.existing.subnets, strict=True):
            made = {
                kind: self.subnet(cidr, zone.name)
                for kind, cidr in (
                    ("private", zone.private_cidr), ("isolated", zone.isolated_cidr), ("control", zone.control_cidr),
                )
            }  # fmt: skip
            self.ec2.create_tags(Resources=[made["private"]], Tags=[{"Key": existing_network.BALANCERS, "Value": "1"}])
            self.ec2.associate_route_table(RouteTableId=self.table, SubnetId=made["private"])
            subnets.append(replace(ids, **made))
        public = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.20.3.0/28")["Subnet"]["SubnetId"]
        self.nat = self.ec2.create_nat_gateway(SubnetId=public, ConnectivityType="private")["NatGateway"][
            "NatGatewayId"
        ]
        self.route(NatGatewayId=self.nat)
        self.existing = replace(
            own.existing, vpc_id=self.vpc, subnets=tuple(subnets), route_tables=(self.table,)
        )  # fmt: skip

    def subnet(self, cidr: str, zone: str) -> str:
        """A subnet of the VPC."""
        made = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=cidr, AvailabilityZone=zone)
        return str(made["Subnet"]["SubnetId"])

    def route(self, **target: str) -> None:
        """Leads everything else somewhere."""
        self.ec2.create_route(RouteTableId=self.table, DestinationCidrBlock="0.0.0.0/0", **target)

    def subject(self, **changed: Any) -> Subject:
        """The stack, with something else said of the network."""
        of_network = {key: changed.pop(key) for key in ("cidr", "secondary_cidrs", "zones") if key in changed}
        own = replace(PLAN.ground.network, existing=replace(self.existing, **changed), **of_network)
        return Subject("joined", replace(PLAN, ground=replace(PLAN.ground, network=own)), Resources(()))


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Made, Callable[..., dict[str, Line]]]]:
    with aws(monkeypatch) as account:
        made = Made()

        def failing(**changed: Any) -> dict[str, Line]:
            lines = list(existing_network.check(made.subject(**changed), account))
            return {line.what: line for line in lines if line.answer is FAILS}

        made.account = account
        yield made, failing


def test_a_network_as_the_settings_say_is_fine(there) -> None:
    made, failing = there
    assert failing() == {}
    lines = list(existing_network.check(made.subject(), made.account))
    assert {line.answer for line in lines} == {Answer.FINE}
    assert len(lines) == 10, "the VPC, and nine subnets"


def test_a_stack_with_a_network_of_its_own_has_nothing_to_be_asked(there) -> None:
    made, _ = there
    ground = replace(PLAN.ground, network=replace(PLAN.ground.network, existing=None))
    (line,) = existing_network.check(replace(made.subject(), plan=replace(PLAN, ground=ground)), made.account)
    assert line.answer is Answer.FINE


def test_a_vpc_or_a_subnet_that_is_not_there_fails(there) -> None:
    made, failing = there
    assert set(failing(vpc_id="vpc-0123456789abcdef0")) == {"vpc-0123456789abcdef0"}
    lost = replace(made.existing.subnets[0], private="subnet-0123456789abcdef0")
    assert set(failing(subnets=(lost, *made.existing.subnets[1:]))) == {"subnet-0123456789abcdef0"}


def test_other_blocks_and_zones_fail(there) -> None:
    made, failing = there
    assert "primary block" in failing(cidr="10.21.0.0/22")[made.vpc].told
    assert "no block 100.65.0.0/16" in failing(secondary_cidrs=("100.65.0.0/16",))[made.vpc].told
    first, second, third = made.existing.subnets
    swapped = failing(subnets=(replace(second, zone=first.zone), replace(first, zone=second.zone), third))
    assert len(swapped) == 6
    assert all("its zone is" in line.told for line in swapped.values())


def test_names_have_to_be_on(there) -> None:
    made, failing = there
    made.ec2.modify_vpc_attribute(VpcId=made.vpc, EnableDnsHostnames={"Value": False})
    line = failing()["enableDnsHostnames"]
    assert "--enable-dns-hostnames" in line.command


def test_the_way_out_is_the_one_that_is_said(there) -> None:
    made, failing = there
    assert "is of nat" in failing(way_out="transit-gateway")[made.existing.subnets[0].private].told
    made.ec2.delete_route(RouteTableId=made.table, DestinationCidrBlock="0.0.0.0/0")
    assert len(failing()) == 3
    assert all("is of none" in line.told for line in failing().values())
    gateway = made.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    made.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=made.vpc)
    made.route(GatewayId=gateway)
    assert all("no public address" in line.told for line in failing().values())


def test_route_tables_are_those_of_the_nodes(there) -> None:
    made, failing = there
    found = failing(route_tables=("rtb-0123456789abcdef0",))
    assert "no such route table" in found["rtb-0123456789abcdef0"].told
    assert "not among" in found[made.existing.subnets[0].private].told


def test_endpoints_are_there_once(there) -> None:
    made, failing = there
    assert "the VPC has none" in failing(endpoints=("s3",), route_tables=())["endpoint s3"].told
    made.ec2.create_vpc_endpoint(
        VpcId=made.vpc, ServiceName=f"com.amazonaws.{REGION}.s3", VpcEndpointType="Gateway", RouteTableIds=[made.table]
    )
    assert "a second one" in failing()["endpoint s3"].told
    assert failing(endpoints=("s3",), route_tables=()) == {}


def test_too_few_free_addresses_fail_until_something_stands(there) -> None:
    made, failing = there
    own = PLAN.ground.network
    small = made.ec2.create_subnet(VpcId=made.vpc, CidrBlock="10.20.3.64/28", AvailabilityZone=own.zones[0].name)
    made.ec2.associate_route_table(RouteTableId=made.table, SubnetId=small["Subnet"]["SubnetId"])
    changed = {
        "zones": (replace(own.zones[0], private_cidr="10.20.3.64/28"), *own.zones[1:]),
        "subnets": (
            replace(made.existing.subnets[0], private=small["Subnet"]["SubnetId"]), *made.existing.subnets[1:],
        ),
    }  # fmt: skip
    assert "addresses are free" in failing(**changed)[small["Subnet"]["SubnetId"]].told
    marks = [{"Key": "client", "Value": "acme"}, {"Key": "environment", "Value": "joined"}]
    made.ec2.create_vpc_endpoint(
        VpcId=made.vpc,
        ServiceName=f"com.amazonaws.{REGION}.kms",
        VpcEndpointType="Interface",
        TagSpecifications=[{"ResourceType": "vpc-endpoint", "Tags": marks}],
    )
    assert failing(**changed) == {}, "what is taken may be the stack's own"


def test_its_own_vpc_is_no_clash_of_addresses(there) -> None:
    made, _ = there
    assert {line.answer for line in network.check(made.subject(), made.account)} <= {Answer.FINE, Answer.UNKNOWN}
    lines = list(network.check(made.subject(), made.account))
    assert not any(made.vpc in line.what for line in lines), lines
