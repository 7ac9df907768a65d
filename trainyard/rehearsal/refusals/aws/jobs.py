"""What runs by itself: functions, queues, batches, schedules and builds.

Sources: AWS Lambda Developer Guide, "Defined runtime environment variables" and "Lambda quotas", "Using Lambda with
Amazon SQS" (a visibility timeout below the function's is refused); Amazon SQS API reference, `SetQueueAttributes`; AWS
Batch API reference, `ComputeResource`, `RetryStrategy` and `JobTimeout`; EventBridge Scheduler User Guide, "Schedule
types" and "Using universal targets"; AWS CodeBuild API reference, `CreateProject` (2026-11).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from zoneinfo import available_timezones

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.types import (
    AUTOSCALING_SCHEDULE,
    BACKUP_PLAN,
    BATCH_DEFINITION,
    BATCH_ENVIRONMENT,
    BATCH_QUEUE,
    BUILD_PROJECT,
    EVENT_SOURCE_MAPPING,
    FUNCTION,
    MAINTENANCE_WINDOW,
    QUEUE,
    SCHEDULE,
    SECRET_ROTATION,
)
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.aws.events import is_schedule, never_comes
from trainyard.rehearsal.refusals.rules import Rules

_RESERVED: Final = frozenset(
    {
        "_HANDLER", "_X_AMZN_TRACE_ID", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION",
        "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR", "LAMBDA_TASK_ROOT",
    }
)  # fmt: skip
"""Variables of a function that Lambda sets itself, and takes from nobody."""


def _within(view: View, rule: str, path: str, least: float, most: float, unit: str) -> None:
    given = view.number(path)
    if given is not None and not least <= given <= most:
        view.error(rule, path, f"got {given:g}", allowed=f"{least:g} to {most:g} {unit}")


_GONE: Final = re.compile(
    r"python(2\.7|3\.[67])|nodejs(\d?\.\d+|(4|6|8|10|12|14)\..*)?|go1\.x|java8|dotnetcore.*|dotnet[57].*|ruby2\..*|provided"
)
"""Runtimes that Lambda makes no function with any more (its developer guide, "Deprecated runtimes", 2026-11)."""
_GOING: Final = re.compile(r"python3\.[89]|nodejs(16|18)\.x|dotnet6|java8\.al2|ruby3\.2")
"""Runtimes that are patched no more."""


def runtime(view: View) -> None:
    """A runtime that Lambda still has."""
    name = view.text("runtime")
    if name is not None and _GONE.fullmatch(name):
        view.warning("lambda-runtime", "runtime", f"{name} is gone: no function is made with it", allowed="a later one")
    elif name is not None and _GOING.fullmatch(name):
        view.warning("lambda-runtime", "runtime", f"{name} is patched no more", allowed="a later one")


def function(view: View) -> None:
    """Times and sizes that Lambda sells where it has the machines, and variables that are not its own."""
    for path, most, unit in (
        ("timeout", 900, "seconds"),
        ("memorySize", 10240, "MB"),
        ("ephemeralStorage.size", 10240, "MB"),
    ):
        given = view.number(path)
        if given is not None and given > most and view.lacks("capacityProviderConfig"):
            view.warning("lambda-size", path, f"got {given:g}: so much is for functions on machines of one's own alone",
                         allowed=f"at most {most} {unit}, or capacityProviderConfig")  # fmt: skip
    variables = view.mapping("environment.variables")
    for name in variables:
        path = f"environment.variables.{name}"
        if name in _RESERVED:
            view.error("lambda-variable", path, "is Lambda's own: it is refused", allowed="another name")
        elif not re.fullmatch(r"[A-Za-z]\w+", name, re.ASCII):
            view.error("lambda-variable", path, f"is called {show(name)}", allowed="a letter, then letters, digits, _")
    if len(view.entries("layers")) > 5:
        view.error("lambda-layers", "layers", f"has {len(view.entries('layers'))}", allowed="at most 5")
    if view.text("packageType") == "Image":
        for name in ("handler", "runtime", "layers"):
            if view.has(name) and view.value(name) not in ([], ""):
                view.error("lambda-image", name, "is given for an image, which has its own", allowed="imageConfig")


def mapping(view: View) -> None:
    """A queue hides what a function works on at least as long as that may take."""
    queue, called = view.referred("eventSourceArn", QUEUE), view.referred("functionName", FUNCTION)
    if queue is not None and called is not None and not queue.resource.read and not called.resource.read:
        hidden, needed = _known(queue, "visibilityTimeoutSeconds", 30), _known(called, "timeout", 3)
        if hidden is not None and needed is not None and hidden < needed:
            queue.error(
                "lambda-visibility", "visibilityTimeoutSeconds",
                f"{hidden:g} seconds are less than the {needed:g} that function {called.name} may take: Lambda refuses "
                f"the mapping {view.name}", allowed=f"at least {needed:g}, better six times that",
            )  # fmt: skip
    source = view.text("eventSourceArn") or ""
    is_queue, is_stream = ":sqs:" in source, ":kinesis:" in source or ":dynamodb:" in source
    if is_queue and view.has("startingPosition"):
        view.error("lambda-mapping", "startingPosition", "is given for a queue, which has none", allowed="a stream")
    if is_stream and view.lacks("startingPosition"):
        view.error("lambda-mapping", "startingPosition", "is missing for a stream", allowed="LATEST or TRIM_HORIZON")
    size, window = view.number("batchSize"), view.number("maximumBatchingWindowInSeconds") or 0
    if is_queue and size is not None and size > 10 and window < 1 and view.lacks("maximumBatchingWindowInSeconds"):
        view.error("lambda-mapping", "maximumBatchingWindowInSeconds", f"is missing for batches of {size:g}",
                   allowed="at least 1, or a batchSize of at most 10")  # fmt: skip


def _known(view: View, path: str, default: float) -> float | None:
    return default if view.lacks(path) else view.number(path)


def queue(view: View) -> None:
    """Numbers that SQS takes, and where messages go that nobody could work on."""
    for path, least, most, unit in (
        ("visibilityTimeoutSeconds", 0, 43200, "seconds"),
        ("messageRetentionSeconds", 60, 1209600, "seconds"),
        ("delaySeconds", 0, 900, "seconds"),
        ("receiveWaitTimeSeconds", 0, 20, "seconds"),
        ("maxMessageSize", 1024, 1048576, "bytes"),
        ("kmsDataKeyReusePeriodSeconds", 60, 86400, "seconds"),
    ):
        _within(view, "sqs-range", path, least, most, unit)
    name, text = view.text("name"), view.text("redrivePolicy")
    in_order = False if view.lacks("fifoQueue") else view.flag("fifoQueue")
    if name is not None and in_order is not None and name.endswith(".fifo") != in_order:
        view.error("sqs-fifo", "name", f"got {show(name)}", allowed="a name that ends with .fifo, and fifoQueue")
    policy = _read(text)
    if text is not None and policy is None:
        view.error("sqs-redrive", "redrivePolicy", f"got {show(text)}", allowed="a JSON object")
    if not policy:
        return
    for key in ("deadLetterTargetArn", "maxReceiveCount"):
        if key not in policy:
            view.error("sqs-redrive", "redrivePolicy", f"has no {key}", allowed="deadLetterTargetArn, maxReceiveCount")
    count = policy.get("maxReceiveCount")
    if isinstance(count, int) and not 1 <= count <= 1000:
        view.error("sqs-redrive", "redrivePolicy", f"has maxReceiveCount {count}", allowed="1 to 1000")
    dead = [
        other for other in view.stack.of_type(QUEUE)
        if other.resource.outputs.get("arn") == policy.get("deadLetterTargetArn") and other is not view
    ]  # fmt: skip
    for other in dead:
        kept, here = (_known(one, "messageRetentionSeconds", 345600) for one in (other, view))
        if kept is not None and here is not None and kept < here:
            other.warning(
                "sqs-dead-letters", "messageRetentionSeconds",
                f"keeps messages {kept:g} seconds from when they were first sent, and queue {view.name} keeps them "
                f"{here:g}: what comes here late is deleted at once", allowed=f"at least {here:g}",
            )  # fmt: skip


def _read(text: str | None) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


_FARGATE: Final = ("FARGATE", "FARGATE_SPOT")


def environment(view: View) -> None:
    """Machines of a batch: what each kind takes, and has to be told."""
    kind, at = view.text("computeResources.type"), "computeResources"
    if (view.text("type") or "").upper() == "MANAGED" and view.lacks(at):
        view.error("batch-environment", at, "is missing", allowed="what a MANAGED environment may start")
    if kind is None:
        return
    kind = kind.upper()  # the provider takes it either way
    if kind in _FARGATE:
        for name in ("allocationStrategy", "bidPercentage", "ec2Configurations", "instanceRole", "instanceTypes",
                     "launchTemplate", "minVcpus", "spotIamFleetRole"):  # fmt: skip
            if view.has(f"{at}.{name}") and view.value(f"{at}.{name}") not in ([], 0):
                view.error("batch-environment", f"{at}.{name}", f"is given with type {kind}", allowed="EC2 or SPOT")
    elif kind in ("EC2", "SPOT") and view.lacks(f"{at}.instanceRole"):
        view.error("batch-environment", f"{at}.instanceRole", "is missing", allowed="an instance profile")
    strategy = (view.text(f"{at}.allocationStrategy") or "BEST_FIT").upper()
    blurred = view.is_unknown(f"{at}.allocationStrategy")
    if kind == "SPOT" and strategy == "BEST_FIT" and not blurred and view.lacks(f"{at}.spotIamFleetRole"):
        view.error("batch-environment", f"{at}.spotIamFleetRole", "is missing with allocationStrategy BEST_FIT",
                   allowed="a role of Spot Fleet, or SPOT_PRICE_CAPACITY_OPTIMIZED")  # fmt: skip
    if kind == "EC2" and strategy.startswith("SPOT_"):
        view.error("batch-environment", f"{at}.allocationStrategy", f"got {strategy} with type EC2", allowed="SPOT")
    if kind == "EC2" and view.value(f"{at}.bidPercentage") not in (None, 0):
        view.error("batch-environment", f"{at}.bidPercentage", "is given with type EC2", allowed="SPOT")
    least, most, wanted = (view.number(f"{at}.{name}") for name in ("minVcpus", "maxVcpus", "desiredVcpus"))
    if least is not None and most is not None and least > most:
        view.error("batch-environment", f"{at}.minVcpus", f"{least:g} is above maxVcpus {most:g}", allowed="at most it")
    if wanted is not None and not (least or 0) <= wanted <= (wanted if most is None else most):
        view.error("batch-environment", f"{at}.desiredVcpus", f"got {wanted:g}", allowed="from minVcpus to maxVcpus")


def job_queue(view: View) -> None:
    """A queue has a rank that Batch takes, and each environment once."""
    _within(view, "batch-queue", "priority", 0, 1000, "")
    orders = [entry.get("order") for _, entry in view.items("computeEnvironmentOrders")]
    orders = [order for order in orders if order is not None and order is not UNKNOWN]
    if len(set(map(str, orders))) < len(orders):
        view.error("batch-queue", "computeEnvironmentOrders", "has an order twice", allowed="each once")


_USUAL_SPOT_PERCENT: Final = 30
"""Spot machines cost seldom less of the price on demand (as the catalogue's spot prices have it, 2026-11)."""


def bid(view: View) -> None:
    """What is bid for spot machines is what they may cost."""
    percent = view.number("computeResources.bidPercentage")
    if percent == 0:
        return  # the provider sends none
    if percent is not None and not 1 <= percent <= 100:
        view.error("batch-environment", "computeResources.bidPercentage", f"got {percent:g}", allowed="1 to 100")
    elif percent is not None and percent < _USUAL_SPOT_PERCENT:
        view.warning("batch-bid", "computeResources.bidPercentage", f"bids {percent:g} percent of the price on demand: "
                     "spot machines cost more nearly always, and none starts", allowed="none, or 100")  # fmt: skip


def definition(view: View) -> None:
    """A job's tries and time, and what its container asks for."""
    _within(view, "batch-definition", "retryStrategy.attempts", 1, 10, "attempts")
    least = view.number("timeout.attemptDurationSeconds")
    if least is not None and least < 60:
        view.error(
            "batch-definition", "timeout.attemptDurationSeconds", f"got {least:g}", allowed="at least 60 seconds"
        )
    text = view.text("containerProperties")
    job = _read(text)
    if text is not None and job is None:
        view.error("batch-definition", "containerProperties", f"got {show(text)}", allowed="a JSON object")
    if not job:
        return
    if not job.get("image"):
        view.error("batch-definition", "containerProperties", "has no image", allowed="image")
    asked = [one for one in listed(job.get("resourceRequirements")) if isinstance(one, dict)]
    kinds = {one.get("type") if isinstance(one.get("type"), str) else show(one.get("type")): one.get("value")
             for one in asked}  # fmt: skip
    for wanted, old in (("VCPU", "vcpus"), ("MEMORY", "memory")):
        if wanted not in kinds and old not in job:
            view.error("batch-definition", "containerProperties", f"asks for no {wanted}",
                       allowed="VCPU and MEMORY in resourceRequirements")  # fmt: skip
    for kind, value in kinds.items():
        if kind not in ("GPU", "MEMORY", "VCPU"):
            view.error("batch-definition", "containerProperties", f"asks for {show(kind)}", allowed="GPU, MEMORY, VCPU")
        elif not isinstance(value, str) or not re.fullmatch(r"\d+(\.\d+)?", value):
            view.error("batch-definition", "containerProperties", f"asks for {show(value)} of {kind}",
                       allowed='a number as text, MEMORY in MiB ("14000")')  # fmt: skip
    volumes = [one.get("name") for one in listed(job.get("volumes")) if isinstance(one, dict)]
    for one in listed(job.get("mountPoints")):
        if isinstance(one, dict) and one.get("sourceVolume") not in volumes:
            view.error("batch-definition", "containerProperties", f"mounts {show(one.get('sourceVolume'))}, no volume",
                       allowed=", ".join(sorted(map(str, volumes))) or "a volume")  # fmt: skip


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


_SDK: Final = re.compile(r"arn:[a-z-]+:scheduler:::aws-sdk:([a-z0-9]+):(\w+)")


def schedule(view: View) -> None:
    """A schedule of the scheduler's: when, on which clock, how exactly, and what is called."""
    zone, mode = view.text("scheduleExpressionTimezone"), view.text("flexibleTimeWindow.mode")
    if zone is not None and _zones() and zone not in _zones():
        view.error("schedule-zone", "scheduleExpressionTimezone", f"got {show(zone)}", allowed="as Europe/Dublin, UTC",
                   hint=nearest(zone, _zones()))  # fmt: skip
    window = "flexibleTimeWindow.maximumWindowInMinutes"
    if mode == "FLEXIBLE" and view.lacks(window):
        view.error("schedule-window", window, "is missing with mode FLEXIBLE", allowed="1 to 1440 minutes")
    if mode == "OFF" and view.has(window):
        view.error("schedule-window", window, "is given with mode OFF", allowed="FLEXIBLE")
    _within(view, "schedule-window", window, 1, 1440, "minutes")
    called = _SDK.fullmatch(view.text("target.arn") or "")
    if called is not None and not called[2][0].islower():
        view.error("schedule-target", "target.arn", f"calls {called[2]}", allowed=called[2][0].lower() + called[2][1:])
    text = view.text("target.input")
    if called is not None and text is not None and _read(text) is None:
        view.error("schedule-target", "target.input", f"got {show(text)}", allowed="a JSON object")


_TIMES: Final = (
    (SCHEDULE, "scheduleExpression"),
    (SECRET_ROTATION, "rotationRules.scheduleExpression"),
    (MAINTENANCE_WINDOW, "schedule"),
    (BACKUP_PLAN, "rules[].schedule"),
)
_ONCE: Final = (SCHEDULE, MAINTENANCE_WINDOW)
"""What may also be called once."""
_AT: Final = re.compile(r"at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)")
_MINUTES: Final = re.compile(r"(\S+\s+){4}\S+")


def times(view: View) -> None:
    """A time is told as a rate or in six fields of cron; groups of machines alone count in five."""
    for path in (path for type_, path in _TIMES if type_ == view.type):
        head, mark, tail = path.partition("[]")
        places = [f"{here}{tail}" for here, _ in view.items(head)] if mark else [path]
        for here in places:
            text = view.text(here)
            if text is not None and (never := never_comes(text)):
                view.warning("aws-schedule-never", here, f"{text} never comes: {never}", allowed="another time")
            if text is not None and not is_schedule(text) and not (view.type in _ONCE and _AT.fullmatch(text)):
                view.error("aws-schedule", here, f"got {show(text)}",
                           allowed="rate(1 day), rate(2 days), or cron of six fields: cron(0 3 * * ? *)")  # fmt: skip


def recurrence(view: View) -> None:
    """A schedule of a group of machines has five fields and no brackets."""
    text = view.text("recurrence")
    if text is not None and not _MINUTES.fullmatch(text.strip()):
        view.error("aws-schedule", "recurrence", f"got {show(text)}", allowed="five fields of cron: 0 20 * * 5")


_RECORDER: Final = "aws:cfg/recorder:Recorder"


def recorder(view: View) -> None:
    """All types are recorded, or some are."""
    group = "recordingGroup"
    everything = view.lacks(f"{group}.allSupported") or view.flag(f"{group}.allSupported") is True
    if view.entries(f"{group}.resourceTypes") and everything and view.lacks(f"{group}.recordingStrategies"):
        view.error("config-recorder", f"{group}.resourceTypes", "is given with allSupported", allowed="one of them")
    if view.flag(f"{group}.includeGlobalResourceTypes") and view.flag(f"{group}.allSupported") is False:
        view.error("config-recorder", f"{group}.includeGlobalResourceTypes", "is given without allSupported",
                   allowed="allSupported: true")  # fmt: skip


def _is_steps(text: str) -> bool:
    """Whether a text is the steps themselves, in YAML or JSON, and no file's name."""
    return "\n" in text.strip() or text.lstrip().startswith("{")


def project(view: View) -> None:
    """Where a build's source, its steps and its results come from and go to, and how long it may take."""
    _within(view, "codebuild-time", "buildTimeout", 5, 2160, "minutes")
    _within(view, "codebuild-time", "queuedTimeout", 5, 480, "minutes")
    source, spec = view.text("source.type"), view.text("source.buildspec")
    if source == "NO_SOURCE" and (view.lacks("source.buildspec") or (spec is not None and not _is_steps(spec))):
        view.error("codebuild-source", "source.buildspec", "is no text of steps, and there is no source to find it in",
                   allowed="the whole buildspec")  # fmt: skip
    if source == "NO_SOURCE" and view.has("source.location"):
        view.error("codebuild-source", "source.location", "is given with NO_SOURCE", allowed="a type with a source")
    if source not in (None, "NO_SOURCE", "CODEPIPELINE") and view.lacks("source.location"):
        view.error("codebuild-source", "source.location", f"is missing for {source}", allowed="where the source is")
    piped = [view.text(f"{part}.type") for part in ("source", "artifacts")]
    if None not in piped and (piped[0] == "CODEPIPELINE") != (piped[1] == "CODEPIPELINE"):
        view.error("codebuild-source", "artifacts.type", f"got {piped[1]} with the source {piped[0]}",
                   allowed="CODEPIPELINE for both, or for none")  # fmt: skip
    if piped[1] == "S3" and view.lacks("artifacts.location"):
        view.error("codebuild-source", "artifacts.location", "is missing for S3", allowed="a bucket")
    if view.text("cache.type") == "S3" and view.lacks("cache.location"):
        view.error("codebuild-source", "cache.location", "is missing for S3", allowed="a bucket")


RULES: Final[Rules] = {
    function: (FUNCTION,),
    runtime: (FUNCTION,),
    job_queue: (BATCH_QUEUE,),
    bid: (BATCH_ENVIRONMENT,),
    recorder: (_RECORDER,),
    mapping: (EVENT_SOURCE_MAPPING,),
    queue: (QUEUE,),
    environment: (BATCH_ENVIRONMENT,),
    definition: (BATCH_DEFINITION,),
    schedule: (SCHEDULE,),
    times: tuple(type_ for type_, _ in _TIMES),
    recurrence: (AUTOSCALING_SCHEDULE,),
    project: (BUILD_PROJECT,),
}
