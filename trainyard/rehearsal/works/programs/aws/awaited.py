"""Rules of EventBridge that wait for something by a name which nothing here has.

A rule may wait for what another stack makes. Told is what can only be meant for the own: a name that is nearly one of
the stack's or a part of one, and a hook of a group whose hooks the stack makes.

Source: EventBridge event reference, fields of `detail` by event, as generally known (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    BATCH_DEFINITION,
    BATCH_QUEUE,
    BUILD_PROJECT,
    DATABASE,
    ECS_CLUSTER,
    ECS_SERVICE,
    EVENT_RULE,
    GLUE_CRAWLER,
    GLUE_JOB,
    LIFECYCLE_HOOK,
    METRIC_ALARM,
    REPOSITORY,
)
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.aws.state_machines import STATE_MACHINE
from trainyard.rehearsal.refusals.aws.texts import TASK

_GROUPS: Final = {"AutoScalingGroupName": (AUTOSCALING_GROUP, "name")}
_HOOKS: Final = {**_GROUPS, "LifecycleHookName": (LIFECYCLE_HOOK, "name")}
_NAMED: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "EC2 Instance-launch Lifecycle Action": _HOOKS,
    "EC2 Instance-terminate Lifecycle Action": _HOOKS,
    "EC2 Instance Launch Successful": _GROUPS,
    "EC2 Instance Launch Unsuccessful": _GROUPS,
    "EC2 Instance Terminate Successful": _GROUPS,
    "EC2 Instance Terminate Unsuccessful": _GROUPS,
    "ECS Task State Change": {"clusterArn": (ECS_CLUSTER, "arn"), "taskDefinitionArn": (TASK, "arn")},
    "ECS Deployment State Change": {"clusterArn": (ECS_CLUSTER, "arn")},
    "Batch Job State Change": {"jobQueue": (BATCH_QUEUE, "arn"), "jobDefinition": (BATCH_DEFINITION, "arn")},
    "CodeBuild Build State Change": {"project-name": (BUILD_PROJECT, "name")},
    "CodeBuild Build Phase Change": {"project-name": (BUILD_PROJECT, "name")},
    "Step Functions Execution Status Change": {"stateMachineArn": (STATE_MACHINE, "arn")},
    "ECR Image Action": {"repository-name": (REPOSITORY, "name")},
    "ECR Image Scan": {"repository-name": (REPOSITORY, "name")},
    "CloudWatch Alarm State Change": {"alarmName": (METRIC_ALARM, "name")},
    "Glue Job State Change": {"jobName": (GLUE_JOB, "name")},
    "Glue Crawler State Change": {"crawlerName": (GLUE_CRAWLER, "name")},
    "RDS DB Instance Event": {"SourceIdentifier": (DATABASE, "identifier")},
}
"""By event: which field of `detail` names what, and by which input or output."""
_OF_TASKS: Final = {"family:": (TASK, "family"), "service:": (ECS_SERVICE, "name")}
"""What `group` of a task's event begins with, and what follows."""


def check(stack: Stack) -> None:
    """Every rule with a pattern that is known."""
    for rule in stack.of_type(EVENT_RULE):
        try:
            pattern: Any = json.loads(rule.text("eventPattern") or "{}")
        except ValueError:
            continue
        kinds = listed(pattern.get("detail-type")) if isinstance(pattern, dict) else []
        detail = pattern.get("detail") if kinds else None
        if len(kinds) != 1 or not isinstance(detail, Mapping):
            continue
        for field, (type_, key) in _NAMED.get(str(kinds[0]), {}).items():
            wanted = _texts(detail.get(field))
            if field == "LifecycleHookName":
                _hook(stack, rule, wanted, _texts(detail.get("AutoScalingGroupName")))
            else:
                _waits(stack, rule, field, wanted, type_, key)
        groups = _texts(detail.get("group")) if kinds == ["ECS Task State Change"] else []
        for start, (type_, key) in _OF_TASKS.items():
            if groups and all(one.startswith(start) for one in groups):
                _waits(stack, rule, "group", [one.removeprefix(start) for one in groups], type_, key)


def _texts(value: Any) -> list[str]:
    """The values of a field that is matched by texts alone; none of another field."""
    ways = listed(value)
    return ways if all(isinstance(one, str) for one in ways) else []


def _called(stack: Stack, type_: str, key: str) -> list[str] | None:
    """What everything of a type is called; None where that is not known of all."""
    made = stack.of_type(type_)
    names = [view.resource.outputs.get("arn") if key == "arn" else view.text(key) for view in made]
    known = [one for one in names if isinstance(one, str) and one]
    return known if len(known) == len(made) else None


def _waits(stack: Stack, rule: View, field: str, wanted: list[str], type_: str, key: str) -> None:
    names = _called(stack, type_, key)
    if not wanted or not names or any(one in names for one in wanted):
        return
    hints = [hint for one in wanted if (hint := _meant(one, names))]
    if len(hints) == len(wanted):
        rule.warning(
            "programs-pattern", "eventPattern",
            f"waits for {field} {', '.join(map(show, wanted))}, which nothing of the stack is called: none comes",
            hint=hints[0],
        )  # fmt: skip


def _meant(name: str, names: list[str]) -> str:
    """Which of the names one is a slip of, or a part of; empty where it may be another's."""
    own = name.rpartition("/")[2] if name.startswith("arn:") else name
    ends = {one.rpartition("/")[2] if one.startswith("arn:") else one: one for one in names}
    whole = [one for end, one in ends.items() if own and (own in _parts(end) or _leaves_out(own, end))]
    return whole[0] if len(whole) == 1 else ends.get(nearest_of(own, set(ends)) or "", "")


def _parts(name: str) -> Iterator[str]:
    """What a name is without words at its beginning or its end: `trainer` and `shop` of `shop-trainer`."""
    for index, letter in enumerate(name):
        if letter in "-_":
            yield name[:index]
            yield name[index + 1 :]


def _leaves_out(name: str, whole: str) -> bool:
    """Whether a name is another without a word or more in its middle: `acme-mlflow` for `acme-demo-mlflow`."""
    words, every = name.split("-"), whole.split("-")
    return 1 < len(words) < len(every) and words == [*every[: len(words) - 1], every[-1]]


def _hook(stack: Stack, rule: View, wanted: list[str], groups: list[str]) -> None:
    """A hook of a group that the stack makes is among those that it makes for it."""
    made = [view for view in stack.of_type(AUTOSCALING_GROUP) if view.text("name") in groups]
    hooks = stack.of_type(LIFECYCLE_HOOK)
    if not wanted or len(groups) != 1 or len(made) != 1 or made[0].blurred("initialLifecycleHooks"):
        return
    names = [view.text("name") for view in hooks if view.text("autoscalingGroupName") in (None, *groups)]
    names += [str(follow(entry, "name")) for _, entry in made[0].items("initialLifecycleHooks")]
    known = [one for one in names if one is not None]
    if known and len(known) == len(names) and not any(one in known for one in wanted):
        rule.warning(
            "programs-pattern", "eventPattern",
            f"waits for hook {', '.join(map(show, wanted))}, and group {made[0].name} has {', '.join(known)}: none "
            "comes", allowed=", ".join(known), hint=known[0],
        )  # fmt: skip
