"""What has to be gone before what: `pulumi destroy` deletes a resource before all that it depends on.

The rules that only an end needs, beside those of `test_order`, which hold in both directions: who holds finalizers
outlives what has them, drivers outlive volumes, the way in outlives what is reached through it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from tests.conftest import EXAMPLES, WHOLE, WITH_CLUSTERS
from tests.stacks.test_order import Order
from trainyard.components.k8s.pod_expressions import LONGEST_GRACE_SECONDS

RELEASE = "kubernetes:helm.sh/v3:Release"
NAMESPACE = "kubernetes:core/v1:Namespace"
NODES = "aws:eks/nodeGroup:NodeGroup"
ADD_ON = "aws:eks/addon:Addon"
STACKS = ("demo", WHOLE)

RULES = {
    "teams' namespaces, with the jobs in them, go before their controllers": (
        (NAMESPACE, "*teams-*"),
        (RELEASE, "*runtimes-*"),
    ),
    "monitors and rules go before their operator": (
        ("kubernetes:monitoring.coreos.com/*", "*"),
        (RELEASE, "*monitoring*"),
    ),
    "namespaces go before add-ons, nodes last": ((NAMESPACE, "*"), (ADD_ON, "*")),
    "namespaces go before the system nodes": ((NAMESPACE, "*"), (NODES, "*cluster-system")),
    "charts go before the system nodes": ((RELEASE, "*"), (NODES, "*cluster-system")),
    "charts with volumes go before EBS's driver": ((RELEASE, "*"), (ADD_ON, "*ebs-csi*")),
    "file systems outlive their volumes": (
        ("kubernetes:core/v1:PersistentVolume", "*scratch*"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "*"),
    ),
    "a link goes before its file system": (
        ("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "*"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "*"),
    ),
    "nodes go before the CNI, which takes their interfaces away": ((NODES, "*"), (ADD_ON, "*vpc-cni")),
    "the log group outlives the cluster that writes to it": (
        ("aws:eks/cluster:Cluster", "*"),
        ("aws:cloudwatch/logGroup:LogGroup", "*cluster-logs"),
    ),
    "whoever deploys is let in to the end": (
        ("kubernetes:*", "*"),
        ("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "*cluster-deployer*"),
    ),
    "the way in outlives what is reached through it": (
        ("kubernetes:*", "*"),
        ("aws:ec2/instance:Instance", "*bastion"),
    ),
    "the API lets the way in": (
        ("kubernetes:*", "*"),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "*cluster-api-bastion"),
    ),
    "nodes have their way out to the end": ((NODES, "*"), ("aws:ec2/natGateway:NatGateway", "*")),
    "nodes have their routes to the end": ((NODES, "*"), ("aws:ec2/routeTableAssociation:*", "*private*")),
    "nodes keep their rights to the end": ((NODES, "*"), ("aws:iam/rolePolicyAttachment:*", "*cluster-node-*")),
    "EBS's driver keeps its rights to the end": ((ADD_ON, "*ebs-csi*"), ("aws:eks/podIdentityAssociation:*", "*ebs*")),
    "a right outlives its binding": (
        ("aws:eks/podIdentityAssociation:*", "*cluster-ebs*"),
        ("aws:iam/rolePolicyAttachment:*", "*cluster-ebs*"),
    ),
}
ONLY_WHOLE = ("file systems", "a link goes")


@pytest.fixture(scope="module")
def orders(rehearsed):
    """By stack, who waits for whom."""
    return {stack: Order(rehearsed(stack).resources) for stack in STACKS}


def named(order, type_, name):
    return [
        each
        for each in order.by_urn.values()
        if each.is_made and fnmatchcase(each.type, type_) and fnmatchcase(each.name, name)
    ]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("rule", RULES)
def test_it_goes_before_what_it_needs_to_go(orders, stack, rule):
    if stack != WHOLE and rule.startswith(ONLY_WHOLE):
        pytest.skip("it has no file system")
    order, (goes, stays) = orders[stack], RULES[rule]
    first, then = named(order, *stays), named(order, *goes)
    assert first
    assert then
    assert order.missing((one, other) for one in first for other in then if one is not other) == []


@pytest.mark.parametrize("stack", WITH_CLUSTERS)
def test_what_waits_for_pods_waits_longer_than_they_may_take(rehearsed, stack):
    """The provider's ten minutes are over when a pod that takes all its grace is."""
    waits = {}
    for each in rehearsed(stack).resources:
        if each.type == NAMESPACE and each.is_made:
            text = each.custom_timeouts.get("delete", "10m")
            assert text.endswith("m")
            waits[each.name] = int(text[:-1]) * 60
        elif each.type == RELEASE:  # Helm's own wait, for each object of the chart
            assert each.inputs["timeout"] >= LONGEST_GRACE_SECONDS
    assert any("teams-" in name for name in waits)
    assert {name: seconds for name, seconds in waits.items() if seconds < 2 * LONGEST_GRACE_SECONDS} == {}


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_chart_makes_a_load_balancer(rehearsed, stack):
    """One that a controller makes is known to no state: it outlives its cluster, with its address."""
    for each in rehearsed(stack).resources:
        if each.type == "kubernetes:core/v1:Service":
            assert each.inputs["spec"].get("type", "ClusterIP") == "ClusterIP"


@pytest.mark.parametrize("stack", STACKS)
def test_claims_of_stateful_sets_go_with_them(rehearsed, stack):
    (release,) = (each for each in rehearsed(stack).resources if each.type == RELEASE and "monitoring" in each.name)
    spec = release.inputs["values"]["prometheus"]["prometheusSpec"]
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete"}
