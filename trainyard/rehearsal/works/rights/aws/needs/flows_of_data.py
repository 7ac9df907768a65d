"""What state machines, streams, tasks and groups of machines do with their roles, as they say themselves.

Sources: AWS Step Functions Developer Guide, "IAM policies for integrated services" (a call with `.sync` follows its job
by a rule of EventBridge, a role that is handed on is passed) and "Logging using CloudWatch Logs"; AWS Lambda Developer
Guide, "Event source mappings" for DynamoDB and Kinesis, "Asynchronous invocation"; Amazon Data Firehose Developer
Guide, "Grant Firehose access to an Amazon S3 destination"; Amazon ECS Developer Guide, "Task execution IAM role";
Amazon EC2 Auto Scaling User Guide, "Configure a notification target for a lifecycle hook" (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.types import (
    BATCH_DEFINITION,
    BATCH_QUEUE,
    EVENT_RULE,
    EVENT_SOURCE_MAPPING,
    EVENT_TARGET,
    FUNCTION,
    LIFECYCLE_HOOK,
    QUEUE,
    SNS_TOPIC,
)
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.refusals.aws.containers import containers
from trainyard.rehearsal.refusals.aws.state_machines import CALL, STATE_MACHINE, tasks
from trainyard.rehearsal.refusals.aws.streams import FIREHOSE
from trainyard.rehearsal.refusals.aws.texts import TASK
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.needs.services import words

RULE: Final = "rights-role-lacks"
_ASYNC: Final = "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig"
_FOLLOWED: Final = {
    ("sagemaker", "createTrainingJob"): "StepFunctionsGetEventsForSageMakerTrainingJobsRule",
    ("sagemaker", "createTransformJob"): "StepFunctionsGetEventsForSageMakerTransformJobsRule",
    ("sagemaker", "createHyperParameterTuningJob"): "StepFunctionsGetEventsForSageMakerTuningJobsRule",
    ("batch", "submitJob"): "StepFunctionsGetEventsForBatchJobsRule",
    ("ecs", "runTask"): "StepFunctionsGetEventsForECSTaskRule",
    ("states", "startExecution"): "StepFunctionsGetEventsForStepFunctionsExecutionRule",
    ("codebuild", "startBuild"): "StepFunctionsGetEventForCodeBuildStartBuildRule",
}
"""The rule by which Step Functions hears of the end of what it started."""
_JOBS: Final = {
    "createTrainingJob": ("training-job", "TrainingJobName"),
    "createTransformJob": ("transform-job", "TransformJobName"),
    "createProcessingJob": ("processing-job", "ProcessingJobName"),
    "createHyperParameterTuningJob": ("hyper-parameter-tuning-job", "HyperParameterTuningJobName"),
}
_TARGETS_WITH_ROLES: Final = re.compile(
    r"arn:[\w-]+:(states:.*:stateMachine:|batch:.*:job-queue/|ecs:.*:cluster/|kinesis:.*:stream/|firehose:.*:deliverystream/"
    r"|codebuild:.*:project/|codepipeline:|sagemaker:.*:pipeline/|ssm:.*:(document|automation-definition)/|events:.*:api-destination/)"
)
"""Targets of EventBridge that are called with a role, and with none not at all."""


def needs(places: Places) -> Iterator[Need]:
    """What each of them needs; a target that is called with a role and has none is told at once."""
    for machine in places.stack.of_type(STATE_MACHINE):
        yield from _conducted(places, machine)
    for mapping in places.stack.of_type(EVENT_SOURCE_MAPPING):
        yield from _followed(places, mapping)
    for config in places.stack.of_type(_ASYNC):
        yield from _handed_on(
            places,
            config,
            config.referred("functionName", FUNCTION),
            "destinationConfig.onFailure.destination",
            "destinationConfig.onSuccess.destination",
        )
    for function in places.stack.of_type(FUNCTION):
        yield from _handed_on(places, function, function, "deadLetterConfig.targetArn")
    for task in places.stack.of_type(TASK):
        yield from _started(places, task)
    for stream in places.stack.of_type(FIREHOSE):
        yield from _delivered(places, stream)
    for hook in places.stack.of_type(LIFECYCLE_HOOK):
        yield from _told(places, hook)
    for target in places.stack.of_type(EVENT_TARGET):
        arn = target.text("arn") or ""
        rule = target.referred("rule", EVENT_RULE)
        has_role = target.has("roleArn") or (rule is not None and rule.has("roleArn"))
        if _TARGETS_WITH_ROLES.match(arn) and not has_role:
            target.error(
                "rights-role-missing",
                "roleArn",
                "is missing: EventBridge calls such a target with a role alone",
                allowed="a role that EventBridge may take, here or of its rule",
            )


def need(
    places: Places, view: View, path: str, role: str | None, purpose: str, deeds: list[Deed], what: str = ""
) -> Iterator[Need]:
    """What a role of the stack has to be allowed for a purpose; nothing where the role is not known."""
    taken = places.role(role or "")
    if taken is not None and deeds:
        found, caller = taken
        by = f"{what or words(view)}, with role {found.name},"
        yield Need(view, path, RULE, (caller,), by, purpose, tuple(deeds))


def arn_in(places: Places, service: str, part: str, region: str = "") -> str:
    """The ARN of something in the account of the stack, and in its region unless another is named."""
    return f"arn:{places.partition}:{service}:{region or places.region}:{places.account.id}:{part}"


def _conducted(places: Places, machine: View) -> Iterator[Need]:
    role = machine.text("roleArn")
    for at, resource, given in tasks(machine):
        deeds = list(_deeds(places, resource, given or {}))
        yield from need(places, machine, f"definition.{at}", role, f"do {at.rpartition('.')[2]}", deeds)
    level = machine.text("loggingConfiguration.level")
    if level not in (None, "OFF"):
        logs = [
            Deed(f"logs:{action}") for action in ("CreateLogDelivery", "PutResourcePolicy", "DescribeResourcePolicies")
        ]
        yield from need(places, machine, "loggingConfiguration", role, "write its log", logs)


def _deeds(places: Places, resource: str, given: Mapping[str, Any]) -> Iterator[Deed]:
    if ":lambda:" in resource and ":function:" in resource:
        yield Deed("lambda:InvokeFunction", resource)
        return
    call = CALL.fullmatch(resource)
    if call is None or ":aws-sdk:" in resource:
        return
    service, action, way = call.groups()
    sync = (way or "").startswith("sync")
    # What JSONata computes is known when it runs.
    name = {key: value for key, value in given.items() if isinstance(value, str) and not value.startswith("{%")}
    if service == "lambda" and action == "invoke" and "FunctionName" in name:
        called = name["FunctionName"]
        yield Deed(
            "lambda:InvokeFunction",
            called if called.startswith("arn:") else arn_in(places, "lambda", f"function:{called}"),
        )
    elif service == "glue" and action == "startJobRun" and "JobName" in name:
        for wanted in ("StartJobRun", *(("GetJobRun",) if sync else ())):
            yield Deed(f"glue:{wanted}", arn_in(places, "glue", f"job/{name['JobName']}"))
    elif service == "sns" and action == "publish" and "TopicArn" in name:
        yield Deed("sns:Publish", name["TopicArn"])
    elif service == "sqs" and action == "sendMessage" and "QueueUrl" in name:
        queue = next(
            (
                one
                for one in places.stack.of_type(QUEUE)
                if name["QueueUrl"] in (one.resource.id, one.resource.outputs.get("url"))
            ),
            None,
        )
        if queue is not None:
            yield Deed("sqs:SendMessage", str(queue.resource.outputs.get("arn")))
    elif service == "dynamodb" and "TableName" in name and not name["TableName"].startswith("arn:"):
        yield Deed(
            f"dynamodb:{action[0].upper()}{action[1:]}", arn_in(places, "dynamodb", f"table/{name['TableName']}")
        )
    elif service == "states" and action == "startExecution" and "StateMachineArn" in name:
        yield Deed("states:StartExecution", name["StateMachineArn"])
    elif service == "batch" and action == "submitJob":
        for key, type_ in (("JobQueue", BATCH_QUEUE), ("JobDefinition", BATCH_DEFINITION)):
            if name.get(key, "").startswith("arn:") and places.stack.of_type(type_):
                yield Deed("batch:SubmitJob", name[key], spellings=(re.sub(r":\d+$", "", name[key]), f"{name[key]}:1"))
    elif service == "sagemaker" and action in _JOBS:
        kind, key = _JOBS[action]
        if key in name:  # else it is computed, and whichever jobs the role may make may be meant
            called = f"sagemaker:{action[0].upper()}{action[1:]}"
            yield Deed(called, arn_in(places, "sagemaker", f"{kind}/{name[key].lower()}"))
        if "RoleArn" in name and places.role(name["RoleArn"]) is not None:
            yield Deed("iam:PassRole", name["RoleArn"], {"iam:PassedToService": "sagemaker.amazonaws.com"})
    rule = _FOLLOWED.get((service, action))
    if sync and rule is not None:
        for wanted in ("PutRule", "PutTargets"):
            yield Deed(f"events:{wanted}", arn_in(places, "events", f"rule/{rule}"))


def _followed(places: Places, mapping: View) -> Iterator[Need]:
    """A function reads its stream itself, and hands on what it cannot do."""
    function, source = mapping.referred("functionName", FUNCTION), mapping.text("eventSourceArn") or ""
    service = source.split(":")[2] if source.count(":") >= 5 else ""
    if function is None or "/consumer/" in source:  # a consumer is subscribed to, and its stream not read
        return
    wanted = {
        "dynamodb": ("GetRecords", "GetShardIterator", "DescribeStream"),
        "kinesis": ("GetRecords", "GetShardIterator"),
        "sqs": ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"),
    }.get(service, ())
    deeds = [Deed(f"{service}:{action}", source) for action in wanted]
    yield from need(
        places,
        mapping,
        "eventSourceArn",
        function.text("role"),
        "read what it is called for",
        deeds,
        f"function {function.name}",
    )
    yield from _handed_on(places, mapping, function, "destinationConfig.onFailure.destinationArn")


def _handed_on(places: Places, view: View, function: View | None, *paths: str) -> Iterator[Need]:
    for path in paths if function is not None else ():
        target = view.text(path) or ""
        service = target.split(":")[2] if target.count(":") >= 5 else ""
        action = {
            "sqs": "sqs:SendMessage",
            "sns": "sns:Publish",
            "events": "events:PutEvents",
            "lambda": "lambda:InvokeFunction",
            "s3": "",
        }.get(service)
        if action and function is not None:
            yield from need(
                places,
                view,
                path,
                function.text("role"),
                "hand on what failed",
                [Deed(action, target)],
                f"function {function.name}",
            )


def _started(places: Places, task: View) -> Iterator[Need]:
    """Who starts a task fetches its image and its secrets, and opens its log; on machines, their own role does that."""
    role = task.text("executionRoleArn")
    on_fargate = task.entries("requiresCompatibilities") == ["FARGATE"]
    for index, one in enumerate(containers(task)):
        at = f"containerDefinitions[{index}]"
        for secret in listed(one.get("secrets")):
            held = secret.get("valueFrom") if isinstance(secret, dict) else None
            if not isinstance(held, str):
                continue
            if ":secretsmanager:" in held:
                arn = ":".join(held.split(":")[:7])
                yield from need(
                    places, task, at, role, f"read {secret.get('name')}", [Deed("secretsmanager:GetSecretValue", arn)]
                )
            elif ":ssm:" in held or not held.startswith("arn:"):
                arn = held if held.startswith("arn:") else arn_in(places, "ssm", f"parameter/{held.lstrip('/')}")
                yield from need(places, task, at, role, f"read {secret.get('name')}", [Deed("ssm:GetParameters", arn)])
        logs = one.get("logConfiguration")
        options = logs.get("options") if isinstance(logs, dict) and logs.get("logDriver") == "awslogs" else None
        if on_fargate and isinstance(options, dict) and isinstance(options.get("awslogs-group"), str):
            group = arn_in(places, "logs", f"log-group:{options['awslogs-group']}")
            deeds = [
                Deed(f"logs:{action}", f"{group}:log-stream:x", spellings=(group,))
                for action in ("CreateLogStream", "PutLogEvents")
            ]
            yield from need(places, task, at, role, "write its log", deeds)
        image = re.fullmatch(
            rf"{places.account.id}\.dkr\.ecr\.{places.region}\.[^/]+/([^:@]+)[:@]?.*", str(one.get("image"))
        )
        if image is not None:
            arn = arn_in(places, "ecr", f"repository/{image[1]}")
            deeds = [
                Deed("ecr:GetAuthorizationToken"),
                Deed("ecr:BatchGetImage", arn),
                Deed("ecr:GetDownloadUrlForLayer", arn),
            ]
            yield from need(places, task, at, role, "fetch its image", deeds)


def _delivered(places: Places, stream: View) -> Iterator[Need]:
    at = "extendedS3Configuration"
    bucket, prefix = stream.text(f"{at}.bucketArn"), re.split(r"!\{", stream.text(f"{at}.prefix") or "")[0]
    if bucket is not None:
        yield from need(
            places,
            stream,
            f"{at}.roleArn",
            stream.text(f"{at}.roleArn"),
            "deliver to its bucket",
            [Deed("s3:PutObject", f"{bucket}/{prefix}x")],
        )
    source = stream.text("kinesisSourceConfiguration.kinesisStreamArn")
    if source is not None:
        path = "kinesisSourceConfiguration.roleArn"
        deeds = [Deed(f"kinesis:{action}", source) for action in ("DescribeStream", "GetShardIterator", "GetRecords")]
        yield from need(places, stream, path, stream.text(path), "read its stream", deeds)


def _told(places: Places, hook: View) -> Iterator[Need]:
    target = hook.text("notificationTargetArn") or ""
    action = {QUEUE: "sqs:SendMessage", SNS_TOPIC: "sns:Publish"}.get(
        next((type_ for type_, mark in ((QUEUE, ":sqs:"), (SNS_TOPIC, ":sns:")) if mark in target), "")
    )
    if action is not None:
        yield from need(places, hook, "roleArn", hook.text("roleArn"), "tell of a machine", [Deed(action, target)])
