"""Fifty-eight more, all in programs of somebody else's and in services that no environment here makes.

2 of the 20 that are refused and 7 of the 38 that are taken were told at first sight.
"""

from __future__ import annotations

import json
from typing import Any

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import Into, reworded
from tests.rehearsal.works.mistakes import DROP, Mistake, both, drop, edit, in_json, put

PIPE, SERV = "pipeline", "serving"
MAPPING = "aws:lambda/eventSourceMapping:EventSourceMapping"
MACHINE = "aws:sfn/stateMachine:StateMachine"
TABLE = "aws:dynamodb/table:Table"
FIREHOSE = "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream"
GLUE = "aws:glue/job:Job"
TASK = "aws:ecs/taskDefinition:TaskDefinition"
LB_TARGETS = "aws:lb/targetGroup:TargetGroup"
LB_RULE = "aws:lb/listenerRule:ListenerRule"
LISTENER = "aws:lb/listener:Listener"
WAF = "aws:wafv2/webAcl:WebAcl"
VARIANTS = "aws:sagemaker/endpointConfiguration:EndpointConfiguration"
REDIS = "aws:elasticache/replicationGroup:ReplicationGroup"
SEARCH = "aws:opensearch/domain:Domain"
SCALED = "aws:appautoscaling/target:Target"
RECORD = "aws:route53/record:Record"
QUEUE = "aws:sqs/queue:Queue"
DASH = "aws:cloudwatch/dashboard:Dashboard"


def states(change: Into) -> Into:
    """Changes what a state machine is told."""
    return in_json("definition", change)


def container(path: str, value: Any) -> Into:
    """Changes a task's first container."""

    def into(inputs: dict[str, Any]) -> None:
        held = json.loads(inputs["containerDefinitions"])
        put(path, value)(held[0])
        inputs["containerDefinitions"] = json.dumps(held)

    return into


REFUSED = [
    Mistake(
        "state-that-is-not-there",
        "Next names a state that there is not",
        edit(MACHINE, "train", states(put("States.Refresh.Next", "Finished"))),
        "states-definition",
        stack=PIPE,
    ),
    Mistake(
        "log-group-without-star",
        "state machine's log destination lacks :*",
        edit(MACHINE, "train", reworded("loggingConfiguration", ":*", "")),
        "states-log",
        stack=PIPE,
    ),
    Mistake(
        "attribute-not-indexed",
        "DynamoDB attribute that no key uses",
        edit(TABLE, "features", lambda i: i["attributes"].append({"name": "score", "type": "N"})),
        "dynamodb-attribute",
        stack=PIPE,
    ),
    Mistake(
        "stream-without-view",
        "stream enabled w/o view type",
        edit(TABLE, "features", put("streamViewType", DROP)),
        "dynamodb-stream",
        stack=PIPE,
    ),
    Mistake(
        "stream-without-position",
        "event source mapping w/o startingPosition",
        edit(MAPPING, "follow", put("startingPosition", DROP)),
        "lambda-mapping",
        stack=PIPE,
    ),
    Mistake(
        "batches-of-20000",
        "a mapping takes batches of 20000",
        edit(MAPPING, "follow", put("batchSize", 20000)),
        "aws-model",
        stack=PIPE,
    ),
    Mistake(
        "prefix-without-error-prefix",
        "firehose prefix with expressions, no error prefix",
        edit(FIREHOSE, "events", put("extendedS3Configuration.errorOutputPrefix", DROP)),
        "firehose-prefix",
        stack=PIPE,
    ),
    Mistake(
        "buffer-of-200",
        "firehose buffers 200 MB",
        edit(FIREHOSE, "events", put("extendedS3Configuration.bufferingSize", 200)),
        "firehose-buffer",
        stack=PIPE,
    ),
    Mistake(
        "workers-and-capacity",
        "a job of Glue with capacity and workers",
        edit(GLUE, "prepare", put("maxCapacity", 10)),
        "glue-capacity",
        stack=PIPE,
    ),
    Mistake(
        "fargate-memory",
        "1 vCPU with 1 GB on Fargate",
        edit(TASK, "api", put("memory", "1024")),
        "ecs-fargate",
        stack=SERV,
    ),
    Mistake(
        "fargate-bridge",
        "Fargate with bridge network",
        edit(TASK, "api", put("networkMode", "bridge")),
        "ecs-service",
        stack=SERV,
    ),
    Mistake(
        "instances-for-awsvpc",
        "target type instance for awsvpc service",
        edit(LB_TARGETS, "api", put("targetType", "instance")),
        "ecs-service",
        stack=SERV,
    ),
    Mistake(
        "timeout-over-interval",
        "health check timeout not below interval",
        edit(LB_TARGETS, "api", put("healthCheck.timeout", 20)),
        "lb-health-check",
        stack=SERV,
    ),
    Mistake(
        "https-without-certificate",
        "HTTPS listener without certificate",
        edit(LISTENER, "https", put("certificateArn", DROP)),
        "lb-certificate",
        stack=SERV,
    ),
    Mistake(
        "balancer-of-one-zone",
        "ALB in one subnet",
        edit("aws:lb/loadBalancer:LoadBalancer", "api", lambda i: i["subnets"].pop()),
        "lb-zones",
        stack=SERV,
    ),
    Mistake(
        "search-on-a-plain-machine",
        "a search's machine without its ending",
        edit(SEARCH, "vectors", put("clusterConfig.instanceType", "r7g.large")),
        "aws-model",
        stack=SERV,
    ),
    Mistake(
        "failover-of-one",
        "automatic failover with one node",
        edit(REDIS, "answers", put("numCacheClusters", 1)),
        "cache-failover",
        stack=SERV,
    ),
    Mistake(
        "family-of-redis7",
        "parameter group of another family",
        edit("aws:elasticache/parameterGroup:ParameterGroup", "answers", put("family", "redis7")),
        "cache-family",
        stack=SERV,
    ),
    Mistake(
        "rate-of-5",
        "WAF rate limit of 5",
        edit(WAF, "api", put("rules[0].statement.rateBasedStatement.limit", 5)),
        "aws-model",
        stack=SERV,
    ),
    Mistake(
        "wall-of-cloudfront",
        "WAF ACL scope CLOUDFRONT for a load balancer",
        edit(WAF, "api", put("scope", "CLOUDFRONT")),
        "waf-scope",
        stack=SERV,
    ),
]
"""What AWS or the provider refuses."""

SILENT = [
    Mistake(
        "role-not-handed-on",
        "the state machine may not hand its role on to SageMaker",
        edit(aws.POLICY, "conductor", reworded("policy", "iam:PassRole", "iam:GetRole")),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "sync-without-events",
        "conductor may not make the managed rule of .sync",
        edit(
            aws.POLICY,
            "conductor",
            reworded("policy", "StepFunctionsGetEventsForSageMaker", "StepFunctionsGetEventsForECS"),
        ),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "conductor-of-lambda",
        "the state machine's role is for Lambda",
        edit(aws.ROLE, "conductor", reworded("assumeRolePolicy", "states.amazonaws.com", "lambda.amazonaws.com")),
        "rights-role-untrusted",
        stack=PIPE,
    ),
    Mistake(
        "state-reached-by-none",
        "a state that nothing leads to",
        edit(MACHINE, "train", states(put("States.Enough.Choices[0].Next", "Done"))),
        "states-definition",
        stack=PIPE,
    ),
    Mistake(
        "job-of-another-name",
        "state machine starts a Glue job that there is not",
        edit(MACHINE, "train", states(put("States.Prepare.Parameters.JobName", "prepares"))),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "bucket-without-eventbridge",
        "rule waits for S3's events, bucket sends none",
        edit("aws:s3/bucketNotification:BucketNotification", "lake", put("eventbridge", False)),
        "programs-unheard",
        stack=PIPE,
    ),
    Mistake(
        "event-of-old-s3",
        "rule's detail type is ObjectCreated",
        edit(aws.RULE, "arrived", reworded("eventPattern", "Object Created", "ObjectCreated")),
        "programs-pattern",
        stack=PIPE,
    ),
    Mistake(
        "rule-of-another-bucket",
        "rule waits for another bucket",
        edit(aws.RULE, "arrived", reworded("eventPattern", "acme-pipeline-lake", "acme-pipeline-landing")),
        None,
        "a bucket of another stack's may be meant: its name is not nearly the one of this stack's",
        stack=PIPE,
    ),
    Mistake(
        "target-without-role",
        "rule's target state machine with no role",
        edit(aws.TARGET, "arrived", put("roleArn", DROP)),
        "rights-role-missing",
        stack=PIPE,
    ),
    Mistake(
        "starter-of-one-service",
        "starter trusts EventBridge alone, scheduler is not let in",
        edit(
            aws.ROLE,
            "starter",
            in_json("assumeRolePolicy", put("Statement[0].Principal.Service", "events.amazonaws.com")),
        ),
        "rights-role-untrusted",
        stack=PIPE,
    ),
    Mistake(
        "starter-starts-another",
        "starter may start another state machine",
        edit(aws.POLICY, "starter", reworded("policy", "stateMachine:train", "stateMachine:training")),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "filter-on-body-of-attributes",
        "body filter with scope of attributes",
        edit(aws.SUBSCRIPTION, "reports", put("filterPolicyScope", "MessageAttributes")),
        "programs-unheard",
        stack=PIPE,
    ),
    Mistake(
        "redrive-of-another",
        "dead letters are let in from another queue",
        edit(
            "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy",
            "inbox-dead",
            reworded("redriveAllowPolicy", ":reports", ":report"),
        ),
        "sqs-redrive",
        stack=PIPE,
    ),
    Mistake(
        "dead-letters-to-itself",
        "queue's dead letters go to itself",
        edit(QUEUE, "reports", reworded("redrivePolicy", "inbox-dead", "reports")),
        "sqs-redrive",
        stack=PIPE,
    ),
    Mistake(
        "mapped-without-rights",
        "function's role may not read the table's stream",
        edit(aws.POLICY, "follower", reworded("policy", "dynamodb:GetRecords", "dynamodb:GetItem")),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "failures-not-sent",
        "function's role may not send to the failure queue",
        edit(aws.POLICY, "follower", reworded("policy", "sqs:SendMessage", "sqs:ReceiveMessage")),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "crawls-elsewhere",
        "crawler crawls another bucket's prefix",
        edit("aws:glue/crawler:Crawler", "events", put("s3Targets[0].path", "s3://acme-pipeline-lakes/events/")),
        "reference-bucket",
        stack=PIPE,
    ),
    Mistake(
        "trigger-without-start",
        "Glue's trigger on schedule made inactive",
        edit("aws:glue/trigger:Trigger", "nightly", put("enabled", False)),
        "programs-switched-off",
        stack=PIPE,
    ),
    Mistake(
        "delivery-may-not-put",
        "the delivery's role may not put objects",
        edit(aws.POLICY, "deliverer", reworded("policy", "s3:PutObject", "s3:PutObjectAcl")),
        "rights-role-lacks",
        stack=PIPE,
    ),
    Mistake(
        "alarm-by-name",
        "alarm on a state machine by its name",
        edit(aws.ALARM, "train-failed", put("dimensions", {"StateMachineArn": "train"})),
        "aws-arn",
        stack=PIPE,
    ),
    Mistake(
        "alarm-on-executions",
        "metric is called ExecutionFailed",
        edit(aws.ALARM, "train-failed", put("metricName", "ExecutionFailed")),
        "programs-alarm",
        stack=PIPE,
    ),
    Mistake(
        "metric-filter-elsewhere",
        "alarm on the filter's metric in another namespace",
        edit(aws.ALARM, "delivery-errors", put("namespace", "Acme/Pipelines")),
        "programs-alarm",
        stack=PIPE,
    ),
    Mistake(
        "snapshots-of-nothing",
        "snapshots choose by a tag that no disk has",
        edit(
            "aws:dlm/lifecyclePolicy:LifecyclePolicy",
            "workstations",
            put("policyDetails.targetTags", {"keep": "nightly"}),
        ),
        "reference-backup",
        stack=PIPE,
    ),
    Mistake(
        "dashboard-of-another-region",
        "widget of another region",
        edit(DASH, "pipeline", in_json("dashboardBody", put("widgets[0].properties.region", "eu-west-2"))),
        "programs-alarm",
        stack=PIPE,
    ),
    Mistake(
        "port-of-another-container",
        "the target group checks on a port that is closed",
        edit(LB_TARGETS, "api", put("healthCheck.port", "8081")),
        "paths-health-check",
        stack=SERV,
    ),
    Mistake(
        "edge-may-not-reach",
        "the service's group lets in another port",
        edit(aws.GROUP, "web", put("ingress[0].fromPort", 80), put("ingress[0].toPort", 80)),
        "paths-call-closed",
        stack=SERV,
    ),
    Mistake(
        "rule-of-another-host",
        "listener rule for a host that no record names",
        edit(LB_RULE, "predict", put("conditions[1].hostHeader.values", ["api.serving.acme.com"])),
        None,
        "a name of the host may be written elsewhere: it ends otherwise than the stack's own",
        stack=SERV,
    ),
    Mistake(
        "puller-may-not-read",
        "execution role may not read the secret",
        drop(aws.POLICY, "puller"),
        "rights-role-lacks",
        stack=SERV,
    ),
    Mistake(
        "asker-may-not-ask",
        "the task's role trusts ECS and not its tasks",
        edit(aws.ROLE, "asker", reworded("assumeRolePolicy", "ecs-tasks", "ecs")),
        "rights-role-untrusted",
        stack=SERV,
    ),
    Mistake(
        "logs-of-no-group",
        "awslogs-group that there is not",
        edit(TASK, "api", container("logConfiguration.options.awslogs-group", "/ecs/apis")),
        "reference-name",
        stack=SERV,
    ),
    Mistake(
        "endpoint-without-model",
        "variant's model is another name",
        edit(VARIANTS, "ranker", put("productionVariants[0].modelName", "rankers")),
        "reference-name",
        stack=SERV,
    ),
    Mistake(
        "scaled-variant",
        "scalable target of a variant that is not there",
        edit(SCALED, "ranker", reworded("resourceId", "variant/all", "variant/AllTraffic")),
        "reference-name",
        stack=SERV,
    ),
    Mistake(
        "redis-closed",
        "store lets in redis from nobody",
        edit(aws.GROUP, "store", lambda i: i["ingress"].pop(0)),
        "paths-call-closed",
        stack=SERV,
    ),
    Mistake(
        "hook-may-not-tell",
        "lifecycle hook's role trusts ec2",
        edit(aws.ROLE, "teller", reworded("assumeRolePolicy", "autoscaling.amazonaws.com", "ec2.amazonaws.com")),
        "rights-role-untrusted",
        stack=SERV,
    ),
    Mistake(
        "scaled-to-six-of-four",
        "scheduled size above the group's maximum",
        edit("aws:autoscaling/schedule:Schedule", "evening", put("maxSize", 4)),
        "scaling-schedule",
        stack=SERV,
    ),
    Mistake(
        "stage-never-deployed",
        "stage without auto deploy",
        edit("aws:apigatewayv2/stage:Stage", "names", put("autoDeploy", False)),
        "programs-switched-off",
        stack=SERV,
    ),
    Mistake(
        "permission-of-unqualified",
        "permission on the function, the API calls the alias",
        edit("aws:lambda/permission:Permission", "names", put("qualifier", DROP)),
        "rights-delivery",
        stack=SERV,
    ),
    Mistake(
        "proof-of-nothing",
        "certificate is validated by no record",
        both(drop(RECORD, "proof"), drop("aws:acm/certificateValidation:CertificateValidation", "api")),
        "reference-certificate",
        stack=SERV,
    ),
]
"""What is taken, and does not work."""

MISTAKES = [*REFUSED, *SILENT]

AT_FIRST_SIGHT = frozenset(
    {
        "stream-without-position",
        "batches-of-20000",
        "conductor-of-lambda",
        "event-of-old-s3",
        "starter-of-one-service",
        "filter-on-body-of-attributes",
        "alarm-by-name",
        "dashboard-of-another-region",
        "asker-may-not-ask",
    }
)
MISSED = frozenset(one.name for one in MISTAKES) - AT_FIRST_SIGHT
"""What was not told before anything was mended."""
