"""From where a cluster's API is reached, for each setting of access, and for clusters of other people's programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.policies.mutants import drop, edit, put
from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.foreign import CLUSTER_GROUP, behind_nat, cluster
from tests.shared import ROOT
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.rehearse import rehearse
from trainyard.rehearsal.works.paths.aws.api import Reach, check, reach
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network

CLUSTER = "aws:eks/cluster:Cluster"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
MACHINE = "aws:ec2/instance:Instance"


def groups_of(resources) -> Groups:
    return Groups(Network(Stack(resources, ValueContext("1.35", "us-east-1"))))


def reached(resources) -> Reach | None:
    groups = groups_of(resources)
    (found,) = groups.network.stack.of_type(CLUSTER)
    return reach(groups, found)


def told(resources) -> set[str]:
    groups = groups_of(resources)
    check(groups)
    return {finding.rule for finding in groups.network.stack.findings}


def asked(tmp_path: Path, settings: str):
    """What the demo stack records with some settings more."""
    text = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text().replace("config:", f"config:\n  {settings}", 1)
    file = tmp_path / "Pulumi.asked.yaml"
    file.write_text(text)
    found = rehearse(ROOT, file)
    assert not found.errors, found.errors
    return found.resources


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("trainyard:apiAccess: { mode: bastion }", Reach((), ("bastion",))),
        ('trainyard:apiAccess: { cidrs: ["198.51.100.0/24"] }', Reach(("198.51.100.0/24",), ())),
        (
            "trainyard:apiAccess: { networks: [10.8.0.0/16], securityGroups: [sg-0123456789abcdef0] }",
            Reach((), ("10.8.0.0/16", "sg-0123456789abcdef0")),
        ),
        (
            "trainyard:apiAccess: { mode: bastion, networks: [10.8.0.0/16] }",
            Reach((), ("10.8.0.0/16", "bastion")),
        ),
    ],
    ids=["bastion", "public", "private", "bastion-and-office"],
)
def test_each_setting_of_access_is_what_reaches_the_api(tmp_path, settings, expected):
    assert reached(asked(tmp_path, settings)) == expected


def test_an_account_stage_makes_the_network_and_no_cluster(tmp_path):
    types = {found.type for found in asked(tmp_path, "trainyard:stage: account")}
    assert "aws:ec2/vpc:Vpc" in types and MACHINE in types
    assert not {found for found in types if found.startswith(("aws:eks/", "kubernetes:"))}


@pytest.mark.parametrize(
    "change",
    [
        drop(INGRESS, "cluster-api-bastion"),
        edit(INGRESS, "cluster-api-bastion", lambda inputs: inputs.update(fromPort=22, toPort=22)),
        edit(INGRESS, "cluster-api-bastion", put("securityGroupId", value="sg-0123456789abcdef0")),
        drop(MACHINE, "bastion"),
        edit(MACHINE, "bastion", put("vpcSecurityGroupIds", value=["sg-0123456789abcdef0"])),
    ],
    ids=["no-rule", "another-port", "another-group", "no-machine", "machine-in-another-group"],
)
def test_a_private_api_that_nobody_reaches_is_told(rehearsed, change):
    assert told(change(rehearsed("demo").resources)) == {"paths-api-unreachable"}


@pytest.mark.parametrize("stack", ["demo", "large-aws", "uae-aws"])
def test_no_example_is_accused(rehearsed, stack):
    assert told(rehearsed(stack).resources) == set()


def with_objects(made_of):
    """A foreign program that makes a namespace on its cluster, whose provider takes the kubeconfig from it."""
    provider = resource("pulumi:providers:kubernetes", "k8s", {"kubeconfig": "{}"}, "k8s")
    provider = replace(provider, property_dependencies={"kubeconfig": (made_of.urn,)})
    namespace = resource("kubernetes:core/v1:Namespace", "teams", {"metadata": {"name": "teams"}}, "teams")
    return [provider, replace(namespace, provider=f"{provider.urn}::k8s")]


def test_foreign_clusters():
    network = [one for one in behind_nat() if one.type != CLUSTER]
    private = cluster("a", "b", endpointPublicAccess=False)
    assert told([*network, private, *with_objects(private)]) == {"paths-api-unreachable"}
    assert told([*network, private]) == set(), "nothing is made on it"
    public = cluster("a", "b", endpointPublicAccess=True)
    assert told([*network, public, *with_objects(public)]) == set()
    by_default = cluster("a", "b")
    assert told([*network, by_default, *with_objects(by_default)]) == set(), "AWS opens it unless told otherwise"
    unknown = cluster("a", "b", endpointPublicAccess=UNKNOWN)
    assert told([*network, unknown, *with_objects(unknown)]) == set()
    looked_up = replace(private, read=True)
    assert told([*network, looked_up, *with_objects(looked_up)]) == set(), "rules of its own may be anywhere"


@pytest.mark.parametrize(
    "further",
    [
        {"type": INGRESS, "inputs": {"cidrIpv4": "10.8.0.0/16", "fromPort": 443, "toPort": 443, "ipProtocol": "tcp"}},
        {"type": INGRESS, "inputs": {"prefixListId": "pl-0123456789abcdef0", "ipProtocol": "-1"}},
        {"type": INGRESS, "inputs": {"referencedSecurityGroupId": "sg-0fedcba9876543210", "ipProtocol": "-1"}},
        {"type": INGRESS, "inputs": {"cidrIpv4": UNKNOWN, "fromPort": 443, "toPort": 443, "ipProtocol": "tcp"}},
        {"type": MACHINE, "inputs": {"vpcSecurityGroupIds": [CLUSTER_GROUP]}},
        {"type": MACHINE, "inputs": {"vpcSecurityGroupIds": UNKNOWN}},
        {"type": "aws:codebuild/project:Project", "inputs": {"vpcConfig": {"securityGroupIds": [CLUSTER_GROUP]}}},
    ],
    ids=["a-network", "a-list", "another-stacks-group", "not-known", "a-runner", "perhaps-a-runner", "a-build"],
)
def test_whoever_may_come_in_is_believed(further):
    private = cluster("a", "b", endpointPublicAccess=False)
    inputs = {**({"securityGroupId": CLUSTER_GROUP} if further["type"] == INGRESS else {}), **further["inputs"]}
    network = [one for one in behind_nat() if one.type != CLUSTER]
    assert told([*network, private, *with_objects(private), resource(further["type"], "way-in", inputs)]) == set()
