"""Correct AWS programs of others: what nobody gave is no mistake of theirs, letters of zones are an account's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

CONTEXT = ValueContext(kubernetes_version="1.34", region="us-west-1")
QUEUE = "arn:aws:sqs:us-west-1:123456789012:jobs"


def told(*resources, region="us-west-1"):
    return {(one.rule, one.path) for one in check_values(list(resources), replace(CONTEXT, region=region))}


@pytest.mark.parametrize(
    ("region", "letter", "is_told"),
    [
        ("us-west-1", "c", False),
        ("us-west-1", "d", True),
        ("ap-northeast-1", "b", False),
        ("ap-northeast-1", "e", True),
        ("us-east-2", "d", True),
    ],
)
def test_a_zone_that_some_accounts_have_is_one(region, letter, is_told):
    vpc = resource("aws:ec2/vpc:Vpc", "net", {"cidrBlock": "10.0.0.0/16"})
    inputs = {"vpcId": vpc.id, "cidrBlock": "10.0.1.0/24", "availabilityZone": f"{region}{letter}"}
    found = told(vpc, resource("aws:ec2/subnet:Subnet", "one", inputs), region=region)
    assert (("zone-region", "availabilityZone") in found) is is_told


FROM_ANOTHER = ("aws:nobody/knows:Knows", "from-another-1a2b3c4d")
"""A type of which nobody knows how its ids look, and the id that a rehearsal made up for one."""


@pytest.mark.parametrize("is_made_up", [True, False])
@pytest.mark.parametrize(
    ("type_", "path", "inputs", "rule"),
    [
        ("aws:ec2/subnet:Subnet", "vpcId", {"cidrBlock": "10.0.1.0/24"}, "aws-id"),
        ("aws:sns/topicSubscription:TopicSubscription", "subscriptionRoleArn",
         {"topic": "arn:aws:sns:us-west-1:123456789012:t", "protocol": "sqs", "endpoint": QUEUE}, "aws-arn"),
        ("aws:ec2/vpcEndpoint:VpcEndpoint", "vpcEndpointType",
         {"vpcId": "vpc-0123456789abcdef0", "serviceName": "com.amazonaws.us-west-1.s3"}, "aws-model"),
    ],
)  # fmt: skip
def test_what_a_rehearsal_made_up_is_accused_of_nothing(type_, path, inputs, rule, is_made_up):
    kind, id_ = FROM_ANOTHER
    others = [resource(kind, "other", {}, id_)] if is_made_up else []
    found = told(*others, resource(type_, "one", {**inputs, path: id_}))
    assert ((rule, path) in found) is not is_made_up


@pytest.mark.parametrize(
    ("type_", "path", "value", "is_told"),
    [
        ("aws:xray/samplingRule:SamplingRule", "resourceArn", "*", False),
        ("aws:xray/samplingRule:SamplingRule", "resourceArn", "all", True),
        ("aws:ssm/maintenanceWindowTask:MaintenanceWindowTask", "taskArn", "AWS-RunShellScript", False),
        ("aws:ssm/maintenanceWindowTask:MaintenanceWindowTask", "serviceRoleArn", "Patching", True),
    ],
)
def test_what_is_called_an_arn_and_takes_what_has_none(type_, path, value, is_told):
    found = told(resource(type_, "one", {path: value}))
    assert (("aws-arn", path) in found) is is_told
