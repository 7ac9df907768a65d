"""Alerts, sessions, trust and scopes: what is right is not accused."""

from __future__ import annotations

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.works.mistakes import both, context_of, edit, in_json, put
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.check import check

ROLE, INLINE = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
RELEASE, POOL = "kubernetes:helm.sh/v3:Release", "gcp:container/nodePool:NodePool"
ALERTS = "values.alertmanager.config.receivers[1].sns_configs[0].sigv4"


def trusted(**condition):
    statement = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::999999999999:root"}, "Action": "sts:AssumeRole"}
    return lambda policy: policy["Statement"].append({**statement, **condition})


RIGHT = {
    "Alertmanager with keys of its own": both(
        edit(RELEASE, "monitoring-release", put(ALERTS, {"region": "us-east-1", "access_key": "a", "secret_key": "b"})),
        edit(INLINE, "alertmanager-role-policy",
             in_json("policy", lambda policy: policy["Statement"][0]["Resource"].pop(0))),
    ),
    "Alertmanager may publish to every topic": edit(
        INLINE, "alertmanager-role-policy",
        in_json("policy", lambda policy: policy["Statement"][0].update(Resource="arn:aws:sns:*:*:*")),
    ),
    "another account, with an external id": edit(
        ROLE, "team-vision-role",
        in_json("assumeRolePolicy", trusted(Condition={"StringEquals": {"sts:ExternalId": "x"}})),
    ),
    "another account's role for people": edit(
        ROLE, "network-flow-logs", in_json("assumeRolePolicy", trusted()),
    ),
    "a boundary that leaves all that is needed": edit(
        ROLE, "autoscaler-role", put("permissionsBoundary", "arn:aws:iam::aws:policy/PowerUserAccess")
    ),
    "whoever makes the cluster is let in": both(
        edit("aws:eks/cluster:Cluster", "cluster-cluster",
             put("accessConfig.bootstrapClusterCreatorAdminPermissions", True)),
        edit("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "cluster-deployer",
             put("policyArn", "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_is_not_accused(rehearsed, what):
    demo = rehearsed(WHOLE)
    stack = Stack(RIGHT[what](demo.known.resources), context_of(demo))
    check(stack)
    assert stack.findings == []


@pytest.mark.parametrize(
    "scopes",
    [
        ["logging-write", "monitoring", "storage-ro"],
        [
            f"https://www.googleapis.com/auth/{one}"
            for one in ("logging.write", "monitoring.write", "devstorage.read_only")
        ],
    ],
)
def test_scopes_that_are_enough(rehearsed, scopes):
    demo = rehearsed("demo-gcp")
    changed = edit(POOL, "gpu-nodes-train-spot", put("nodeConfig.oauthScopes", scopes))(demo.known.resources)
    stack = Stack(changed, context_of(demo))
    check(stack)
    assert stack.findings == []


def test_a_stack_that_switches_no_apis_on_is_not_told_of_one(rehearsed):
    demo = rehearsed("demo-gcp")
    others = [one for one in demo.known.resources if one.type != "gcp:projects/service:Service"]
    stack = Stack(others, context_of(demo))
    check(stack)
    assert [finding for finding in stack.findings if finding.rule == "rights-api-off"] == []
