"""Mistakes in our own components on AWS that were missed once; what is right beside each; AWS's own policies."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import policy, resource
from tests.rehearsal.works import mistakes_aws_eighth as eighth
from tests.rehearsal.works.mistakes import context_of, tells, told
from tests.rehearsal.works.together import told_of_right
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.rights.aws import condition_keys, condition_values

TOLD = [one for one in eighth.TAKEN if one.rule]
HARMLESS = [one for one in eighth.MISTAKES if not one.rule]


@pytest.mark.parametrize("mistake", TOLD, ids=lambda one: one.name)
def test_a_mistake_is_told(rehearsed, mistake):
    rules = tells(rehearsed(mistake.stack), mistake.change, mistake.rule, ours=True)
    assert mistake.rule in rules, rules


@pytest.mark.parametrize("mistake", eighth.REFUSED, ids=lambda one: one.name)
def test_what_is_refused_is_told(rehearsed, mistake):
    rehearsal = rehearsed(mistake.stack)
    values = check_values(mistake.change(rehearsal.known.resources), context_of(rehearsal))
    assert mistake.rule in {finding.rule for finding in values}


@pytest.mark.parametrize("mistake", HARMLESS, ids=lambda one: one.name)
def test_what_harms_nobody_is_not_told(rehearsed, mistake):
    assert mistake.why
    assert told(rehearsed(mistake.stack), mistake.change, ours=True) == []


@pytest.mark.parametrize("what", eighth.SOUND)
def test_what_is_right_beside_them_is_not_told(rehearsed, what):
    assert told_of_right(__name__, what, rehearsed, eighth.SOUND) == []


def test_what_stands_for_an_id_of_the_cloud_is_no_wrong_value():
    asked = {"aws:PrincipalOrgID": ["o-3647f565", "looked-up-68652f35"], "aws:SourceVpc": "looked-up-1"}
    allowed = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", "Condition": {"StringEquals": asked}}
    resources = [
        resource("aws:organizations/organization:Organization", "o", {}, "o-3647f565"),
        resource("aws:iam/policy:Policy", "own", {"policy": policy(allowed)}),
    ]
    stack = Stack(resources, ValueContext("1.35", "us-east-1"))
    condition_values.check(stack)
    assert not stack.findings
    stack = Stack(resources[1:], ValueContext("1.35", "us-east-1"))
    condition_values.check(stack)
    assert [finding.rule for finding in stack.findings] == ["rights-condition-value"]


LACKED = {"AmazonEKSLoadBalancingPolicy", "KafkaConnectServiceRolePolicy",
          "SageMakerStudioProjectRoleMachineLearningPolicy"}  # fmt: skip
"""AWS's own with a condition in vain: `elasticloadbalancing:DescribeLoadBalancers` by tag and the like."""


def test_conditions_of_aws_own_policies_are_right(rehearsed):
    policies = json.loads(pytest.importorskip("moto.iam.aws_managed_policies").aws_managed_policies_data)
    like = next(one for one in rehearsed("demo").known.resources if one.type == "aws:iam/rolePolicy:RolePolicy")
    resources = [
        replace(like, type="aws:iam/policy:Policy", urn=f"urn::{name}", name=name, outputs={},
                inputs={"policy": json.dumps(policy["Document"])})
        for name, policy in policies.items()
    ]  # fmt: skip
    stack = Stack(resources, ValueContext("1.35", "us-east-1"))
    condition_keys.check(stack)
    condition_values.check(stack)
    assert len(resources) > 1000
    assert {finding.urn.removeprefix("urn::") for finding in stack.findings} <= LACKED
