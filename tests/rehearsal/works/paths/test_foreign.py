"""Networks of other people's programs: silence about what is correct or not known, words about what is broken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.foreign import (
    CLUSTER_GROUP,
    STACKS,
    VPC,
    ZONES,
    acl,
    behind_nat,
    cluster,
    group,
    public,
    subnet,
    table,
    vpc,
    with_group_of_nodes,
    without_internet,
)
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.flows.check import check as check_flows
from trainyard.rehearsal.works.paths.check import check as check_paths


def findings(resources):
    """What the rooms of networks say."""
    stack = Stack(resources, ValueContext("1.35", "us-east-1"))
    check_flows(stack)
    check_paths(stack)
    return stack.findings


def rules(resources):
    """Their rules alone."""
    return {finding.rule for finding in findings(resources)}


@pytest.mark.parametrize("stack", STACKS)
def test_a_correct_network_is_not_accused(stack):
    assert findings(STACKS[stack]()) == []


@pytest.mark.parametrize("stack", STACKS)
def test_what_is_not_known_yet_is_not_accused(stack):
    """Each input of each resource unknown, one at a time: nothing may be told of it, and nothing may fail."""
    resources = STACKS[stack]()
    for index, one in enumerate(resources):
        if not one.type.startswith("aws:"):
            continue
        for key in one.inputs:
            blurred = replace(one, inputs={**one.inputs, key: UNKNOWN})
            assert findings([*resources[:index], blurred, *resources[index + 1 :]]) == [], (one.name, key)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("wrong", ["text", 7, True, ["text"], {"key": "value"}, None])
def test_a_wrong_kind_of_value_breaks_nothing(stack, wrong):
    resources = STACKS[stack]()
    for index, one in enumerate(resources):
        for key in one.inputs:
            broken = replace(one, inputs={**one.inputs, key: wrong})
            findings([*resources[:index], broken, *resources[index + 1 :]])


def of_nodes(*, back=(1024, 65535), https=443):
    """The list of the nodes' subnets: HTTPS out, answers in, the VPC both ways."""
    return acl(
        "nodes",
        ZONES,
        ingress=[("allow", "10.4.0.0/16", 0, 65535), ("allow", "0.0.0.0/0", *back)],
        egress=[("allow", "10.4.0.0/16", 0, 65535), ("allow", "0.0.0.0/0", https, https)],
    )


def of_nat(*, back=(1024, 65535), block="10.4.0.0/16"):
    """The list of the NAT gateway's subnet."""
    return acl(
        "public",
        ["public"],
        ingress=[("allow", block, 443, 443), ("allow", "0.0.0.0/0", *back)],
        egress=[("allow", "0.0.0.0/0", 443, 443), ("allow", "10.4.0.0/16", 1024, 65535)],
    )


def test_lists_that_let_by_what_is_needed_are_not_accused():
    assert findings([*behind_nat(), of_nodes(), of_nat()]) == []


@pytest.mark.parametrize(
    ("lists", "what"),
    [
        ([of_nodes(back=(49152, 65535))], "answers in from the internet"),  # the range of Windows
        ([of_nodes(https=80)], "TCP 443 out to the internet"),
        ([of_nodes(), of_nat(back=(32768, 60999))], "answers in from the internet"),  # NAT gateways choose others
        ([of_nodes(), of_nat(block="10.5.0.0/16")], "TCP 443 in from the nodes"),
    ],
)
def test_a_list_that_shuts_the_way_out_is_told(lists, what):
    found = [finding for finding in findings([*behind_nat(), *lists]) if finding.rule == "paths-acl-closed"]
    assert [what in finding.message for finding in found] == [True]


def test_a_list_between_nodes_and_the_control_plane_is_asked_for_the_answers_too():
    plane = [subnet(f"plane-{zone}", f"10.4.{50 + index}.0/24", zone) for index, zone in enumerate(ZONES)]
    stack = [
        *(found for found in behind_nat() if found.name != "cluster"),
        *plane,
        cluster(*(f"plane-{zone}" for zone in ZONES), endpointPublicAccess=False),
    ]
    names = [f"plane-{zone}" for zone in ZONES]
    given = [("allow", "10.4.0.0/16", 443, 443), ("allow", "10.4.0.0/16", 1024, 65535)]
    assert findings([*stack, acl("plane", names, ingress=given, egress=given)]) == []
    assert "flows-nodes-to-api" in rules([*stack, acl("plane", names, ingress=given, egress=given[:1])])
    denied = [("deny", "10.4.0.0/23", 443, 443), *given]
    assert "flows-nodes-to-api" in rules([*stack, acl("plane", names, ingress=denied, egress=given)])


def without(resources, type_, name=""):
    """The same stack without resources of a type."""
    return [found for found in resources if not (found.type.endswith(type_) and name in found.name)]


def changed(resources, name, **inputs):
    """The same stack with inputs of one resource changed; None takes one away."""
    found = []
    for one in resources:
        if one.name == name:
            given = {**one.inputs, **inputs}
            one = replace(one, inputs={key: value for key, value in given.items() if value is not None})
        found.append(one)
    return found


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (changed(public(), "us-east-1a", mapPublicIpOnLaunch=False), "paths-api-cut-off"),
        (without(public(), ":InternetGateway"), None),
        (without(behind_nat(), ":RouteTableAssociation", "public-public"), "paths-nat-no-way-out"),
        (changed(behind_nat(), "private", routes=[]), "paths-nodes-cut-off"),
        (changed(behind_nat(), "igw", vpcId=None), "paths-gateway-detached"),
        (changed(behind_nat(), "vpc", enableDnsHostnames=None), "paths-dns-of-vpc"),
        (without(without_internet(), ":VpcEndpoint", "ecr.dkr"), "paths-nodes-cut-off"),
        (without(without_internet(), ":VpcEndpointRouteTableAssociation"), "paths-nodes-cut-off"),
        (changed(without_internet(), "endpoints", ingress=[]), "paths-endpoint-closed"),
        (changed(without_internet(), "default-web"), None),
        (changed(with_group_of_nodes(), "plane", ingress=[]), "flows-nodes-to-api"),
        (changed(with_group_of_nodes(), "node", ingress=[]), "flows-kubelet"),
        (changed(with_group_of_nodes(), "node", egress=[]), "flows-nodes-to-api"),
    ],
)
def test_a_broken_network_is_told(broken, rule):
    found = rules(broken)
    assert (rule in found) if rule else not found, found


@pytest.mark.parametrize(("attached_to", "told"), [(VPC, set()), ("vpc-another", {"paths-api-cut-off"})])
def test_a_gateway_may_be_attached_by_itself(attached_to, told):
    attachment = resource(
        "aws:ec2/internetGatewayAttachment:InternetGatewayAttachment",
        "igw",
        {"vpcId": attached_to, "internetGatewayId": "igw-1"},
    )
    assert rules([*changed(public(), "igw", vpcId=None), attachment]) >= told
    assert bool(rules([*changed(public(), "igw", vpcId=None), attachment])) is bool(told)


def test_images_of_the_internet_are_told_where_no_node_gets_there():
    stack = without_internet()
    stack[-1] = next(found for found in public() if found.name == "default-web")
    assert rules(stack) == {"paths-image-out-of-reach"}


def test_a_table_and_gateway_of_another_vpc_are_told():
    assert "paths-other-vpc" in rules(changed(behind_nat(), "private", vpcId="vpc-0000000000000000b"))


PEER = "vpc-0000000000000000b"


def peered(*tables_with_routes):
    """Two networks with a peering; the named tables have a route through it."""
    through = {"vpcPeeringConnectionId": "pcx-1"}
    there = [
        replace(vpc(cidrBlock="10.5.0.0/16"), id=PEER, name="peer", urn="urn:peer"),
        replace(table("peer"), inputs={"vpcId": PEER}),
    ]
    connection = resource(
        "aws:ec2/vpcPeeringConnection:VpcPeeringConnection", "peering", {"vpcId": VPC, "peerVpcId": PEER}, "pcx-1"
    )
    routes = [
        resource(
            "aws:ec2/route:Route",
            f"{name}-to-peer",
            {"routeTableId": f"rtb-{name}", "destinationCidrBlock": block, **through},
        )
        for name, block in tables_with_routes
    ]
    return [*behind_nat(), *there, connection, *routes]


def test_a_peering_needs_routes_on_both_sides():
    assert findings(peered(("private", "10.5.0.0/16"), ("peer", "10.4.0.0/16"))) == []
    assert findings(peered()) == []
    assert rules(peered(("private", "10.5.0.0/16"))) == {"paths-peering-one-way"}


def stored(*zones, **system):
    """A file system of EFS with mount targets in some zones, and a volume on it."""
    spec = {"csi": {"driver": "efs.csi.aws.com", "volumeHandle": "fs-1"}}
    rule = {"protocol": "tcp", "fromPort": 2049, "toPort": 2049, "securityGroups": [CLUSTER_GROUP]}
    return [
        *behind_nat(),
        group("efs", ingress=[rule]),
        resource("aws:efs/fileSystem:FileSystem", "files", system, "fs-1"),
        resource("kubernetes:core/v1:PersistentVolume", "files", {"metadata": {"name": "files"}, "spec": spec}),
        *(
            resource(
                "aws:efs/mountTarget:MountTarget",
                f"files-{zone}",
                {"fileSystemId": "fs-1", "subnetId": f"subnet-{zone}", "securityGroups": ["sg-efs"]},
            )
            for zone in zones
        ),
    ]


def test_a_file_system_has_a_mount_target_where_nodes_are():
    assert findings(stored(*ZONES)) == []
    assert findings(stored(ZONES[0], availabilityZoneName=ZONES[0])) == []
    assert rules(stored(ZONES[0])) == {"paths-no-mount-target"}
    assert [finding.level for finding in findings(stored())] == ["error"]


def test_a_file_system_admits_the_nodes():
    closed = changed(stored(*ZONES), "efs", ingress=[])
    assert rules(closed) == {"flows-nfs"}
    by_prefix_list = [{"protocol": "tcp", "fromPort": 2049, "toPort": 2049, "prefixListIds": ["pl-1"]}]
    assert findings(changed(stored(*ZONES), "efs", ingress=by_prefix_list)) == []


def test_a_store_of_another_network_is_told():
    other = replace(subnet("other", "10.5.0.0/24", ZONES[0]), inputs={"vpcId": PEER, "cidrBlock": "10.5.0.0/24"})
    there = replace(vpc(cidrBlock="10.5.0.0/16"), id=PEER, name="peer", urn="urn:peer")
    lustre = resource("aws:fsx/lustreFileSystem:LustreFileSystem", "fast", {"subnetIds": "subnet-other"}, "fs-2")
    assert rules([*behind_nat(), there, other, lustre]) == {"paths-store-apart"}


@pytest.mark.parametrize("scheme", ["internet-facing", "internal"])
def test_a_load_balancer_finds_its_subnets_by_their_tags(scheme):
    role = {"internet-facing": "kubernetes.io/role/elb", "internal": "kubernetes.io/role/internal-elb"}[scheme]
    service = resource(
        "kubernetes:core/v1:Service",
        "web",
        {
            "metadata": {
                "name": "web",
                "annotations": {"service.beta.kubernetes.io/aws-load-balancer-scheme": scheme},
            },
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
        },
    )
    assert rules([*behind_nat(), service]) == {"paths-load-balancer-subnets"}
    tagged = [
        replace(one, inputs={**one.inputs, "tags": {role: "1"}}) if one.id == "subnet-public" else one
        for one in behind_nat()
    ]
    assert findings([*tagged, service]) == []
