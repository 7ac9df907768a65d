"""Breakages of the walls in `docs/security.md`, put one at a time into the recorded demo stack: each is told.

What a policy has a mutant of is in `mutants_walls`, what looks like a breakage and is none in `cases_walls`.
"""

import json

import pytest

from tests.policies.mutants import edit, put
from tests.policies.mutants_guard import POLICY
from tests.policies.rights_changes import account, added, bound, rule
from tests.policies.test_mutants import _concerned
from trainyard.review.policy_check.check import check_policies

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
GUARD = "kueue-gpu-guard"
TEMPLATE, NAMESPACE = "aws:ec2/launchTemplate:LaunchTemplate", "kubernetes:core/v1:Namespace"
TOOLS = account("x", "tools")
EVERYBODY = json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]})


def said(name, old, new):
    """Other words in the expressions of a guard."""

    def into(inputs):
        parts = [
            part for key in ("variables", "validations", "matchConditions") for part in inputs["spec"].get(key, [])
        ]
        assert any(old in part["expression"] for part in parts), f"{name} does not say {old}"
        for part in parts:
            part["expression"] = part["expression"].replace(old, new)

    return edit(POLICY, name, into)


def out_of_vision(*blocks, port=443):
    rules = [{"to": [{"ipBlock": {"cidr": block}} for block in blocks], "ports": [{"port": port}]}]
    spec = {"podSelector": {}, "policyTypes": ["Egress"], "egress": rules}
    return added(NETWORK_POLICY, "more", {"metadata": {"name": "more", "namespace": "team-vision"}, "spec": spec})


BREAKAGES = {
    "the guard looks for another vendor's GPUs": said(
        "kueue-gpu-guard", "r.startsWith('nvidia.com/')", "r == 'amd.com/gpu'"
    ),
    "a grace period of two years": said(GUARD, "<= 600", "<= 60000000"),
    "one more kind of volume": said(GUARD, "has(v.configMap) ||", "has(v.configMap) || has(v.nfs) ||"),
    "somebody beside the job controller": said(GUARD, "job-controller'", "job-controller', 'ada'"),
    "new pods are not asked": said(
        "kueue-gpu-guard", "request.operation != 'UPDATE' ||", "request.operation == 'UPDATE' &&"
    ),
    "owners by whoever is of the system": said(
        "kueue-owner-guard",
        "request.userInfo.username == 'system:kube-controller-manager'",
        "request.userInfo.username.startsWith('system:')",
    ),
    "a registry anywhere in a name": said("teams-pods-images", "i.startsWith(", "i.contains("),
    "the identity of nodes over IPv6": out_of_vision("fd00:ec2::254/128", port=80),
    "the nodes' own network": out_of_vision("10.0.96.0/20"),
    "pod security of long ago": edit(
        NAMESPACE,
        "teams-vision-namespace",
        put("metadata", "labels", "pod-security.kubernetes.io/enforce-version", value="v1.0"),
    ),
    "a key for SSH": edit(TEMPLATE, "cluster-cpu-template", put("keyName", value="ops")),
    "the network's own group, open": edit(
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "network-default",
        put("egress", value=[{"protocol": "-1", "cidrBlocks": ["0.0.0.0/0"], "fromPort": 0, "toPort": 0}]),
    ),
    "a flow log that names no destination": edit(
        "aws:ec2/flowLog:FlowLog", "network-flow-log", put("logFormat", value="${srcaddr} ${action}")
    ),
    "objects are copied to another account": added(
        "aws:s3/bucketReplicationConfig:BucketReplicationConfig",
        "copy",
        {"rules": [{"destination": {"bucket": "arn:aws:s3:::copy", "account": "444455556666"}}]},
    ),
    "an access point of a bucket for everybody": added(
        "aws:s3/accessPoint:AccessPoint", "open", {"bucket": "b", "policy": EVERYBODY}
    ),
    "logs that everybody writes": added(
        "aws:cloudwatch/logResourcePolicy:LogResourcePolicy", "open", {"policyDocument": EVERYBODY}
    ),
    "ports of all pods": bound(TOOLS, rule("create", "pods/portforward")),
    "a part of the API": bound(TOOLS, rule("update", "apiservices", "apiregistration.k8s.io")),
    "volumes of all": bound(TOOLS, rule("patch", "persistentvolumes")),
    "pods that others make way for": bound(TOOLS, rule("create", "priorityclasses", "scheduling.k8s.io")),
    "namespaces are removed": bound(TOOLS, rule("delete", "namespaces")),
    "bounds are removed": bound(TOOLS, rule("delete", "limitranges")),
    "pods by a replica set": bound(TOOLS, rule("create", "replicasets", "apps")),
}


@pytest.fixture(scope="module")
def demo(rehearsed):
    return rehearsed("demo")


@pytest.mark.parametrize("what", BREAKAGES)
def test_a_breakage_is_told(what, demo):
    known = demo.known.resources
    changed = BREAKAGES[what](known)
    report = check_policies("demo", [], changed, demo.settings, policies=_concerned((known,), (changed,)))
    assert report.violations
