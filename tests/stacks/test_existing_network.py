"""A VPC that somebody else made: what is made in it, what is not touched, and what the settings may not say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.existing_network import TABLE, VPC, existing, settings, stack_file, subnets
from tests.rehearsal.change.changing import between, findings, told
from tests.shared import ROOT, as_configuration
from trainyard.plan.lock import Lock, lock_of
from trainyard.plan.relock import differences
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.review import review

OF_A_NETWORK = ("vpc:Vpc", "subnet:Subnet", "routeTable:RouteTable", "route:Route", "natGateway:NatGateway", "eip:Eip",
                "internetGateway:InternetGateway", "routeTableAssociation:RouteTableAssociation")  # fmt: skip


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory):
    found = review(ROOT, stack_file(tmp_path_factory.mktemp("joined")))
    assert not found.rehearsal.errors, found.rehearsal.errors
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory):
    """Where S3's endpoint, two others and flow logs are there already."""
    given = existing(endpoints=["s3", "sts", "ec2"], flowLogs="account", wayOut="transit-gateway", routeTables=[])
    return review(ROOT, stack_file(tmp_path_factory.mktemp("whole"), aws={"existingNetwork": given}))


def of(rehearsal: Rehearsal, type_: str):
    return [one for one in rehearsal.resources if one.type == f"aws:ec2/{type_}"]


def decided(**changed):
    return resolve(as_configuration(settings(**changed)), "joined").plan


def refused(**changed) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        decided(**changed)
    return {problem.key: problem.allowed for problem in caught.value.problems}


def test_nothing_of_the_network_is_made(joined, rehearsed) -> None:
    for type_ in OF_A_NETWORK:
        assert all(one.read for one in of(joined.rehearsal, type_)), type_
        assert any(not one.read for one in of(rehearsed("demo"), type_)), type_
    assert len(of(joined.rehearsal, "subnet:Subnet")) == 9
    (vpc,) = of(joined.rehearsal, "vpc:Vpc")
    assert vpc.id == VPC


def test_what_the_environment_needs_there_is_made(joined) -> None:
    endpoints = {
        one.inputs["serviceName"].split(".", 3)[-1]: one for one in of(joined.rehearsal, "vpcEndpoint:VpcEndpoint")
    }
    assert {"s3", "sts", "eks-auth"} <= endpoints.keys()
    assert endpoints["s3"].inputs["routeTableIds"] == [TABLE]
    assert {one.inputs["vpcId"] for one in endpoints.values()} == {VPC}
    assert len(of(joined.rehearsal, "flowLog:FlowLog")) == 1
    (cluster,) = [one for one in joined.rehearsal.resources if one.type == "aws:eks/cluster:Cluster"]
    assert set(cluster.inputs["vpcConfig"]["subnetIds"]) == {f"subnet-0000000000000001{letter}" for letter in "abc"}


def test_it_is_sound_to_every_room_and_policy(joined, whole) -> None:
    for found in (joined, whole):
        assert not found.rehearsal.findings, found.rehearsal.findings
        assert found.policies is not None and not found.policies.violations, found.policies.violations


def test_what_is_there_is_not_made_twice(whole) -> None:
    made = {one.inputs["serviceName"].split(".", 3)[-1] for one in of(whole.rehearsal, "vpcEndpoint:VpcEndpoint")}
    assert made and not made & {"s3", "sts", "ec2"}
    assert not of(whole.rehearsal, "flowLog:FlowLog")
    walls = [one for one in whole.rehearsal.resources if one.name.endswith("allow-object-store")]
    assert walls and all("52.216.0.0/15" in str(one.inputs) for one in walls), "S3's addresses come from its list"


def test_walls_between_pods_know_every_block(joined) -> None:
    denied = [one for one in joined.rehearsal.resources if "NetworkPolicy" in one.type and "except" in str(one.inputs)]
    assert denied
    assert all("100.64.0.0/16" in str(one.inputs) and "10.20.0.0/22" in str(one.inputs) for one in denied)


def test_the_network_costs_nothing(joined, rehearsed) -> None:
    floor = {item.what for item in decided().core.idle_floor.items}
    assert not any("NAT" in what for what in floor)
    assert joined.cost is not None
    assert not any("NatGateway" in str(line) for line in joined.cost.lines)


def test_zones_come_from_it() -> None:
    two = {f"us-east-1{letter}": subnets(letter, place) for place, letter in enumerate("ab")}
    plan = decided(aws={"existingNetwork": existing(zones=two)})
    assert [zone.name for zone in plan.ground.network.zones] == ["us-east-1a", "us-east-1b"]
    network = {**settings()["network"], "zones": ["us-east-1a", "us-east-1c"]}
    pools = {"train": {"reserved": None}}
    assert [zone.name for zone in decided(network=network, gpuPools=pools).ground.network.zones] == network["zones"]


def test_a_reservation_elsewhere_is_refused() -> None:
    zones = {f"us-east-1{letter}": subnets(letter, place) for place, letter in enumerate("ac")}
    found = refused(aws={"existingNetwork": existing(zones=zones)})
    assert "aws.existingNetwork.zones" in found["gpuPools.train.reserved.availabilityZone"]


@pytest.mark.parametrize(
    ("changed", "key", "words"),
    [
        ({"zones": {"us-east-1a": subnets("a", 0)}}, "aws.existingNetwork.zones", "two"),
        ({"routeTables": []}, "aws.existingNetwork.routeTables", "gateway endpoint"),
        ({"endpoints": ["s3"]}, "aws.existingNetwork.routeTables", "read only where"),
        ({"secondaryCidrs": []}, "aws.existingNetwork.zones.us-east-1a.nodes.cidr", "must lie in"),
        ({"secondaryCidrs": ["10.20.0.0/20", "100.64.0.0/16"]}, "aws.existingNetwork.secondaryCidrs[0]", "overlap"),
        ({"secondaryCidrs": ["172.20.0.0/20", "100.64.0.0/16"]}, "aws.existingNetwork.secondaryCidrs[0]", "service"),
        ({"endpoints": ["sts", "sts"]}, "aws.existingNetwork.endpoints[1]", "twice"),
    ],
    ids=lambda each: str(each)[:40],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(changed, key, words) -> None:
    found = refused(aws={"existingNetwork": existing(**changed)})
    assert words in found[key], found


def test_subnets_are_apart_and_large_enough() -> None:
    zones = existing()["zones"]

    def with_zone(**kinds):
        first = {**zones["us-east-1a"], **kinds}
        return refused(assurance="high", aws={"existingNetwork": existing(zones={**zones, "us-east-1a": first})})

    place = "aws.existingNetwork.zones.us-east-1"
    twice = with_zone(controlPlane=zones["us-east-1b"]["controlPlane"])
    assert "subnet of its own" in twice[f"{place}b.controlPlane.id"]
    small = {"id": "subnet-0000000000000000a", "cidr": "100.64.0.0/24"}
    assert "too small" in with_zone(nodes=small)[f"{place}a.nodes.cidr"]
    services = {"id": "subnet-0000000000000002a", "cidr": "10.20.1.0/28"}
    assert "9 endpoints and a database" in with_zone(services=services)[f"{place}a.services.cidr"]
    assert "must lie in" in with_zone(services={**services, "cidr": "10.99.0.0/26"})[f"{place}a.services.cidr"]


def test_the_networks_own_settings_are_not_read_beside_it() -> None:
    assert "NAT" in refused(aws={"existingNetwork": existing(), "natPerZone": True})["aws.natPerZone"]
    days = {"existingNetwork": existing(flowLogs="account"), "flowLogRetentionDays": 365}
    assert "flowLogs" in refused(aws=days)["aws.flowLogRetentionDays"]
    assert "primary block" in refused(network={})["network.cidr"]


def test_the_lock_keeps_vpc_and_subnets() -> None:
    lock = lock_of(decided())
    assert lock.network is not None and lock.network.id == VPC
    assert {zone.nodes for zone in lock.zones} == {f"subnet-0000000000000000{letter}" for letter in "abc"}

    def contradicted(aws, lock: Lock = lock) -> set[str]:
        with pytest.raises(SettingsError) as caught:
            resolve(as_configuration(settings(aws=aws)), "joined", lock)
        return {problem.key for problem in caught.value.problems}

    assert resolve(as_configuration(settings()), "joined", lock).plan.ground.network.existing is not None
    other = {"existingNetwork": existing(vpcId="vpc-0123456789abcdef1")}
    assert contradicted(other) == {"aws.existingNetwork.vpcId"}
    zones = existing()["zones"]
    zones["us-east-1a"]["nodes"] = {**zones["us-east-1a"]["nodes"], "id": "subnet-0000000000000009a"}
    assert contradicted({"existingNetwork": existing(zones=zones)}) == {"aws.existingNetwork.zones.us-east-1a.nodes.id"}
    assert "aws.existingNetwork" in contradicted({"existingNetwork": None})
    own = lock_of(resolve(as_configuration({**settings(), "network": {}, "aws": {}}), "joined").plan)
    assert "aws.existingNetwork.vpcId" in contradicted({"existingNetwork": existing()}, own)
    (moved,) = [each for each in differences(own, lock) if each.key == "network.id"]
    assert moved.now == VPC


def test_moving_into_it_is_refused_with_what_it_would_lose(tmp_path, joined) -> None:
    file = tmp_path / "Pulumi.joined.yaml"
    file.write_text((ROOT / "stacks" / "Pulumi.demo.yaml").read_text())
    own = rehearse(ROOT, file)
    there = joined.rehearsal.known.resources
    for before, after in ((own.known.resources, there), (there, own.known.resources), (there, _in_another_vpc(there))):
        found = [one.name for one in findings(between(before, list(after)), "change-other-network")]
        assert "cluster-cluster" in found
    assert not told(between(there, there))


def _in_another_vpc(resources):
    for one in resources:
        if one.read and one.type == "aws:ec2/subnet:Subnet":
            one = replace(one, id=str(one.id).replace("-0", "-1"), inputs={**one.inputs, "vpcId": "vpc-1"})
        if one.type == "aws:eks/cluster:Cluster":
            network = one.inputs["vpcConfig"]
            ids = [each.replace("-0", "-1") for each in network["subnetIds"]]
            one = replace(one, inputs={**one.inputs, "vpcConfig": {**network, "subnetIds": ids}})
        yield one
