"""Events of AWS and who takes them: fields that an event has, values that they take, rules that lead somewhere.

Sources: EventBridge event reference (an event of SageMaker carries what `Describe…` answers, whose members and values
are botocore's), GuardDuty User Guide, "GuardDuty EventBridge event schema", EC2 User Guide, "State change events for
instances", CloudWatch User Guide, "Alarm events and EventBridge", CloudWatch Logs User Guide, "Filter pattern syntax
for metric filters"; of other services as generally known (2026-11). A field that there is not matches nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import follow
from trainyard.recorded.types import EVENT_BUS_POLICY, EVENT_RULE, EVENT_TARGET, LOG_METRIC_FILTER, METRIC_ALARM
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, Shape
from trainyard.rehearsal.works.names_of_aws import slip
from trainyard.rehearsal.works.programs.aws import own_metrics

_JOBS: Final = {
    "SageMaker Training Job State Change": "DescribeTrainingJobResponse",
    "SageMaker HyperParameter Tuning Job State Change": "DescribeHyperParameterTuningJobResponse",
    "SageMaker Processing Job State Change": "DescribeProcessingJobResponse",
    "SageMaker Transform Job State Change": "DescribeTransformJobResponse",
    "SageMaker Notebook Instance State Change": "DescribeNotebookInstanceOutput",
}
_BESIDE: Final = ("Tags",)
"""What an event of SageMaker carries beside its description (its developer guide, sample events)."""
_ALARMS: Final = ("ALARM", "INSUFFICIENT_DATA", "OK")
_STATES: Final = ("pending", "running", "stopping", "stopped", "shutting-down", "terminated")
_FIELDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "GuardDuty Finding": dict.fromkeys(
        (
            "schemaVersion", "accountId", "region", "partition", "id", "arn", "type", "resource", "service", "severity",
            "createdAt", "updatedAt", "title", "description", "confidence", "associatedAttackSequenceArn",
        ), (),
    ),
    "EC2 Instance State-change Notification": {"instance-id": (), "state": _STATES},
    "EC2 Spot Instance Interruption Warning": {
        "instance-id": (), "instance-action": ("hibernate", "stop", "terminate"),
    },
    "EC2 Instance Rebalance Recommendation": {"instance-id": ()},
    "CodeBuild Build State Change": {
        "build-status": ("FAILED", "IN_PROGRESS", "STOPPED", "SUCCEEDED"), "project-name": (), "build-id": (),
        "additional-information": (), "current-phase": (), "current-phase-context": (), "version": (),
    },
    "Step Functions Execution Status Change": {
        "executionArn": (), "stateMachineArn": (), "name": (), "startDate": (), "stopDate": (), "input": (),
        "inputDetails": (), "output": (), "outputDetails": (), "error": (), "cause": (), "redriveCount": (),
        "redriveDate": (), "redriveStatus": (), "redriveStatusReason": (), "stateMachineVersionArn": (),
        "stateMachineAliasArn": (),
        "status": ("ABORTED", "FAILED", "PENDING_REDRIVE", "RUNNING", "SUCCEEDED", "TIMED_OUT"),
    },
    "CloudWatch Alarm State Change": {
        "alarmName": (), "configuration": (), "previousState": (), "state": (), "muteDetail": (),
        "state.value": _ALARMS, "previousState.value": _ALARMS,
    },
}  # fmt: skip
"""What `detail` of an event holds, and the values of a field where there are few."""
_VALUES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "Batch Job State Change": {
        "status": ("FAILED", "PENDING", "RUNNABLE", "RUNNING", "STARTING", "SUBMITTED", "SUCCEEDED"),
    },
    "Backup Job State Change": {
        "state": (
            "ABORTED", "ABORTING", "COMPLETED", "CREATED", "EXPIRED", "FAILED", "PARTIAL", "PENDING", "RUNNING",
        ),
    },
    "Copy Job State Change": {"state": ("COMPLETED", "CREATED", "FAILED", "PARTIAL", "RUNNING")},
    "Restore Job State Change": {"status": ("ABORTED", "COMPLETED", "FAILED", "PENDING", "RUNNING")},
    "ECS Task State Change": {
        "lastStatus": (
            "ACTIVATING", "DEACTIVATING", "DELETED", "DEPROVISIONING", "PENDING", "PROVISIONING", "RUNNING", "STOPPED",
            "STOPPING",
        ),
    },
    "Config Rules Compliance Change": {
        "newEvaluationResult.complianceType": ("COMPLIANT", "INSUFFICIENT_DATA", "NON_COMPLIANT", "NOT_APPLICABLE"),
    },
    "AWS Health Event": {
        "eventTypeCategory": ("accountNotification", "investigation", "issue", "scheduledChange"),
    },
    "ECR Image Action": {
        "action-type": ("DELETE", "PULL", "PUSH", "REPLICATE"), "result": ("FAILURE", "SUCCESS"),
    },
    "ECR Image Scan": {"scan-status": ("ACTIVE", "COMPLETE", "FAILED", "FINDINGS_UNAVAILABLE", "IN_PROGRESS")},
    "EBS Snapshot Notification": {"result": ("failed", "succeeded")},
}  # fmt: skip
"""Values of fields of events whose other fields are not all listed here."""
_PATH: Final = re.compile(r"\$\.detail\.([A-Za-z][\w-]*)")
_EQUALS: Final = re.compile(r"\$\.detail\.([A-Za-z][\w.-]*)\s*=\s*\"([^\"*]*)\"")
_FIRST: Final = re.compile(r"\$\.([A-Za-z][\w-]*)")
_EVENT: Final = (
    "version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail", "replay-name",
)  # fmt: skip
_NEAR: Final = 0.8
_AUTO: Final = re.compile(r"-[0-9a-f]{7,8}$")
"""What the engine adds to a name; the ARN of a group is known before it."""
_BUS: Final = "aws:cloudwatch/eventBus:EventBus"
_LET_IN: Final = (EVENT_BUS_POLICY, "aws:cloudwatch/eventPermission:EventPermission")
"""What lets other accounts send to a bus of the stack."""
_SCHEMA: Final = re.compile(r"SCHEMA\(\s*\"?([\w/.-]+)\"?")
_DIMENSIONS: Final = re.compile(r"SCHEMA\(\s*\"?/aws/sagemaker/(Training|Processing|Transform)Jobs\"?\s*,([^)]*)\)")
_OF_JOBS: Final = "Host"
"""The one dimension of the metrics of such jobs, of which a part is the job's name."""
_METRICS: Final = tuple(
    f"/aws/sagemaker/{name}" for name in (
        "Clusters", "EndpointConfig", "Endpoints", "InferenceComponents", "InferenceRecommendationsJobs",
        "ProcessingJobs", "TrainingJobs", "TransformJobs",
    )
)  # fmt: skip
"""Namespaces of SageMaker's metrics (its developer guide, "Metrics for monitoring SageMaker AI with CloudWatch")."""


@cache
def _fields(kind: str) -> Mapping[str, tuple[str, ...]]:
    """The fields of an event's detail with their values; empty where they are not known."""
    if kind in _JOBS:
        try:
            known = {name: shape.enum for name, shape in Shape("sagemaker", _JOBS[kind]).members.items()}
            return {**known, **dict.fromkeys(_BESIDE, ())}
        except (ModelMissingError, KeyError):
            return {}
    return _FIELDS.get(kind, {})


def check(stack: Stack) -> None:
    """Every rule, what its targets write of an event, and the filters of the logs that events go to."""
    patterns = {rule.resource.urn: _pattern(rule) for rule in stack.of_type(EVENT_RULE)}
    for rule in stack.of_type(EVENT_RULE):
        _matched(rule, patterns[rule.resource.urn])
    _ways(stack)
    for target in stack.of_type(EVENT_TARGET):
        own = target.referred("rule", EVENT_RULE)
        fields = _of(patterns.get(own.resource.urn, {})) if own is not None else {}
        for key, text in target.mapping("inputTransformer.inputPaths").items() if fields else ():
            for name in _PATH.findall(text) if isinstance(text, str) else ():
                _is_field(target, f"inputTransformer.inputPaths.{key}", name, fields)
            _of_event(target, f"inputTransformer.inputPaths.{key}", text)
        _filters(stack, target, fields)
    _let_by(stack, patterns)
    _namespaces(stack)


def _pattern(rule: View) -> Mapping[str, Any]:
    try:
        found = json.loads(rule.text("eventPattern") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _of(pattern: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    kinds = listed(pattern.get("detail-type"))
    return _fields(kinds[0]) if len(kinds) == 1 and isinstance(kinds[0], str) else {}


def _matched(rule: View, pattern: Mapping[str, Any]) -> None:
    fields, detail = _of(pattern), pattern.get("detail")
    kinds = listed(pattern.get("detail-type"))
    valued = _VALUES.get(str(kinds[0]), {}) if len(kinds) == 1 and isinstance(detail, Mapping) else {}
    for path in valued:
        wanted = follow(detail, *path.split("."))
        _are_values(rule, "eventPattern", path, [one for one in listed(wanted) if isinstance(one, str)], valued)
    if not fields or not isinstance(detail, Mapping):
        return
    for name, wanted in detail.items():
        if name.startswith("$") or not _is_field(rule, "eventPattern", str(name), fields):
            continue
        inner = wanted.items() if isinstance(wanted, Mapping) else ()
        pairs: list[tuple[str, Any]] = [(str(name), wanted), *((f"{name}.{key}", one) for key, one in inner)]
        for path, values in pairs:
            _are_values(rule, "eventPattern", path, [one for one in listed(values) if isinstance(one, str)], fields)


def _is_field(view: View, path: str, name: str, fields: Mapping[str, tuple[str, ...]]) -> bool:
    known = [one for one in fields if "." not in one]
    if name in known:
        return True
    view.error(
        "programs-event", path, f"such an event has no detail {show(name)}: nothing is found there",
        allowed=f"one of {', '.join(sorted(known)[:16])}", hint=nearest(name, known),
    )  # fmt: skip
    return False


def _are_values(view: View, path: str, name: str, values: Sequence[str], fields: Mapping[str, tuple[str, ...]]) -> None:
    known = fields.get(name, ())
    for value in values if known else ():
        if value not in known:
            view.error(
                "programs-event", path, f"{name} is never {show(value)}: no such event comes",
                allowed=f"one of {', '.join(known)}", hint=nearest(value, known),
            )  # fmt: skip


def _of_event(target: View, path: str, text: Any) -> None:
    """What every event has around its detail (EventBridge User Guide, "Events")."""
    first = _FIRST.match(text) if isinstance(text, str) else None
    if first is not None and first[1] not in _EVENT:
        target.error(
            "programs-event", path, f"an event has nothing called {show(first[1])}: nothing is found there",
            allowed=f"one of {', '.join(_EVENT)}", hint=nearest(first[1], _EVENT),
        )  # fmt: skip


def _filters(stack: Stack, target: View, fields: Mapping[str, tuple[str, ...]]) -> None:
    """What is counted in a log group that events are written to."""
    group = (target.text("arn") or "").removesuffix(":*").partition(":log-group:")[2]
    for view in stack.of_type(LOG_METRIC_FILTER) if group and fields else ():
        name = view.text("logGroupName") or ""
        if name and (name == group or name.startswith(f"{group}-")):
            text = view.text("pattern") or ""
            for field in dict.fromkeys(_PATH.findall(text)):
                _is_field(view, "pattern", field, fields)
            for field in _PATH.findall(view.text("metricTransformation.value") or ""):
                _is_field(view, "metricTransformation.value", field, fields)
            for field, value in _EQUALS.findall(text):
                _are_values(view, "pattern", field, [value], fields)


def _let_by(stack: Stack, patterns: Mapping[str, Mapping[str, Any]]) -> None:
    """A filter counts what some rule lets into its log: the values that each rule's pattern lists are all there are."""
    writers: dict[str, list[Mapping[str, Any]]] = {}
    for target in events_of(stack):
        rule = target.referred("rule", EVENT_RULE)
        # Of a rule that nobody knows, and of what a target writes in another form, anything may come.
        known = rule is not None and not target.has("inputTransformer") and not target.has("inputPath")
        group = (target.text("arn") or "").removesuffix(":*").partition(":log-group:")[2]
        pattern = patterns.get(rule.resource.urn, {}) if known and rule is not None else {}
        writers.setdefault(group, []).append(pattern)
    for view in stack.of_type(LOG_METRIC_FILTER) if writers else ():
        name = view.text("logGroupName") or ""
        led = [
            pattern
            for group, found in writers.items()
            if _AUTO.sub("", name) == _AUTO.sub("", group)
            for pattern in found
        ]
        for field, value in _EQUALS.findall(view.text("pattern") or ""):
            lists = [listed(follow(pattern, "detail", *field.split("."))) for pattern in led]
            if lists and all(lists) and all(isinstance(one, str) and one != value for each in lists for one in each):
                allowed = sorted({str(one) for each in lists for one in each})
                view.error(
                    "programs-event", "pattern",
                    f"counts {field} {show(value)}, and the rules that write to the log let others by alone: it counts "
                    "nothing", allowed=f"one of {', '.join(allowed)}", hint=nearest(value, allowed),
                )  # fmt: skip


def _ways(stack: Stack) -> None:
    """Rules without a target, and targets of a rule that there is not."""
    rules, targets = stack.of_type(EVENT_RULE), stack.of_type(EVENT_TARGET)
    names = {rule.text("name") for rule in rules} | {str(rule.resource.outputs.get("name")) for rule in rules}
    for target in targets:
        name = target.text("rule")
        hint = (
            nearest(name, {str(one) for one in names}, cutoff=_NEAR) if name is not None and name not in names else ""
        )
        if hint and None not in names:
            target.error("programs-event", "rule", f"the stack makes no rule {show(name)}: nothing is sent", hint=hint)
    for one in rules:
        _bus(stack, one)
    if any(target.is_unknown("rule") or target.referred("rule", EVENT_RULE) is None for target in targets):
        return
    led = {rule.resource.urn for target in targets if (rule := target.referred("rule", EVENT_RULE)) is not None}
    for rule in rules:
        if rule.resource.urn not in led and not rule.resource.read and not _is_of_another(rule):
            rule.warning("programs-event", "name", "no target takes what the rule matches: the event is lost")


def _bus(stack: Stack, rule: View) -> None:
    """Services of AWS send to the bus `default` alone: on another their events come where one is led there.

    By a rule that has the bus as its target, or by whom a policy of the bus lets (EventBridge User Guide, "Event buses
    in Amazon EventBridge", 2026-11).
    """
    sources = _pattern(rule).get("source")
    bus = rule.referred("eventBusName", _BUS)
    if bus is None or bus.resource.read or not listed(sources):
        return
    # A partner's events come on a bus of their own, under a source of his.
    if not all(isinstance(one, str) and re.match(r"aws\.(?!partner/)", one) for one in listed(sources)):
        return
    arn = str(bus.resource.outputs.get("arn"))
    led = any(arn in str(target.value("arn")) or target.is_unknown("arn") for target in stack.of_type(EVENT_TARGET))
    if not led and not any(stack.of_type(type_) for type_ in _LET_IN):
        rule.warning(
            "programs-event", "eventBusName",
            f"services of AWS send to the bus default, and nothing of this stack leads their events on to {bus.name}: "
            "unless another one does, none comes",
            allowed="default, or a rule there whose target is the bus",
        )  # fmt: skip


def _is_of_another(rule: View) -> bool:
    """A rule that a service manages, or on a bus whose targets are elsewhere."""
    return rule.text("eventBusName") not in (None, "default")


def _namespaces(stack: Stack) -> None:
    """Namespaces of metrics: those that expressions ask, and one that a filter writes beside the others."""
    for alarm in stack.of_type(METRIC_ALARM):
        for path, query in alarm.items("metricQueries"):
            for name in _SCHEMA.findall(str(query.get("expression") or "")):
                hint = nearest(name, _METRICS, cutoff=_NEAR)
                if name not in _METRICS and hint:
                    alarm.error(
                        "programs-alarm", f"{path}.expression", f"nothing sends metrics to {show(name)}", hint=hint
                    )
            for kind, names in _DIMENSIONS.findall(str(query.get("expression") or "")):
                if any(one.strip(' "') != _OF_JOBS for one in names.split(",")):
                    message = f"metrics of {kind.lower()} jobs have no such dimensions, {names.strip()}: none is meant"
                    alarm.error("programs-alarm", f"{path}.expression", message, allowed=_OF_JOBS)
    written = {view.resource.urn: view for view in stack.of_type(LOG_METRIC_FILTER)}
    spaces = {urn: view.text("metricTransformation.namespace") for urn, view in written.items()}
    watched = {space for space, _ in own_metrics.watched_by_alarms(stack)} if len(written) > 1 else set()
    for urn, view in written.items():
        others = {one for other, one in spaces.items() if other != urn and one is not None}
        space = spaces[urn]
        if space is None or space in others or space in watched:
            continue
        if others and (hint := _slip(space, others)):
            view.error(
                "programs-alarm", "metricTransformation.namespace",
                f"writes to {show(space)}, and the stack's other filters to {', '.join(sorted(others))}: what watches "
                "them sees nothing of it", hint=hint,
            )  # fmt: skip


def _slip(space: str, others: set[str]) -> str:
    return slip(space, others) or next((f"did you mean {one}?" for one in sorted(others) if one.startswith(space)), "")


def events_of(stack: Stack) -> Iterator[View]:
    """The targets that are log groups, for who asks whether EventBridge may write there."""
    for target in stack.of_type(EVENT_TARGET):
        if ":log-group:" in (target.text("arn") or ""):
            yield target
