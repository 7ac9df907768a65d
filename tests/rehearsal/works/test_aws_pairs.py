"""What rules of AWS took for a mistake and is none, each beside what is one: both in programs of other people."""

from __future__ import annotations

import json

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import output, reworded
from tests.rehearsal.works.mistakes import DROP, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside
from tests.rehearsal.works.test_aws_services import added

P, S, W = "pipeline", "serving", "workshop"
PERMISSION = "aws:lambda/permission:Permission"
MACHINE = "aws:sfn/stateMachine:StateMachine"


def on_the_stage(path):
    """A permission on an interface's stage, by what the stage itself says it is called with."""

    def change(resources):
        (stage,) = (one for one in resources if one.type == "aws:apigateway/stage:Stage")
        return edit(PERMISSION, "desk", put("sourceArn", f"{output(stage, 'executionArn')}{path}"))(resources)

    return change


def calls(name):
    """The state machine calls this function, in JSONata."""
    refresh = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "QueryLanguage": "JSONata",
               "Arguments": {"FunctionName": name}, "Next": "Done"}  # fmt: skip
    return edit(MACHINE, "train", in_json("definition", lambda flow: flow["States"].update(Refresh=refresh)))


PUBLIC = ("subnet-01be65896a9b4bce8", "subnet-2acc4f94d8eb3d226")


def let_out(block):
    """The cache is in subnets that its callers are not in, and they are let out to some addresses alone."""
    rules = [{"protocol": "tcp", "fromPort": 443, "toPort": 443, "cidrBlocks": ["0.0.0.0/0"]},
             {"protocol": "tcp", "fromPort": 6379, "toPort": 6379, "cidrBlocks": [block]}]  # fmt: skip
    return both(
        edit(aws.GROUP, "web", put("egress", rules)),
        edit("aws:elasticache/subnetGroup:SubnetGroup", "answers", put("subnetIds", list(PUBLIC))),
    )


ORDERS = "arn:aws:sqs:eu-west-1:123456789012:orders.fifo"
STARTED = "arn:aws:states:eu-west-1:123456789012:stateMachine:sort"


def piped(action, **how):
    """The pipe starts a state machine, and its role may do this."""
    return both(
        edit("aws:pipes/pipe:Pipe", "clicks", put("target", STARTED),
             put("targetParameters", {"stepFunctionStateMachineParameters": how} if how else DROP)),
        edit(aws.POLICY, "piper", reworded("policy", "sqs:SendMessage", action), reworded("policy", ORDERS, STARTED)),
    )  # fmt: skip


MAPPING, TASK = "aws:lambda/eventSourceMapping:EventSourceMapping", "aws:ecs/taskDefinition:TaskDefinition"
STREAM = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"
STARTER = "arn:aws:iam::123456789012:role/central-starter"
LESS = edit(aws.ATTACHMENT, "puller", put("policyArn", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly"))
ON_MACHINES = both(
    edit(TASK, "api", put("requiresCompatibilities", ["EC2"])),
    edit("aws:ecs/service:Service", "api", put("launchType", "EC2")),
)


PIPELINE, CONNECTED = "aws:codepipeline/pipeline:Pipeline", "codestar-connections:UseConnection"
ALLOWS = json.dumps({"Version": "2012-10-17",
                     "Statement": {"Effect": "Allow", "Action": "%s:UseConnection", "Resource": "*"}})  # fmt: skip
IN_BATCHES = edit(PIPELINE, "train", put("stages[1].actions[0].configuration.BatchEnabled", "true"))
BATCHES = edit(aws.POLICY, "conveyor", reworded("policy", "codebuild:StartBuild", "codebuild:StartBuildBatch"),
               reworded("policy", "codebuild:BatchGetBuilds", "codebuild:BatchGetBuildBatches"))  # fmt: skip
ELSEWHERE = edit(PIPELINE, "train", put("stages[1].actions[0].region", "eu-central-1"))
IN_THAT_REGION = edit(aws.POLICY, "conveyor",
                     reworded("policy", "arn:aws:codebuild:eu-west-1", "arn:aws:codebuild:eu-central-1"))  # fmt: skip


def connected(service):
    """The pipeline's role has its right to a connection in itself, by one of the names of the service."""
    return both(
        edit(aws.POLICY, "conveyor", reworded("policy", CONNECTED, "codebuild:ListProjects")),
        edit(aws.ROLE, "conveyor", put("inlinePolicies", [{"name": "connect", "policy": ALLOWS % service}])),
    )


def taken_by(role, service, **more):
    """A role that this service may take."""
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole", **more}
    return edit(aws.ROLE, role, put("assumeRolePolicy", json.dumps({"Version": "2012-10-17", "Statement": trust})))


def deployed_by(service):
    """A group of deployments, whose role this service may take."""
    return both(
        taken_by("builder", service),
        drop("aws:codebuild/project:Project", "tests"),
        beside("aws:codedeploy/deploymentGroup:DeploymentGroup", "own", aws.ROLE,
               {"appName": "own", "deploymentGroupName": "own", "serviceRoleArn": BUILDER}),
    )  # fmt: skip


BUILDER = "arn:aws:iam::123456789012:role/workshop-builder"


def with_an_external_id(role, service):
    """A role that a service may take where it says the account as an external id."""
    return taken_by(role, service, Condition={"StringEquals": {"sts:ExternalId": "111122223333"}})


CHECKED = edit("aws:lb/targetGroup:TargetGroup", "api", put("healthCheck.port", "8081"))
LET_IN = edit(aws.GROUP, "web", lambda inputs: inputs["ingress"][0].update(toPort=8081))


PAIRS = {
    "a permission on one stage": (
        W, edit(PERMISSION, "desk", reworded("sourceArn", "/*/GET/jobs", "/live/GET/jobs")),
        edit(PERMISSION, "desk", reworded("sourceArn", "/*/GET/jobs", "/live/POST/jobs")), "rights-delivery"),
    "a permission by the stage's ARN": (W, on_the_stage("/GET/*"), on_the_stage("/GET/job"), "rights-delivery"),
    "a function that is computed": (
        P, calls("{% $states.input.function %}"), calls("another-function"), "rights-role-lacks"),
    "a store in other subnets than who calls it": (
        S, let_out("10.80.0.0/23"), let_out("10.80.64.0/18"), "paths-call-closed"),
    "a state machine that a pipe waits for": (
        W, piped("states:StartSyncExecution"), piped("states:StartExecution"), "rights-role-lacks"),
    "a state machine that a pipe does not wait for": (
        W, piped("states:StartExecution", invocationType="FIRE_AND_FORGET"),
        piped("states:StartSyncExecution", invocationType="FIRE_AND_FORGET"), "rights-role-lacks"),
    "a consumer of a stream": (
        P, edit(MAPPING, "follow", put("eventSourceArn", f"{STREAM}/consumer/follow:1700000000")),
        edit(MAPPING, "follow", put("eventSourceArn", STREAM)), "rights-role-lacks"),
    "a log that the machine's role writes": (S, both(LESS, ON_MACHINES), LESS, "rights-role-lacks"),
    "a role of the rule": (
        P, both(edit(aws.TARGET, "arrived", put("roleArn", DROP)), edit(aws.RULE, "arrived", put("roleArn", STARTER))),
        edit(aws.TARGET, "arrived", put("roleArn", DROP)), "rights-role-missing"),
    "builds in batches": (W, both(IN_BATCHES, BATCHES), IN_BATCHES, "rights-role-lacks"),
    "an action in another region": (W, both(ELSEWHERE, IN_THAT_REGION), ELSEWHERE, "rights-role-lacks"),
    "a connection by its newer name, in the role itself": (
        W, connected("codeconnections"), connected("codedeploy"), "rights-role-lacks"),
    "a service by its name in a region": (
        W, deployed_by("codedeploy.eu-west-1.amazonaws.com"), deployed_by("codedeploy.eu-north-1.amazonaws.com"),
        "rights-role-untrusted"),
    "state machines by their name in a region": (
        P, taken_by("conductor", "states.eu-west-1.amazonaws.com"),
        taken_by("conductor", "states.eu-north-1.amazonaws.com"), "rights-role-untrusted"),
    "a delivery's external id": (
        P, with_an_external_id("deliverer", "firehose.amazonaws.com"),
        with_an_external_id("conductor", "states.amazonaws.com"), "rights-role-untrusted"),
    "a check on a port that no container maps": (S, both(CHECKED, LET_IN), CHECKED, "paths-health-check"),
}  # fmt: skip
"""The stack, what is right in it, what is wrong beside that, and the rule that says so."""


@pytest.mark.parametrize("what", PAIRS)
def test_what_is_right_is_not_told_and_what_is_wrong_beside_it_is(rehearsed, what):
    stack, right, wrong, rule = PAIRS[what]
    assert [str(finding) for finding in added(rehearsed, stack, right)] == []
    assert rule in {finding.rule for finding in added(rehearsed, stack, wrong)}
