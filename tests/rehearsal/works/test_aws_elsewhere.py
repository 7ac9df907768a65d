"""Mistakes in services of AWS that no environment here makes, all in programs of other people; what is right there."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_aws_seventh, mistakes_aws_sixth
from tests.rehearsal.works.aws_changes import reworded
from tests.rehearsal.works.mistakes import DROP, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_breadth import beside
from tests.rehearsal.works.test_aws_services import added, adds, of
from tests.rehearsal.works.together import told_together

MISTAKES = [*mistakes_aws_sixth.MISTAKES, *mistakes_aws_seventh.MISTAKES]
P, S, W = "pipeline", "serving", "workshop"
MACHINE = "aws:sfn/stateMachine:StateMachine"
TG = "aws:lb/targetGroup:TargetGroup"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{one.stack}-{one.name}")
def test_a_mistake_is_told_or_cannot_be_known(rehearsed, mistake):
    if mistake.rule:
        assert adds(rehearsed, mistake.stack, mistake.change, mistake.rule)
    else:
        assert mistake.why and added(rehearsed, mistake.stack, mistake.change) == set()


def test_each_mistake_has_a_name_of_its_own():
    assert {name for name, times in Counter(one.name for one in MISTAKES).items() if times > 1} == set()


def trust(service, **condition):
    """A trust policy of a service that is held to something."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


JSONATA = json.dumps(
    {
        "QueryLanguage": "JSONata",
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "ItemProcessor": {
                    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                    "StartAt": "One",
                    "States": {
                        "One": {
                            "Type": "Task",
                            "Resource": "arn:aws:states:::sagemaker:createTrainingJob",
                            "Arguments": "{% $states.input %}",
                            "End": True,
                        }
                    },
                },
                "ItemReader": {
                    "Resource": "arn:aws:states:::s3:listObjectsV2",
                    "Arguments": {"Bucket": "acme-pipeline-lake"},
                },
                "Assign": {"n": "{% 1 %}"},
                "Next": "Again",
            },
            "Again": {"Type": "Choice", "Choices": [{"Condition": "{% $n > 3 %}", "Next": "Each"}], "Default": "Wait"},
            "Wait": {"Type": "Wait", "Seconds": "{% 5 %}", "Next": "Par"},
            "Par": {
                "Type": "Parallel",
                "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}],
                "End": True,
            },
        },
    }
)
EVERYTHING = json.dumps({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}})
SOUND = {
    "trust with a source": (
        P,
        edit(
            aws.ROLE,
            "conductor",
            put(
                "assumeRolePolicy",
                trust(
                    "states.amazonaws.com",
                    ArnLike={"aws:SourceArn": "arn:aws:states:eu-west-1:111122223333:stateMachine:*"},
                    StringEquals={"aws:SourceAccount": "111122223333"},
                ),
            ),
        ),
    ),
    "trust of a schedule with a source": (
        P,
        edit(
            aws.ROLE,
            "starter",
            put(
                "assumeRolePolicy",
                trust(
                    ["scheduler.amazonaws.com", "events.amazonaws.com"],
                    StringEquals={"aws:SourceAccount": "111122223333"},
                ),
            ),
        ),
    ),
    "firehose with a source account": (
        P,
        edit(
            aws.ROLE,
            "deliverer",
            put("assumeRolePolicy", trust("firehose.amazonaws.com", StringEquals={"sts:ExternalId": "111122223333"})),
        ),
    ),
    "all may": (
        P,
        both(
            edit(aws.POLICY, "conductor", put("policy", EVERYTHING)),
            edit(aws.POLICY, "starter", put("policy", EVERYTHING)),
            edit(aws.POLICY, "deliverer", put("policy", EVERYTHING)),
            edit(aws.POLICY, "follower", put("policy", EVERYTHING)),
        ),
    ),
    "jsonata": (P, edit(MACHINE, "train", put("definition", JSONATA))),
    "express": (
        P,
        edit(
            MACHINE,
            "train",
            put("type", "EXPRESS"),
            put(
                "definition",
                json.dumps(
                    {
                        "StartAt": "Call",
                        "States": {
                            "Call": {
                                "Type": "Task",
                                "Resource": "arn:aws:states:::aws-sdk:dynamodb:getItem",
                                "Parameters": {"TableName": "features", "Key": {"entity": {"S.$": "$.id"}}},
                                "End": True,
                            }
                        },
                    }
                ),
            ),
        ),
    ),
    "sdk in yaml-like": (
        P,
        edit(
            MACHINE,
            "train",
            in_json(
                "definition",
                lambda d: d["States"]["Done"].update(
                    {
                        "Type": "Task",
                        "Resource": "arn:aws:states:::aws-sdk:sagemaker:listTrainingJobs",
                        "Parameters": {"MaxResults": 10},
                        "End": True,
                    }
                ),
            ),
        ),
    ),
    "activity": (
        P,
        edit(
            MACHINE,
            "train",
            in_json(
                "definition",
                lambda d: d["States"]["Refresh"].update(
                    {"Resource": "arn:aws:states:eu-west-1:123456789012:activity:label", "Parameters": {"x": 1}}
                ),
            ),
        ),
    ),
    "a lambda itself": (
        P,
        edit(
            MACHINE,
            "train",
            in_json(
                "definition",
                lambda d: d["States"]["Refresh"].update(
                    {"Resource": "arn:aws:lambda:eu-west-1:123456789012:function:follow", "Parameters": {"x": 1}}
                ),
            ),
        ),
    ),
    "another account's topic": (
        P,
        edit(MACHINE, "train", in_json("definition", put("States.TellFailed.Parameters.Subject", "x"))),
    ),
    "provisioned table": (
        P,
        edit(
            "aws:dynamodb/table:Table",
            "features",
            put("billingMode", "PROVISIONED"),
            put("readCapacity", 5),
            put("writeCapacity", 5),
            put("globalSecondaryIndexes[0].readCapacity", 1),
            put("globalSecondaryIndexes[0].writeCapacity", 1),
        ),
    ),
    "plain stream": (
        P,
        edit("aws:kinesis/stream:Stream", "events", put("streamModeDetails", DROP), put("shardCount", 4)),
    ),
    "shell of python": (
        P,
        edit(
            "aws:glue/job:Job",
            "prepare",
            put("workerType", DROP),
            put("numberOfWorkers", DROP),
            put("maxCapacity", 0.0625),
            put("command.name", "pythonshell"),
            put("command.pythonVersion", "3.9"),
            put("glueVersion", DROP),
        ),
    ),
    "sister group": (
        P,
        beside(
            aws.ALARM,
            "other",
            aws.ALARM,
            {
                "name": "other",
                "namespace": "Acme/Pipeline2",
                "metricName": "Rows",
                "statistic": "Sum",
                "period": 60,
                "evaluationPeriods": 1,
                "threshold": 1,
                "comparisonOperator": "GreaterThanThreshold",
                "alarmActions": ["arn:aws:sns:eu-west-1:210987654321:central"],
            },
        ),
    ),
    "sister bucket": (
        P,
        edit("aws:glue/crawler:Crawler", "events", put("s3Targets[0].path", "s3://acme-pipeline-lake-2/events/")),
    ),
    "sisters of teams": (
        P,
        edit("aws:glue/crawler:Crawler", "events", put("s3Targets[0].path", "s3://acme-pipeline-b/events/")),
    ),
    "rule for every bucket": (
        P,
        edit(aws.RULE, "arrived", in_json("eventPattern", lambda d: d["detail"].pop("bucket"))),
    ),
    "rule for a prefix of buckets": (
        P,
        edit(aws.RULE, "arrived", in_json("eventPattern", put("detail.bucket.name", [{"prefix": "acme-"}]))),
    ),
    "redrive for all": (
        P,
        edit(
            "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy",
            "inbox-dead",
            put("redriveAllowPolicy", json.dumps({"redrivePermission": "allowAll"})),
        ),
    ),
    "dlm by tags of templates": (
        P,
        both(
            edit(
                "aws:dlm/lifecyclePolicy:LifecyclePolicy",
                "workstations",
                put("policyDetails.targetTags", {"other": "x"}),
            ),
            drop("aws:ebs/volume:Volume", "workstation"),
        ),
    ),
    "no mail": (P, edit(aws.TARGET, "arrived", put("retryPolicy", DROP))),
    "firehose direct": (
        P,
        edit(
            "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream",
            "events",
            put("kinesisSourceConfiguration", DROP),
            put("extendedS3Configuration.prefix", "raw/"),
            put("extendedS3Configuration.errorOutputPrefix", DROP),
        ),
    ),
    "ecs on machines": (
        S,
        both(
            edit(
                "aws:ecs/taskDefinition:TaskDefinition",
                "api",
                put("requiresCompatibilities", ["EC2"]),
                put("networkMode", "bridge"),
                put("cpu", DROP),
                put("memory", DROP),
                in_json(
                    "containerDefinitions",
                    lambda d: d[0].update(memory=2048, cpu=512, portMappings=[{"containerPort": 8080, "hostPort": 0}]),
                ),
            ),
            edit("aws:ecs/service:Service", "api", put("launchType", "EC2"), put("networkConfiguration", DROP)),
            edit(TG, "api", put("targetType", "instance")),
            drop("aws:appautoscaling/policy:Policy", "api"),
            drop("aws:appautoscaling/target:Target", "api"),
        ),
    ),
    "fargate in words": (
        S,
        edit("aws:ecs/taskDefinition:TaskDefinition", "api", put("cpu", "1 vCPU"), put("memory", "4 GB")),
    ),
    "a sidecar": (
        S,
        edit(
            "aws:ecs/taskDefinition:TaskDefinition",
            "api",
            in_json(
                "containerDefinitions",
                lambda d: d.append(
                    {
                        "name": "proxy",
                        "image": "public.ecr.aws/nginx/nginx:1.29",
                        "essential": False,
                        "dependsOn": [{"containerName": "api", "condition": "START"}],
                        "healthCheck": {"command": ["CMD-SHELL", "true"], "interval": 30},
                        "linuxParameters": {"initProcessEnabled": True},
                        "ulimits": [{"name": "nofile", "softLimit": 1024, "hardLimit": 2048}],
                        "user": "1000",
                        "readonlyRootFilesystem": True,
                    }
                ),
            ),
        ),
    ),
    "logs of firelens": (
        S,
        edit(
            "aws:ecs/taskDefinition:TaskDefinition",
            "api",
            in_json(
                "containerDefinitions",
                lambda d: d[0].update(
                    logConfiguration={
                        "logDriver": "awsfirelens",
                        "options": {"Name": "cloudwatch", "log_group_name": "/ecs/apis"},
                    }
                ),
            ),
        ),
    ),
    "health on the traffic port": (S, edit(TG, "api", put("healthCheck.port", "traffic-port"))),
    "redirect": (
        S,
        beside(
            "aws:lb/listener:Listener",
            "http",
            "aws:lb/listener:Listener",
            {
                "loadBalancerArn": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/x/0",
                "port": 80,
                "protocol": "HTTP",
                "defaultActions": [
                    {"type": "redirect", "redirect": {"port": "443", "protocol": "HTTPS", "statusCode": "HTTP_301"}}
                ],
            },
        ),
    ),
    "network balancer": (
        S,
        both(
            beside(
                "aws:lb/loadBalancer:LoadBalancer",
                "nlb",
                "aws:lb/loadBalancer:LoadBalancer",
                {"name": "nlb", "loadBalancerType": "network", "subnets": ["subnet-1"], "internal": True},
            ),
            beside(
                TG,
                "nlb",
                TG,
                {
                    "name": "nlb",
                    "port": 443,
                    "protocol": "TCP",
                    "vpcId": "vpc-1",
                    "targetType": "alb",
                    "healthCheck": {"protocol": "HTTPS", "path": "/healthz"},
                },
            ),
        ),
    ),
    "a group of functions": (
        S,
        beside(TG, "fn", TG, {"name": "fn", "targetType": "lambda", "lambdaMultiValueHeadersEnabled": True}),
    ),
    "cluster mode": (
        S,
        edit(
            "aws:elasticache/replicationGroup:ReplicationGroup",
            "answers",
            put("numCacheClusters", DROP),
            put("numNodeGroups", 3),
            put("replicasPerNodeGroup", 1),
        ),
    ),
    "redis 6.2": (
        S,
        both(
            edit(
                "aws:elasticache/replicationGroup:ReplicationGroup",
                "answers",
                put("engine", "redis"),
                put("engineVersion", "6.2"),
            ),
            edit("aws:elasticache/parameterGroup:ParameterGroup", "answers", put("family", "redis6.x")),
        ),
    ),
    "one node search": (
        S,
        edit(
            "aws:opensearch/domain:Domain",
            "vectors",
            put("clusterConfig", {"instanceType": "or1.medium.search", "instanceCount": 1}),
            lambda i: i["vpcOptions"]["subnetIds"].pop(),
        ),
    ),
    "search with own disks": (
        S,
        edit(
            "aws:opensearch/domain:Domain",
            "vectors",
            put("ebsOptions", {"ebsEnabled": False}),
            put("clusterConfig.instanceType", "i4i.large.search"),
        ),
    ),
    "newer machines": (
        S,
        both(
            edit("aws:elasticache/replicationGroup:ReplicationGroup", "answers", put("nodeType", "cache.r8g.large")),
            edit("aws:opensearch/domain:Domain", "vectors", put("clusterConfig.instanceType", "r8g.large.search")),
        ),
    ),
    "waf of managed rules": (
        S,
        edit(
            "aws:wafv2/webAcl:WebAcl",
            "api",
            lambda i: i["rules"].append(
                {
                    "name": "common",
                    "priority": 5,
                    "overrideAction": {"none": {}},
                    "statement": {
                        "managedRuleGroupStatement": {
                            "name": "AWSManagedRulesCommonRuleSet",
                            "vendorName": "AWS",
                            "ruleActionOverrides": [{"name": "SizeRestrictions_BODY", "actionToUse": {"count": {}}}],
                        }
                    },
                    "visibilityConfig": {
                        "cloudwatchMetricsEnabled": True,
                        "metricName": "common",
                        "sampledRequestsEnabled": True,
                    },
                }
            ),
        ),
    ),
    "host of elsewhere": (
        S,
        edit(
            "aws:lb/listenerRule:ListenerRule",
            "predict",
            put("conditions[1].hostHeader.values", ["api.acme.example", "*.serving.acme.example"]),
        ),
    ),
    "serverless variant": (
        S,
        both(
            edit(
                "aws:sagemaker/endpointConfiguration:EndpointConfiguration",
                "ranker",
                put(
                    "productionVariants",
                    [
                        {
                            "variantName": "all",
                            "modelName": "ranker",
                            "serverlessConfig": {"maxConcurrency": 5, "memorySizeInMb": 3072},
                        }
                    ],
                ),
            ),
            drop("aws:appautoscaling/policy:Policy", "ranker"),
            drop("aws:appautoscaling/target:Target", "ranker"),
        ),
    ),
    "imported certificate": (
        S,
        beside(
            "aws:acm/certificate:Certificate",
            "imported",
            "aws:acm/certificate:Certificate",
            {"certificateBody": "x", "privateKey": "y"},
        ),
    ),
    "only made bigger": (
        S,
        edit(
            "aws:autoscaling/schedule:Schedule",
            "evening",
            put("minSize", -1),
            put("maxSize", -1),
            put("desiredCapacity", 6),
        ),
    ),
    "a shell in tasks": (S, edit("aws:ecs/service:Service", "api", put("enableExecuteCommand", True))),
    "function by url": (
        S,
        beside(
            "aws:lambda/permission:Permission",
            "url",
            "aws:lambda/permission:Permission",
            {
                "action": "lambda:InvokeFunctionUrl",
                "function": "names",
                "principal": "*",
                "functionUrlAuthType": "NONE",
            },
        ),
    ),
    "websocket": (
        S,
        both(
            beside(
                "aws:apigatewayv2/api:Api",
                "ws",
                "aws:apigatewayv2/api:Api",
                {"name": "ws", "protocolType": "WEBSOCKET", "routeSelectionExpression": "$request.body.action"},
            ),
            beside(
                "aws:apigatewayv2/route:Route",
                "ws",
                "aws:apigatewayv2/route:Route",
                {"apiId": "ws", "routeKey": "$connect"},
            ),
        ),
    ),
    "pipeline of two regions": (
        W,
        edit(
            "aws:codepipeline/pipeline:Pipeline",
            "train",
            put(
                "artifactStores",
                [
                    {"type": "S3", "location": "acme-workshop-store", "region": "eu-west-1"},
                    {"type": "S3", "location": "acme-workshop-us", "region": "us-east-1"},
                ],
            ),
        ),
    ),
    "built twice in a stage": (
        W,
        edit(
            "aws:codepipeline/pipeline:Pipeline", "train", put("stages[2].actions[1].inputArtifacts", ["wheel", "code"])
        ),
    ),
    "six brokers": (
        W,
        edit("aws:msk/cluster:Cluster", "features", put("numberOfBrokerNodes", 6), put("kafkaVersion", "4.0.x.kraft")),
    ),
    "any method": (W, edit("aws:lambda/permission:Permission", "desk", put("sourceArn", DROP))),
    "four units": (W, edit("aws:redshiftserverless/workgroup:Workgroup", "models", put("baseCapacity", 4))),
    "queue read by another action list": (
        W,
        edit(aws.POLICY, "clerk", reworded("policy", "sqs:ReceiveMessage", "sqs:*")),
    ),
}


@pytest.mark.parametrize("what", SOUND)
def test_what_is_unusual_and_right_is_not_told(rehearsed, what):
    stack, _ = SOUND[what]

    def judged(resources):
        return [str(finding) for finding in added(rehearsed, stack, lambda _: list(resources))]

    changes = {which: change for which, (of_stack, change) in SOUND.items() if of_stack == stack}
    sound = of(rehearsed, stack)[0].known.resources
    assert told_together((__name__, stack), what, sound, changes, judged) == []


FUNCTION, PERMISSION = "aws:lambda/function:Function", "aws:lambda/permission:Permission"
URL = "aws:lambda/functionUrl:FunctionUrl"
SLOW = edit(FUNCTION, "names", put("timeout", 40))


def _nightly(resources):
    """A schedule that calls the function too."""
    function = next(one for one in resources if (one.type, one.name) == (FUNCTION, "names"))
    target = {"arn": function.outputs["arn"], "roleArn": "arn:aws:iam::123456789012:role/nightly"}
    return beside("aws:scheduler/schedule:Schedule", "nightly", FUNCTION, {"target": target})(resources)


@pytest.mark.parametrize(
    ("change", "is_told"),
    [
        pytest.param(SLOW, True, id="a function may take longer than the API waits"),
        pytest.param(edit(FUNCTION, "names", put("timeout", 21)), False, id="just as long"),
        pytest.param(
            both(SLOW, edit("aws:apigatewayv2/integration:Integration", "names", put("timeoutMilliseconds", DROP))),
            True,
            id="thirty seconds where nobody says",
        ),
        pytest.param(
            both(SLOW, beside(URL, "direct", FUNCTION, {"functionName": "names", "authorizationType": "AWS_IAM"})),
            False,
            id="somebody else asks it directly",
        ),
        pytest.param(
            both(SLOW, _nightly),
            False,
            id="a schedule calls it by its role",
        ),
        pytest.param(
            both(SLOW, edit("aws:apigatewayv2/api:Api", "names", put("protocolType", "WEBSOCKET"))),
            False,
            id="an API of WebSockets is answered later",
        ),
        pytest.param(
            both(SLOW, edit(PERMISSION, "names", put("principal", "events.amazonaws.com"))), False, id="events call it"
        ),
    ],
)
def test_a_function_is_waited_for_as_long_as_the_api_waits(rehearsed, change, is_told):
    assert ("programs-timeout" in {finding.rule for finding in added(rehearsed, S, change)}) == is_told


def of_anything(*actions):
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": "*"}]}
    )


@pytest.mark.parametrize(
    ("policy", "is_told"),
    [
        (of_anything("batch:DescribeJobs"), True),
        (of_anything("batch:SubmitJob"), False),
        (of_anything("batch:*"), False),
        (of_anything("*"), False),
        (json.dumps({"Statement": {"Effect": "Deny", "Action": "batch:SubmitJob", "Resource": "*"}}), True),
        (json.dumps({"Statement": {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}}), False),
    ],
)
def test_a_policy_of_every_resource_is_none_of_every_action(rehearsed, policy, is_told):
    change = edit(aws.POLICY, "starter", put("policy", policy))
    assert ("rights-role-lacks" in {finding.rule for finding in added(rehearsed, "keeping", change)}) == is_told
