"""What pipes, pipelines of code and movers of files do with their roles.

Sources: Amazon EventBridge User Guide, "Permissions of Amazon EventBridge Pipes" and "Pipes targets" (how a state
machine is started); AWS CodePipeline User Guide, "Add permissions to the CodePipeline service role"; AWS DataSync User
Guide, "Configuring DataSync transfers with Amazon S3" (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.types import DATASYNC_TASK
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.refusals.aws.conveyors import PIPE, PIPELINE
from trainyard.rehearsal.works.rights.aws.needs.flows_of_data import arn_in, need
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places

_PLACE: Final = "aws:datasync/s3Location:S3Location"
_READ: Final = {
    "kinesis": ("DescribeStream", "GetRecords", "GetShardIterator"),
    "dynamodb": ("DescribeStream", "GetRecords", "GetShardIterator"),
    "sqs": ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"),
}
_SENT: Final = {
    "sqs": "SendMessage",
    "sns": "Publish",
    "kinesis": "PutRecord",
    "lambda": "InvokeFunction",
    "events": "PutEvents",
}
_STARTED: Final = {"REQUEST_RESPONSE": "StartSyncExecution", "FIRE_AND_FORGET": "StartExecution"}
"""How a pipe starts a state machine; the first where it does not say."""


def needs(places: Places) -> Iterator[Need]:
    """What each of them needs."""
    for pipe in places.stack.of_type(PIPE):
        yield from _piped(places, pipe)
    for pipeline in places.stack.of_type(PIPELINE):
        yield from _carried(places, pipeline)
    for place in places.stack.of_type(_PLACE):
        bucket, role = place.text("s3BucketArn"), "s3Config.bucketAccessRoleArn"
        folder = (place.text("subdirectory") or "").strip("/")
        if bucket is not None:
            deeds = [Deed("s3:ListBucket", bucket), Deed("s3:GetObject", f"{bucket}/{folder + '/' if folder else ''}x")]
            if _is_written(places, place):
                deeds.append(Deed("s3:PutObject", f"{bucket}/{folder + '/' if folder else ''}x"))
            yield from need(places, place, role, place.text(role), "move files", deeds)


def _is_written(places: Places, place: View) -> bool:
    arn = place.resource.outputs.get("arn")
    return any(task.text("destinationLocationArn") == arn for task in places.stack.of_type(DATASYNC_TASK))


def _service(arn: str) -> str:
    return arn.split(":")[2] if arn.count(":") >= 5 else ""


def _piped(places: Places, pipe: View) -> Iterator[Need]:
    source, target = pipe.text("source") or "", pipe.text("target") or ""
    role = pipe.text("roleArn")
    read = [Deed(f"{_service(source)}:{action}", source) for action in _READ.get(_service(source), ())]
    yield from need(places, pipe, "source", role, "read its source", read)
    action = _SENT.get(_service(target))
    if _service(target) == "states":
        way = "targetParameters.stepFunctionStateMachineParameters.invocationType"
        action = _STARTED.get("REQUEST_RESPONSE" if pipe.lacks(way) else pipe.text(way) or "")
    if action is not None:
        sent = Deed(f"{_service(target)}:{action}", target)
        if _service(target) == "kinesis":
            return  # PutRecord or PutRecords, as batches come
        yield from need(places, pipe, "target", role, "send to its target", [sent])


def _carried(places: Places, pipeline: View) -> Iterator[Need]:
    role = pipeline.text("roleArn")
    for path, stage in pipeline.items("stages"):
        for index, action in enumerate(listed(stage.get("actions"))):
            if isinstance(action, dict) and not action.get("roleArn"):
                deeds = list(_of_action(places, action))
                yield from need(places, pipeline, f"{path}.actions[{index}]", role, f"do {action.get('name')}", deeds)


def _of_action(places: Places, action: Mapping[str, Any]) -> Iterator[Deed]:
    told, provider, region = action.get("configuration"), action.get("provider"), action.get("region") or ""
    if not isinstance(region, str):
        return  # it is not known where what it names is
    name = {key: value for key, value in told.items() if isinstance(value, str)} if isinstance(told, dict) else {}
    if provider == "CodeBuild" and "ProjectName" in name:
        batch = name.get("BatchEnabled", "").lower() == "true"
        for wanted in ("StartBuildBatch", "BatchGetBuildBatches") if batch else ("StartBuild", "BatchGetBuilds"):
            yield Deed(f"codebuild:{wanted}", arn_in(places, "codebuild", f"project/{name['ProjectName']}", region))
    elif provider == "CodeStarSourceConnection" and name.get("ConnectionArn", "").startswith("arn:"):
        other = re.sub(r":(codestar-connections|codeconnections):", ":codeconnections:", name["ConnectionArn"])
        # The action has two names since the service has, and policies with either are honoured.
        if not _connects_by_the_newer_name(places):
            yield Deed("codestar-connections:UseConnection", name["ConnectionArn"], spellings=(other,))
    elif provider == "Lambda" and "FunctionName" in name:
        yield Deed("lambda:InvokeFunction", arn_in(places, "lambda", f"function:{name['FunctionName']}", region))
    elif provider == "S3" and action.get("category") == "Deploy" and "BucketName" in name:
        yield Deed(
            "s3:PutObject",
            f"arn:{places.partition}:s3:::{name['BucketName']}/x",
            spellings=(f"arn:{places.partition}:s3:::{name['BucketName']}/{name.get('ObjectKey', 'x')}",),
        )
    elif provider == "StepFunctions" and name.get("StateMachineArn", "").startswith("arn:"):
        yield Deed("states:StartExecution", name["StateMachineArn"])


def _connects_by_the_newer_name(places: Places) -> bool:
    return any(
        re.search(r"codeconnections:(UseConnection|\*)", str(view.inputs.get(key)))
        for view in places.stack.views
        if view.type.startswith("aws:iam/")
        for key in ("policy", "inlinePolicies")
    )
