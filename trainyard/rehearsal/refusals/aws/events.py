"""What is recorded and who is told: patterns and schedules of EventBridge, selectors of CloudTrail.

Sources: EventBridge user guide, "Event patterns" and "Schedule expressions"; CloudTrail API reference,
`AdvancedFieldSelector` (read 2026-11).
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.types import EVENT_DATA_STORE, EVENT_RULE, TRAIL
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.rules import Rules

_OPERATORS: Final = (
    "prefix", "suffix", "anything-but", "numeric", "exists", "cidr", "equals-ignore-case", "wildcard",
)  # fmt: skip
_COMPARISONS: Final = ("<", "<=", "=", ">", ">=")
_TOP: Final = ("account", "detail", "detail-type", "id", "region", "replay-name", "resources", "source", "time",
               "version", "$or")  # fmt: skip
_SOURCES: Final = (
    "aws.autoscaling", "aws.backup", "aws.batch", "aws.cloudtrail", "aws.cloudwatch", "aws.config", "aws.ec2",
    "aws.ecr", "aws.ecs", "aws.eks", "aws.fsx", "aws.guardduty", "aws.health", "aws.iam", "aws.kms", "aws.lambda",
    "aws.rds", "aws.s3", "aws.sagemaker", "aws.secretsmanager", "aws.securityhub", "aws.signin", "aws.ssm", "aws.sts",
)  # fmt: skip
"""Services that send events, as generally known; others do too, so only what nearly is one of these is told."""
_MEASURES: Final = ("minute", "hour", "day")
_FIELDS: Final = (
    "errorCode", "eventCategory", "eventName", "eventSource", "eventType", "readOnly", "resources.ARN",
    "resources.type", "sessionCredentialFromConsole", "userIdentity.arn", "vpcEndpointId",
)  # fmt: skip

_ONLY_EQUALS: Final = ("eventCategory", "readOnly", "resources.type")
_OTHER_OPERATORS: Final = ("endsWiths", "notEndsWiths", "notEquals", "notStartsWiths", "startsWiths")
_TRUTH: Final = ("true", "false")
_VALUES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    (TRAIL, "eventCategory"): ("Management", "Data", "NetworkActivity"),
    (TRAIL, "readOnly"): _TRUTH,
    (EVENT_DATA_STORE, "readOnly"): _TRUTH,
}
"""What a field may be; an event data store takes events of further kinds, and more with the years."""
_NEEDED: Final = {"Data": "resources.type", "NetworkActivity": "eventSource"}
"""The field that events of a kind are selected by."""


def rule(view: View) -> None:
    """A rule has a pattern or a schedule that EventBridge reads."""
    if view.lacks("eventPattern") and view.lacks("scheduleExpression"):
        view.error("event-rule", "eventPattern", "is missing", allowed="eventPattern or scheduleExpression")
    text, schedule = view.text("eventPattern"), view.text("scheduleExpression")
    if text is not None:
        try:
            pattern = json.loads(text)
        except ValueError:
            return  # told by the check of the format
        wrong = _pattern(pattern, "") if isinstance(pattern, dict) else f"got {show(pattern)}"
        if wrong or not pattern:
            view.error("event-pattern", "eventPattern", wrong or "is empty", allowed="a field and a list of values")
        for source in listed(pattern.get("source")) if isinstance(pattern, dict) else ():
            hint = nearest_of(source, _SOURCES) if isinstance(source, str) and source not in _SOURCES else ""
            if hint:
                view.warning("event-pattern", "eventPattern", f"nothing sends events as {show(source)}", hint=hint)
        for key in pattern if isinstance(pattern, dict) else ():
            hint = "" if key in _TOP else nearest(key, _TOP)
            if hint:
                view.warning("event-pattern", "eventPattern", f"no event has a field {show(key)}", hint=hint)
    if schedule is not None and (never := never_comes(schedule)):
        view.warning("aws-schedule-never", "scheduleExpression", f"{schedule} never comes: {never}", allowed="a time")
    if schedule is not None and not is_schedule(schedule):
        view.error("event-schedule", "scheduleExpression", f"got {show(schedule)}",
                   allowed="rate(1 day), rate(2 days), or cron of six fields")  # fmt: skip


def _pattern(value: Any, path: str) -> str:
    """What is wrong with a part of a pattern: a leaf is a list, and a condition has one operator."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "$or":
                parts = listed(item)
                if len(parts) < 2:
                    return f"{path}$or has {len(parts)} ways"
                wrong = next((found for part in parts if (found := _pattern(part, path))), "")
            else:
                wrong = _pattern(item, f"{path}{key}.")
            if wrong:
                return wrong
        return ""
    where = path.rstrip(".")
    if not isinstance(value, list):
        return f"{where} is {show(value)}, and no list"
    if not value:
        return f"{where} is an empty list"
    return next((found for item in value if isinstance(item, Mapping) and (found := _condition(item, where))), "")


def _condition(item: Mapping[str, Any], where: str) -> str:
    if len(item) != 1:
        return f"{where} has a condition with {len(item)} operators"
    ((name, operand),) = item.items()
    if name not in _OPERATORS:
        return f"{where} has the operator {show(name)}"
    if name == "numeric":
        return "" if _is_numeric(operand) else f"{where} compares {show(operand)}"
    if name == "exists" and not isinstance(operand, bool):
        return f"{where} has exists {show(operand)}"
    return ""


def _is_numeric(operand: Any) -> bool:
    parts = listed(operand)
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    return len(parts) in (2, 4) and all(
        sign in _COMPARISONS and isinstance(number, (int, float)) and not isinstance(number, bool)
        for sign, number in pairs
    )


def is_schedule(text: str) -> bool:
    """Whether a text is a rate or a cron expression of AWS's: six fields, and `?` for one of the two days."""
    rate = re.fullmatch(r"rate\((\d+) (\w+)\)", text)
    if rate is not None:
        many = int(rate[1]) > 1
        return int(rate[1]) > 0 and rate[2] in ([f"{name}s" for name in _MEASURES] if many else _MEASURES)
    cron = re.fullmatch(r"cron\((.*)\)", text)
    if cron is None:
        return False
    fields = cron[1].split()
    return len(fields) == 6 and (fields[2] == "?") != (fields[4] == "?")


_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def never_comes(text: str) -> str:
    """Why a cron expression stands for no day that there will be; empty where it stands for one, or may."""
    cron = re.fullmatch(r"cron\((.*)\)", text)
    fields = cron[1].split() if cron is not None else []
    if len(fields) != 6:
        return ""
    days, months, years = (fields[index].split(",") for index in (2, 3, 5))
    if all(re.fullmatch(r"\d{4}", year) and int(year) < datetime.datetime.now(datetime.UTC).year for year in years):
        return f"{fields[5]} has passed"
    if all(day.isdigit() for day in days) and all(month.isdigit() and 1 <= int(month) <= 12 for month in months):
        longest = max(_DAYS[int(month) - 1] for month in months)
        if min(int(day) for day in days) > longest:
            return f"month {fields[3]} has no day {fields[2]}"
    return ""


def trail(view: View) -> None:
    """Selectors of one kind; logs with a role."""
    if view.entries("eventSelectors") and view.entries("advancedEventSelectors"):
        view.error("trail-selectors", "eventSelectors", "given beside advancedEventSelectors", allowed="one of them")
    for one, other in (
        ("cloudWatchLogsGroupArn", "cloudWatchLogsRoleArn"),
        ("cloudWatchLogsRoleArn", "cloudWatchLogsGroupArn"),
    ):
        if view.has(one) and view.lacks(other):
            view.error("trail-logs", other, f"is missing beside {one}", allowed="both")
    group = view.text("cloudWatchLogsGroupArn")
    if group is not None and not group.endswith(":*"):
        view.error("trail-logs", "cloudWatchLogsGroupArn", f"got {show(group)}", allowed="the ARN with :* at its end")


def selectors(view: View) -> None:
    """Each selects by fields that CloudTrail has, what they may be, and those that its kind of events needs."""
    for path, _ in view.items("advancedEventSelectors"):
        fields = {}
        for here, entry in view.items(f"{path}.fieldSelectors"):
            name = entry.get("field")
            if not isinstance(name, str):
                continue
            fields[name] = entry
            if name not in _FIELDS:
                view.error("trail-selectors", f"{here}.field", f"got {show(name)}",
                           allowed=f"one of {', '.join(_FIELDS)}", hint=nearest(name, _FIELDS))  # fmt: skip
            elif name in _ONLY_EQUALS:
                _only_equals(view, here, entry, _VALUES.get((view.type, name), ()))
        if view.blurred(f"{path}.fieldSelectors") or not fields:
            continue
        if "eventCategory" not in fields:
            view.error("trail-selectors", f"{path}.fieldSelectors", "have no eventCategory", allowed="eventCategory")
        categories = listed(fields.get("eventCategory", {}).get("equals"))
        for category, needed in _NEEDED.items():
            if categories == [category] and needed not in fields:
                view.error("trail-selectors", f"{path}.fieldSelectors", f"have no {needed}",
                           allowed=f"for {category} events")  # fmt: skip
        if categories == ["Management"] and ("resources.type" in fields or "resources.ARN" in fields):
            view.error("trail-selectors", f"{path}.fieldSelectors", "name resources", allowed="none for Management")


def _only_equals(view: View, path: str, entry: Mapping[str, Any], values: tuple[str, ...]) -> None:
    """A field that CloudTrail holds against values alone, some of them against few."""
    name = entry["field"]
    for other in _OTHER_OPERATORS:
        if entry.get(other):
            view.error("trail-selectors", f"{path}.{other}", f"given for {name}", allowed="equals, and nothing else")
    for value in listed(entry.get("equals")):
        if values and isinstance(value, str) and value not in values:
            view.error("trail-selectors", f"{path}.equals", f"{name} is {show(value)}",
                       allowed=f"one of {', '.join(values)}", hint=nearest(value, values))  # fmt: skip


RULES: Final[Rules] = {
    rule: (EVENT_RULE,),
    trail: (TRAIL,),
    selectors: (TRAIL, EVENT_DATA_STORE),
}
