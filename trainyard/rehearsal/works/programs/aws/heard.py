"""Messages that nobody hears: topics without a subscriber, subscribers that let nothing by, alarms that tell nobody.

Sources: Amazon SNS developer guide, "Message filtering" (a policy is matched with the message's attributes unless its
scope is the body; what services of AWS publish has none), "SMS", Amazon CloudWatch User Guide, "Alarm actions";
EventBridge User Guide, "Using resource-based policies", CloudWatch Logs permissions (a resource policy of the account
lets `events.amazonaws.com` and `delivery.logs.amazonaws.com` make streams and write) (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    AWS_BUDGET,
    COMPOSITE_ALARM,
    EVENT_RULE,
    EVENT_TARGET,
    LOG_RESOURCE_POLICY,
    METRIC_ALARM,
    SNS_TOPIC,
    SNS_TOPIC_SUBSCRIPTION,
)
from trainyard.rehearsal.context import Stack, View, expand, listed, show
from trainyard.rehearsal.works.programs.aws.events import events_of

_ACTIONS: Final = ("alarmActions", "okActions", "insufficientDataActions")
_WRITER: Final = "events.amazonaws.com"
_WRITES: Final = ("logs:CreateLogStream", "logs:PutLogEvents")
_PUBLISHERS: Final = (
    (EVENT_TARGET, "arn"),
    (METRIC_ALARM, "alarmActions[]"),
    (AWS_BUDGET, "notifications[].subscriberSnsTopicArns[]"),
)


def check(stack: Stack) -> None:
    """Every topic that a service publishes to, every alarm, every log group that events go to."""
    told = dict(_published(stack))
    subscriptions = stack.of_type(SNS_TOPIC_SUBSCRIPTION)
    heard = {one.text("topic") for one in subscriptions}
    if subscriptions and None not in heard:
        for arn, (view, path) in told.items():
            topic = next((one for one in stack.of_type(SNS_TOPIC) if _arn(one) == arn), None)
            if topic is not None and arn not in heard and not topic.resource.read:
                view.warning(
                    "programs-unheard", path,
                    f"tells topic {topic.name}, to which the stack subscribes nobody, as it does to others",
                    allowed="a subscription to the topic",
                )  # fmt: skip
    for view in subscriptions:
        if view.text("topic") in told and _is_of_attributes(view):
            view.error(
                "programs-unheard", "filterPolicy",
                "is matched with attributes of messages, and what services of AWS publish has none: nothing comes",
                allowed="filterPolicyScope: MessageBody",
            )  # fmt: skip
    alarms = stack.of_type(METRIC_ALARM)
    if not stack.of_type(COMPOSITE_ALARM) and any(_tells(alarm, _ACTIONS) for alarm in alarms):
        for alarm in alarms:
            if not _tells(alarm, ("alarmActions",)):
                alarm.warning("programs-unheard", "alarmActions", "is empty: the alarm tells nobody when it rings")
    _logged(stack)


def _tells(alarm: View, keys: tuple[str, ...]) -> bool:
    return any(alarm.is_unknown(key) or alarm.entries(key) for key in keys)


def _arn(view: View) -> str:
    return str(view.resource.outputs.get("arn") or view.resource.id or "")


def _published(stack: Stack) -> Iterator[tuple[str, tuple[View, str]]]:
    for type_, at in _PUBLISHERS:
        for view in stack.of_type(type_):
            for path, arn in expand(view.inputs, at):
                if isinstance(arn, str) and ":sns:" in arn:
                    yield arn, (view, path)


def _is_of_attributes(view: View) -> bool:
    try:
        policy = json.loads(view.text("filterPolicy") or "{}")
    except ValueError:
        return False
    return bool(policy) and view.text("filterPolicyScope") in (None, "MessageAttributes")


def _logged(stack: Stack) -> None:
    policies = stack.of_type(LOG_RESOURCE_POLICY)
    if any(policy.text("policyDocument") is None for policy in policies):
        return
    allowed = [one for policy in policies for one in _allowed(policy) if _is_of_writer(one)]
    for target in events_of(stack):
        arn = (target.text("arn") or "").removesuffix(":*")
        rule = target.referred("rule", EVENT_RULE)
        source = _arn(rule) if rule is not None else ""
        missing = [action for action in _WRITES if not any(_lets(one, action, arn, source) for one in allowed)]
        if missing and not allowed:
            target.warning(
                "programs-unheard", "arn",
                f"no resource policy of logs here is for it: unless the account has one, {_WRITER} writes nothing",
                allowed=f"a LogResourcePolicy that lets {_WRITER} do {' and '.join(missing)}",
            )  # fmt: skip
        elif missing:
            target.error(
                "programs-unheard", "arn",
                f"no resource policy of logs lets {_WRITER} do {' and '.join(missing)} on {show(arn)} for this rule: "
                "no event is written",
            )  # fmt: skip


def _allowed(policy: View) -> list[Mapping[str, Any]]:
    return [one for one in statements(policy.inputs, "policyDocument") if one.get("Effect") == "Allow"]


def _is_of_writer(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    services = [principal] if principal == "*" else _all(follow(principal, "Service"))
    return _WRITER in services or "*" in services


def _lets(statement: Mapping[str, Any], action: str, arn: str, source: str) -> bool:
    if not any(fnmatchcase(action.lower(), str(one).lower()) for one in _all(statement.get("Action"))):
        return False
    if not any(
        fnmatchcase(f"{arn}:log-stream:x", str(one)) or one in (arn, f"{arn}:*")
        for one in _all(statement.get("Resource"))
    ):
        return False
    for test in (statement.get("Condition") or {}).values() if isinstance(statement.get("Condition"), Mapping) else ():
        wanted = _all(test.get("aws:SourceArn")) if isinstance(test, Mapping) else []
        if wanted and source and not any(fnmatchcase(source, str(one)) for one in wanted):
            return False
    return True


def _all(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else listed(value)
