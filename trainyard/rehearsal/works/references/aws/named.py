"""Names and ARNs, given as text, that nearly name something of the stack and name nothing.

What a program computes of another resource is right by itself; a name that is typed may have a letter wrong, and AWS
takes most of them: the job is started, the group is looked for, and nothing is there. What is not like any name of the
stack's may be another stack's, and is left alone.

Sources: the API reference of each call that takes the name (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    AWS_BUDGET,
    BATCH_DEFINITION,
    BATCH_ENVIRONMENT,
    BATCH_QUEUE,
    BUCKET,
    BUCKET_NOTIFICATION,
    BUDGET_ACTION,
    BUILD_PROJECT,
    DNS_RECORD,
    ECS_CLUSTER,
    ECS_SERVICE,
    EVENT_RULE,
    EVENT_SOURCE_MAPPING,
    EVENT_TARGET,
    FUNCTION,
    FUNCTION_PERMISSION,
    GLUE_CRAWLER,
    GLUE_JOB,
    INSTANCE_PROFILE,
    KINESIS_STREAM,
    LIFECYCLE_HOOK,
    LISTENER_RULE,
    LOG_GROUP,
    LOG_METRIC_FILTER,
    LOG_SUBSCRIPTION_FILTER,
    QUEUE,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SAGEMAKER_ENDPOINT_CONFIGURATION,
    SCALING_POLICY,
    SCALING_TARGET,
    SNS_TOPIC,
    TABLE,
)
from trainyard.rehearsal.context import Stack, View, expand, listed, show
from trainyard.rehearsal.refusals.aws.state_machines import STATE_MACHINE, tasks
from trainyard.rehearsal.refusals.aws.texts import TASK, read
from trainyard.rehearsal.works.names_of_aws import slip

RULE: Final = "reference-name"
_DATABASE: Final = "aws:glue/catalogDatabase:CatalogDatabase"
_MODEL: Final = "aws:sagemaker/model:Model"
_ENDPOINT: Final = "aws:sagemaker/endpoint:Endpoint"
_WORKGROUP: Final = "aws:athena/workgroup:Workgroup"
_POOL: Final = "aws:emrserverless/application:Application"

_NAMED: Final = (
    ("aws:athena/database:Database", "workgroup", _WORKGROUP),
    ("aws:athena/namedQuery:NamedQuery", "workgroup", _WORKGROUP),
    (LIFECYCLE_HOOK, "autoscalingGroupName", AUTOSCALING_GROUP),
    ("aws:autoscaling/policy:Policy", "autoscalingGroupName", AUTOSCALING_GROUP),
    ("aws:autoscaling/schedule:Schedule", "autoscalingGroupName", AUTOSCALING_GROUP),
    ("aws:backup/plan:Plan", "rules[].targetVaultName", "aws:backup/vault:Vault"),
    (
        BATCH_QUEUE,
        "computeEnvironmentOrders[].computeEnvironment",
        BATCH_ENVIRONMENT,
    ),
    (BUDGET_ACTION, "budgetName", AWS_BUDGET),
    (BUDGET_ACTION, "definition.iamActionDefinition.roles[]", ROLE),
    (EVENT_TARGET, "rule", EVENT_RULE),
    (LOG_METRIC_FILTER, "logGroupName", LOG_GROUP),
    ("aws:cloudwatch/logStream:LogStream", "logGroupName", LOG_GROUP),
    (LOG_SUBSCRIPTION_FILTER, "logGroupName", LOG_GROUP),
    ("aws:dynamodb/tableItem:TableItem", "tableName", TABLE),
    ("aws:ec2/launchTemplate:LaunchTemplate", "iamInstanceProfile.name", INSTANCE_PROFILE),
    ("aws:ecs/service:Service", "cluster", ECS_CLUSTER),
    ("aws:ecs/service:Service", "taskDefinition", TASK),
    ("aws:glue/catalogTable:CatalogTable", "databaseName", _DATABASE),
    (GLUE_CRAWLER, "databaseName", _DATABASE),
    ("aws:glue/trigger:Trigger", "actions[].jobName", GLUE_JOB),
    ("aws:glue/trigger:Trigger", "actions[].crawlerName", GLUE_CRAWLER),
    ("aws:glue/trigger:Trigger", "predicate.conditions[].jobName", GLUE_JOB),
    ("aws:glue/trigger:Trigger", "predicate.conditions[].crawlerName", GLUE_CRAWLER),
    (INSTANCE_PROFILE, "role", ROLE),
    (ROLE_POLICY, "role", ROLE),
    (ROLE_POLICY_ATTACHMENT, "role", ROLE),
    (
        "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream",
        "extendedS3Configuration.cloudwatchLoggingOptions.logGroupName",
        LOG_GROUP,
    ),
    (
        "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream",
        "extendedS3Configuration.dataFormatConversionConfiguration.schemaConfiguration.databaseName",
        _DATABASE,
    ),
    ("aws:lambda/alias:Alias", "functionName", FUNCTION),
    (EVENT_SOURCE_MAPPING, "functionName", FUNCTION),
    ("aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig", "functionName", FUNCTION),
    (FUNCTION_PERMISSION, "function", FUNCTION),
    ("aws:lambda/provisionedConcurrencyConfig:ProvisionedConcurrencyConfig", "functionName", FUNCTION),
    (FUNCTION, "loggingConfig.logGroup", LOG_GROUP),
    (_ENDPOINT, "endpointConfigName", SAGEMAKER_ENDPOINT_CONFIGURATION),
    (SAGEMAKER_ENDPOINT_CONFIGURATION, "productionVariants[].modelName", _MODEL),
    (SAGEMAKER_ENDPOINT_CONFIGURATION, "shadowProductionVariants[].modelName", _MODEL),
    (
        "aws:sagemaker/monitoringSchedule:MonitoringSchedule",
        "monitoringScheduleConfig.monitoringJobDefinitionName",
        "aws:sagemaker/dataQualityJobDefinition:DataQualityJobDefinition",
    ),
)
"""Which input of which type names what."""

_CALLED: Final = {
    "Cluster": ECS_CLUSTER,
    "DatabaseName": _DATABASE,
    "FunctionName": FUNCTION,
    "JobDefinition": BATCH_DEFINITION,
    "JobQueue": BATCH_QUEUE,
    "ProjectName": BUILD_PROJECT,
    "QueueUrl": QUEUE,
    "StateMachineArn": STATE_MACHINE,
    "StreamName": KINESIS_STREAM,
    "TableName": TABLE,
    "TaskDefinition": TASK,
    "TopicArn": SNS_TOPIC,
    "WorkGroup": _WORKGROUP,
    "ApplicationId": _POOL,
    "EndpointName": _ENDPOINT,
    "AutoScalingGroupName": AUTOSCALING_GROUP,
    "LogGroupName": LOG_GROUP,
    "RoleArn": ROLE,
    "ModelName": _MODEL,
}
"""What a parameter of a call names, in a state machine or a schedule; `JobName` is Glue's alone."""

_OF_SCALED: Final = (
    (re.compile(r"endpoint/([^/]+)/variant/[^/]+"), _ENDPOINT),
    (re.compile(r"service/[^/]+/([^/]+)"), ECS_SERVICE),
    (re.compile(r"service/([^/]+)/[^/]+"), ECS_CLUSTER),
    (re.compile(r"table/([^/]+)(?:/index/.+)?"), TABLE),
)


def check(stack: Stack) -> None:
    """Every table above, what JSON texts name, buckets in addresses, and what scales."""
    for type_, at, target in _NAMED:
        for view in stack.of_type(type_) if stack.of_type(target) else ():
            for path, name in expand(view.inputs, at):
                _held(stack, view, path, name, target)
    for view in stack.of_type(STATE_MACHINE):
        for at, resource, given in tasks(view):
            service = resource.split(":")[6] if resource.count(":") >= 6 else ""
            for key, target in _parameters(service):
                _held(stack, view, f"definition.{at}.Parameters.{key}", (given or {}).get(key), target)
    for view in (*stack.of_type(SCALING_TARGET), *stack.of_type(SCALING_POLICY)):
        _scaled(stack, view)
    for view in stack.of_type(TASK):
        _tasks(stack, view)
    for view in stack.of_type(EVENT_RULE):
        _pattern(stack, view)
    _addresses(stack)
    _hosts(stack)


def _parameters(service: str) -> Iterator[tuple[str, str]]:
    yield from _CALLED.items()
    if service in ("glue", "startJobRun"):
        yield "JobName", GLUE_JOB
        yield "Name", GLUE_CRAWLER


@dataclass(frozen=True, slots=True)
class _Called:
    """What the resources of a type are called by (names, ids, ARNs, URLs), and their names alone, in their order."""

    by: Set[str]
    names: Mapping[str, None]


_NOBODY: Final = _Called(frozenset(), {})


def _every_name(stack: Stack) -> dict[str, _Called]:
    """Each type that something here may name."""
    targets = {target for *_, target in (*_NAMED, *_OF_SCALED)} | {
        *_CALLED.values(),
        GLUE_JOB,
        GLUE_CRAWLER,
        LOG_GROUP,
        BUCKET,
    }
    return {target: _called(stack.of_type(target)) for target in targets if stack.of_type(target)}


def _called(views: Iterable[View]) -> _Called:
    by: set[str] = set()
    names: dict[str, None] = {}
    for view in views:
        own = [view.text(key) for key in ("name", "bucket", "family", "endpointName", "functionName")]
        plain = [text for text in own if text]
        names |= dict.fromkeys(plain)
        arns = [
            view.resource.outputs.get(key) for key in ("arn", "arnPrefix", "arnWithoutRevision", "url", "qualifiedArn")
        ]
        by.update([*plain, str(view.resource.id), *(text for text in arns if isinstance(text, str))])
    return _Called(by, names)


def _held(stack: Stack, view: View, path: str, name: Any, target: str) -> None:
    if not isinstance(name, str) or not name:
        return
    called = stack.once(_every_name).get(target, _NOBODY)
    last = re.split(r"[:/]", name.removesuffix(":*"))
    plain = re.sub(r":\d+$", "", name)
    if name in called.by or plain in called.by or any(whole in called.by for whole in _wholes(name)):
        return
    own = last[-1] if name.startswith(("arn:", "https://sqs")) else plain
    if own in called.names or (name.startswith("arn:") and any(part in called.names for part in last)):
        return
    hint = slip(own, list(called.names))
    if hint:
        view.warning(RULE, path, f"names {show(own)}, which is none of the stack", hint=hint)


def _wholes(name: str) -> Iterator[str]:
    """The ARNs of what an ARN names a part of, as an alias of a function or the streams of a log group."""
    if name.startswith("arn:"):
        yield from (name[: colon.start()] for colon in re.finditer(":", name))


def _scaled(stack: Stack, view: View) -> None:
    named = view.text("resourceId") or ""
    for form, target in _OF_SCALED:
        if found := form.fullmatch(named):
            _held(stack, view, "resourceId", found[1], target)
    variant = re.fullmatch(r"endpoint/([^/]+)/variant/([^/]+)", named)
    if variant is None:
        return
    for endpoint in stack.of_type(_ENDPOINT):
        of = endpoint.referred("endpointConfigName", SAGEMAKER_ENDPOINT_CONFIGURATION)
        if endpoint.text("name") == variant[1] and of is not None and not of.blurred("productionVariants"):
            known = [entry.get("variantName") for _, entry in of.items("productionVariants")]
            if all(isinstance(one, str) for one in known) and variant[2] not in known:
                view.error(
                    RULE,
                    "resourceId",
                    f"names variant {variant[2]}, which endpoint {variant[1]} has not",
                    allowed=", ".join(map(str, known)),
                )


def _tasks(stack: Stack, view: View) -> None:
    for index, container in enumerate(listed(read(view.text("containerDefinitions")))):
        logs = container.get("logConfiguration") if isinstance(container, dict) else None
        options = logs.get("options") if isinstance(logs, dict) else None
        if isinstance(options, dict) and options.get("awslogs-create-group") != "true":
            at = f"containerDefinitions[{index}].logConfiguration.options.awslogs-group"
            _held(stack, view, at, options.get("awslogs-group"), LOG_GROUP)


def _pattern(stack: Stack, view: View) -> None:
    """A rule on what happens in a bucket names it, and a bucket of the stack tells of it."""
    pattern = read(view.text("eventPattern"))
    if not isinstance(pattern, Mapping) or "aws.s3" not in listed(pattern.get("source")):
        return
    if "AWS API Call via CloudTrail" in listed(pattern.get("detail-type")):
        return
    detail = pattern.get("detail")
    bucket = detail.get("bucket") if isinstance(detail, Mapping) else None
    names = listed(bucket.get("name")) if isinstance(bucket, Mapping) else []
    told = _telling(stack)
    for name in names:
        _held(stack, view, "eventPattern", name, BUCKET)
        of = next((one for one in stack.of_type(BUCKET) if one.text("bucket") == name and not one.resource.read), None)
        if of is not None and told is not None and name not in told:
            view.warning(
                "programs-unheard",
                "eventPattern",
                f"waits for what happens in bucket {of.name}, which sends EventBridge nothing",
                allowed="a bucket notification with eventbridge: true",
            )


def _telling(stack: Stack) -> set[str] | None:
    """The buckets that send their events to EventBridge; None where that is not known."""
    found: set[str] = set()
    for view in stack.of_type(BUCKET_NOTIFICATION):
        bucket = view.text("bucket")
        if bucket is None or view.is_unknown("eventbridge"):
            return None
        if view.flag("eventbridge"):
            found.add(bucket)
    return found


_ADDRESS: Final = re.compile(r"s3a?://([a-z0-9][a-z0-9.-]+)|arn:[\w-]+:s3:::([a-z0-9][a-z0-9.-]+)")
_ADDRESSED: Final = re.compile(
    r"aws:(athena|codebuild|codepipeline|datasync|emr|emrserverless|glue|kinesis|mwaa|sagemaker|sfn|scheduler|transfer)/"
)


def _addresses(stack: Stack) -> None:
    """Addresses of S3 in what runs on data."""
    if not stack.of_type(BUCKET):
        return
    names = stack.once(_every_name)[BUCKET].names
    for view in stack.views:
        if not _ADDRESSED.match(view.type) or view.resource.read:
            continue
        for path, text in view.known_texts:
            for found in _ADDRESS.finditer(text) if "s3" in text else ():
                name = found[1] or found[2]
                hint = slip(name, list(names)) if name not in names else ""
                if hint and not view.is_secret(path):
                    view.warning(
                        "reference-bucket", path, f"names the bucket {show(name)}, which nobody makes here", hint=hint
                    )


def _hosts(stack: Stack) -> None:
    """A rule of a listener asks for a host that has a name here, where it nearly does."""
    names = [
        name.rstrip(".")
        for view in stack.of_type(DNS_RECORD)
        if (name := view.text("name")) is not None and "." in name
    ]
    for view in stack.of_type(LISTENER_RULE) if names else ():
        for path, host in expand(view.inputs, "conditions[].hostHeader.values[]"):
            plain = isinstance(host, str) and not set(host) & {"*", "?"} and host not in names
            if plain and (hint := slip(str(host), names)):
                told = f"asks for the host {show(host)}, which no record of the stack names"
                view.warning(RULE, path, told, hint=hint)
