"""What rules of AWS refused that AWS takes, each beside what it refuses: inputs alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import findings, resource
from trainyard.recorded.model import UNKNOWN

GROUP = "aws:lb/targetGroup:TargetGroup"
NLB = {"targetType": "ip", "port": 443, "protocol": "TCP", "vpcId": "vpc-0123456789abcdef0"}
ALB = {**NLB, "protocol": "HTTP"}
SEARCH = "aws:opensearch/domain:Domain"
ENCRYPTED = {
    "advancedSecurityOptions": {"enabled": True},
    "encryptAtRest": {"enabled": True},
    "nodeToNodeEncryption": {"enabled": True},
}
CACHE = "aws:elasticache/replicationGroup:ReplicationGroup"
TAKEN_OVER = {"automaticFailoverEnabled": True}
MACHINE = "aws:sfn/stateMachine:StateMachine"


def doing(**task):
    """A state machine of one task."""
    state = {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "End": True, **task}
    return {"definition": json.dumps({"StartAt": "Run", "States": {"Run": state}})}


RECIPE = "aws:imagebuilder/imageRecipe:ImageRecipe"
TABLE, PIPELINE = "aws:dynamodb/table:Table", "aws:codepipeline/pipeline:Pipeline"
KEYED = {"hashKey": "id", "attributes": [{"name": "id", "type": "S"}, {"name": "by", "type": "S"}]}
TASK = "aws:ecs/taskDefinition:TaskDefinition"
TASKS = {"family": "a", "requiresCompatibilities": ["FARGATE"], "networkMode": "awsvpc", "cpu": "1024",
         "containerDefinitions": json.dumps([{"name": "a", "image": "a"}])}  # fmt: skip


def said(type_, inputs, rule):
    return [finding.level for finding in findings([resource(type_, "one", inputs)]) if finding.rule == rule]


PAIRS = {
    "a path, and a check by the default protocol": (
        GROUP, {**NLB, "healthCheck": {"path": "/up"}}, {**NLB, "healthCheck": {"path": "/up", "protocol": "TCP"}},
        "lb-health-check"),
    "a path, and a protocol that is not known": (
        GROUP, {**NLB, "healthCheck": {"path": "/up", "protocol": UNKNOWN}},
        {**NLB, "healthCheck": {"matcher": "200", "protocol": "TCP"}}, "lb-health-check"),
    "a network's check that waits as long as its interval": (
        GROUP, {**NLB, "healthCheck": {"timeout": 10, "interval": 10}},
        {**NLB, "healthCheck": {"timeout": 11, "interval": 10}}, "lb-health-check"),
    "an application's check that waits as long as its interval": (
        GROUP, {**ALB, "healthCheck": {"timeout": 9, "interval": 10}},
        {**ALB, "healthCheck": {"timeout": 10, "interval": 10}}, "lb-health-check"),
    "an interval that is not known": (
        GROUP, {**ALB, "healthCheck": {"timeout": 60, "interval": UNKNOWN}}, {**ALB, "healthCheck": {"timeout": 60}},
        "lb-health-check"),
    "the interval of a function's checks": (
        GROUP, {"targetType": "lambda", "healthCheck": {"timeout": 30}},
        {"targetType": "lambda", "healthCheck": {"timeout": 35}}, "lb-health-check"),
    "TLS by default": (
        SEARCH, {**ENCRYPTED, "domainEndpointOptions": {"tlsSecurityPolicy": "Policy-Min-TLS-1-2-2019-07"}}, ENCRYPTED,
        "search-security"),
    "TLS where it is said": (
        SEARCH, {**ENCRYPTED, "domainEndpointOptions": {"enforceHttps": True}},
        {**ENCRYPTED, "domainEndpointOptions": {"enforceHttps": False}}, "search-security"),
    "a machine with a disk of its own": (
        SEARCH, {"clusterConfig": {"instanceType": "r7gd.large.search"}},
        {"clusterConfig": {"instanceType": "r7g.large.search"}}, "search-storage"),
    "replicas that take over": (
        CACHE, {**TAKEN_OVER, "replicasPerNodeGroup": 1}, TAKEN_OVER, "cache-failover"),
    "nodes as many as another region has": (
        CACHE, {**TAKEN_OVER, "globalReplicationGroupId": "ldgnf-cache"}, {**TAKEN_OVER, "numCacheClusters": 1},
        "cache-failover"),
    "a call that is given the state's input": (MACHINE, doing(), doing(Parameters={}), "aws-json"),
    "a version that is counted on": (RECIPE, {"version": "1.0.x"}, {"version": "1.0.y"}, "image-version"),
    "a component's version": (
        "aws:imagebuilder/component:Component", {"version": "1.0.0"}, {"version": "1.0.x"}, "image-version"),
    "an index by a key that is not known": (
        TABLE, {**KEYED, "globalSecondaryIndexes": [{"name": "i", "hashKey": UNKNOWN}]},
        {**KEYED, "globalSecondaryIndexes": [{"name": "i", "hashKey": "id"}]}, "dynamodb-attribute"),
    "an index by keys that are not known": (
        TABLE, {**KEYED, "globalSecondaryIndexes": [{"name": "i", "keySchemas": UNKNOWN}]},
        {**KEYED, "globalSecondaryIndexes": [{"name": "i", "keySchemas": [{"attributeName": "id"}]}]},
        "dynamodb-attribute"),
    "stages whose names are not known": (
        PIPELINE, {"stages": [{"name": UNKNOWN}, {"name": UNKNOWN}]}, {"stages": [{"name": "a"}, {"name": "a"}]},
        "pipeline-stages"),
    "a size of a task": (TASK, {**TASKS, "memory": "2 GB"}, {**TASKS, "memory": "1..5 GB"}, "ecs-fargate"),
    "a state that leads on": (MACHINE, doing(Parameters={"JobName": "a"}), doing(Next=["Run"]), "states-definition"),
    "a flow that starts": (
        MACHINE, doing(), {"definition": json.dumps({"StartAt": ["Run"], "States": {"Run": {"Type": "Succeed"}}})},
        "states-definition"),
}  # fmt: skip
"""The type, inputs that AWS takes, inputs that it refuses, and the rule that says so."""


@pytest.mark.parametrize("what", PAIRS)
def test_what_aws_takes_is_not_told_and_what_it_refuses_is(what):
    type_, right, wrong, rule = PAIRS[what]
    assert said(type_, right, rule) == []
    assert "error" in said(type_, wrong, rule)


def test_what_nobody_reads_of_a_group_for_a_function_is_a_warning():
    assert said(GROUP, {"targetType": "lambda", "port": 80, "protocol": "HTTP"}, "lb-target-group") == ["warning"] * 2
    assert said(GROUP, {"targetType": "ip", "port": 80, "protocol": "HTTP"}, "lb-target-group") == ["error"]


SUBNET, BALANCER = "aws:ec2/subnet:Subnet", "aws:lb/loadBalancer:LoadBalancer"
OUTPOST = "arn:aws:outposts:us-east-1:123456789012:outpost/op-0123456789abcdef0"


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"availabilityZone": "us-east-1a"}, True),
        ({"availabilityZone": "us-east-1-bos-1a"}, False),
        ({"availabilityZone": "us-east-1a", "outpostArn": OUTPOST}, False),
        ({}, True),
    ],
)
def test_a_load_balancer_has_one_subnet_outside_of_a_region_alone(where, told):
    subnet = resource(SUBNET, "one", {"cidrBlock": "10.0.0.0/24", **where})
    for given in ({"subnets": [subnet.id]}, {"subnetMappings": [{"subnetId": subnet.id}]}):
        found = findings([subnet, resource(BALANCER, "lb", given)])
        assert ("lb-zones" in {finding.rule for finding in found}) == told


@pytest.mark.parametrize(
    ("arn", "told"),
    [
        ("arn:aws:amplify:us-east-1:123456789012:apps/d1", False),
        ("arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/app/one/1", True),
    ],
)
def test_a_firewall_of_cloudfront_is_bound_to_amplify_alone(arn, told):
    acl = resource("aws:wafv2/webAcl:WebAcl", "wall", {"scope": "CLOUDFRONT"}, id_="wall", arn="arn:aws:wafv2:wall")
    bound = resource("aws:wafv2/webAclAssociation:WebAclAssociation", "bound",
                     {"webAclArn": "arn:aws:wafv2:wall", "resourceArn": arn})  # fmt: skip
    bound = replace(bound, property_dependencies={"webAclArn": (acl.urn,)})
    assert ("waf-scope" in {finding.rule for finding in findings([acl, bound])}) == told
