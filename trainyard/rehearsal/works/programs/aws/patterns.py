"""Patterns of EventBridge: events of that kind come from that source, and calls of that name there are.

Source: EventBridge event reference, "detail-type" by service, as generally known (2026-11); names of calls from
botocore's service models, which CloudTrail writes as they are, save for a few: only a slip of the pen is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from math import inf
from typing import Any, Final

from trainyard.problems import nearest, nearest_word
from trainyard.recorded.types import EVENT_RULE
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, operations

_BY_TRAIL: Final = (
    "AWS API Call via CloudTrail", "AWS Console Sign In via CloudTrail", "AWS Console Action via CloudTrail",
    "AWS Service Event via CloudTrail", "AWS Insight via CloudTrail",
)  # fmt: skip
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "aws.guardduty": ("GuardDuty Finding", "GuardDuty Malware Protection Object Scan Result"),
    "aws.health": ("AWS Health Event", "AWS Health Abuse Event"),
    "aws.ec2": (
        "EC2 Instance State-change Notification", "EC2 Spot Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation", "EC2 Spot Instance Request Fulfillment", "EBS Volume Notification",
        "EBS Snapshot Notification", "EC2 Fleet Instance Change", "EC2 Fleet State Change",
    ),
    "aws.autoscaling": (
        "EC2 Instance Launch Successful", "EC2 Instance Launch Unsuccessful", "EC2 Instance Terminate Successful",
        "EC2 Instance Terminate Unsuccessful", "EC2 Instance-launch Lifecycle Action",
        "EC2 Instance-terminate Lifecycle Action",
    ),
    "aws.securityhub": (
        "Security Hub Findings - Imported", "Security Hub Findings - Custom Action", "Security Hub Insight Results",
    ),
    "aws.sagemaker": (
        "SageMaker Training Job State Change", "SageMaker HyperParameter Tuning Job State Change",
        "SageMaker Processing Job State Change", "SageMaker Transform Job State Change",
        "SageMaker Endpoint State Change", "SageMaker Notebook Instance State Change",
    ),
    "aws.rds": (
        "RDS DB Instance Event", "RDS DB Cluster Event", "RDS DB Snapshot Event", "RDS DB Parameter Group Event",
    ),
    "aws.glue": (
        "Glue Job State Change", "Glue Job Run Status", "Glue Crawler State Change",
        "Glue Data Catalog Database State Change", "Glue Data Catalog Table State Change",
    ),
    "aws.kms": ("KMS CMK Rotation", "KMS CMK Deletion", "KMS Imported Key Material Expiration"),
    "aws.s3": ("Object Created", "Object Deleted", "Object Restore Completed", "Object Tags Added"),
    "aws.ecr": ("ECR Image Action", "ECR Image Scan", "ECR Pull Through Cache Action", "ECR Replication Action"),
    "aws.cloudwatch": ("CloudWatch Alarm State Change", "CloudWatch Alarm Configuration Change"),
    "aws.batch": ("Batch Job State Change", "Batch Job Queue Blocked"),
    "aws.backup": ("Backup Job State Change", "Copy Job State Change", "Restore Job State Change"),
    "aws.codebuild": ("CodeBuild Build State Change", "CodeBuild Build Phase Change"),
    "aws.ecs": ("ECS Task State Change", "ECS Container Instance State Change", "ECS Deployment State Change"),
    "aws.states": ("Step Functions Execution Status Change",),
    "aws.signin": (),
    "aws.cloudtrail": (),
}  # fmt: skip
_SOURCES_OF: Final = {kind: source for source, kinds in _OF.items() for kind in kinds}
_NEAR: Final = 0.8
_NEAR_WORD: Final = 0.7


def _is_slip(kind: str, known: str) -> bool:
    """Whether a name is a known one with a slip: its words put together otherwise, one left out, or misspelt.

    Names of events are alike in all services (`Glue Job State Change`, `Batch Job State Change`), and not all are
    known: where a word is another one, the event may be one that is not known.
    """
    given, due = _parts(kind), _parts(known)
    if "".join(given) == "".join(due):
        return True
    if len(given) == len(due):
        return all(
            one == other or nearest_word(one, [other], _NEAR_WORD) for one, other in zip(given, due, strict=True)
        )
    left = iter(due)
    return len(given) == len(due) - 1 and all(one in left for one in given)


def _parts(kind: str) -> list[str]:
    return kind.lower().replace("-", " ").split()


def check(stack: Stack) -> None:
    """Every pattern that is known."""
    for rule in stack.of_type(EVENT_RULE):
        try:
            pattern = json.loads(rule.text("eventPattern") or "{}")
        except ValueError:
            continue
        if isinstance(pattern, Mapping):
            _words(rule, pattern)
            _kinds(rule, pattern)
            _ranges(rule, pattern)
            _calls(rule, pattern)


def _texts(value: Any) -> list[str]:
    return [one for one in listed(value) if isinstance(one, str)]


_ENVELOPE: Final = ("account", "detail-type", "id", "region", "source", "time", "version")
"""Fields of every event that are texts (EventBridge user guide, "AWS service event metadata", 2026-11)."""


def _words(rule: View, pattern: Mapping[str, Any]) -> None:
    """A number is never a text: an account in a pattern is in quotation marks."""
    for name in _ENVELOPE:
        ways = listed(pattern.get(name))
        if ways and all(isinstance(one, int | float) for one in ways):
            message = f"{name} of an event is a text, and the pattern asks for a number: none comes"
            rule.error("programs-pattern", "eventPattern", message, allowed=f'"{ways[0]}" in quotation marks')


def _kinds(rule: View, pattern: Mapping[str, Any]) -> None:
    sources, kinds = _texts(pattern.get("source")), _texts(pattern.get("detail-type"))
    are_all = bool(sources) and len(sources) == len(listed(pattern.get("source")))
    known = [*_BY_TRAIL, *_SOURCES_OF]
    for kind in kinds:
        if kind not in known:
            meant = nearest_word(kind, [one for one in known if _is_slip(kind, one)], _NEAR)
            if meant:
                rule.error(
                    "programs-pattern", "eventPattern", f"no event is called {show(kind)}: none comes",
                    hint=f"did you mean {meant}?",
                )  # fmt: skip
        elif kind in _SOURCES_OF and are_all and _SOURCES_OF[kind] not in sources and len(kinds) == 1:
            rule.error(
                "programs-pattern", "eventPattern", f"{show(kind)} does not come from {', '.join(sources)}",
                allowed=_SOURCES_OF[kind],
            )  # fmt: skip


def _ranges(rule: View, pattern: Mapping[str, Any]) -> None:
    """Numbers that no event has: a range that is empty, or a severity that GuardDuty does not give."""
    severity = "GuardDuty Finding" in _texts(pattern.get("detail-type"))
    for path, conditions in _numeric(pattern):
        low, high = _SEVERITIES if severity and path == "detail.severity" else (-inf, inf)
        spans = [_span(one, low, high) for one in conditions]
        if spans and not any(first < last or (first == last and both) for first, last, both in spans):
            rule.error(
                "programs-pattern", "eventPattern",
                f"no {path.rpartition('.')[2]} is {' or '.join(' '.join(map(str, one)) for one in conditions)}: none "
                "comes", allowed=f"from {low:g} to {high:g}" if low > -inf else "a range that holds a number",
            )  # fmt: skip


def _numeric(value: Any, path: str = "") -> Iterator[tuple[str, list[list[Any]]]]:
    """Fields that are matched by numbers alone, each with its conditions."""
    if not isinstance(value, Mapping):
        return
    for key, below in value.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(below, Mapping):
            yield from _numeric(below, here)
        ways = listed(below)
        found = [listed(one.get("numeric")) for one in ways if isinstance(one, Mapping) and set(one) == {"numeric"}]
        if ways and len(found) == len(ways):
            yield here, found


def _span(condition: list[Any], low: float, high: float) -> tuple[float, float, bool]:
    """First and last number of a condition, and whether both are in it."""
    both = True
    for sign, number in zip(condition[::2], condition[1::2], strict=False):
        if not isinstance(number, int | float):
            continue
        if sign in (">", ">=", "=") and number >= low:
            low, both = number, both and sign != ">"
        if sign in ("<", "<=", "=") and number <= high:
            high, both = number, both and sign != "<"
        if sign == "=" and not low <= number <= high:
            return 1, 0, False
    return low, high, both


_SEVERITIES: Final = (1.0, 10.0)
"""What GuardDuty gives a finding (its user guide, "Severity levels of GuardDuty findings": low from 1.0 to 3.9 to
critical from 9.0 to 10.0, 2026-11)."""


_CALLED: Final = "AWS API Call via CloudTrail"
_AS_CALLED: Final = frozenset(
    {"cloudtrail", "config", "ec2", "guardduty", "iam", "organizations", "rds", "securityhub"}
)
"""Services whose events of calls are surely named as their APIs name these: of Lambda they end in a date (CloudTrail
User Guide, "CloudTrail record contents", 2026-11)."""
_NAMED_OTHERWISE: Final = frozenset({"s3"})
"""Services whose events have older names: `PutBucketPublicAccessBlock` (Amazon S3 User Guide, "Amazon S3 CloudTrail
events", 2026-11)."""


def _calls(rule: View, pattern: Mapping[str, Any]) -> None:
    detail = pattern.get("detail")
    if not isinstance(detail, Mapping):
        return
    hosts, sources = _texts(detail.get("eventSource")), _texts(pattern.get("source"))
    services = [host.removesuffix(".amazonaws.com") for host in hosts]
    for host, service in zip(hosts, services, strict=True):
        if not host.endswith(".amazonaws.com"):
            rule.error(
                "programs-pattern", "eventPattern", f"no event of CloudTrail has the eventSource {show(host)}",
                allowed=f"{host.removeprefix('aws.')}.amazonaws.com",
            )  # fmt: skip
        elif sources and len(sources) == len(listed(pattern.get("source"))) and f"aws.{service}" not in sources:
            rule.error(
                "programs-pattern", "eventPattern",
                f"events of {host} have the source aws.{service}, which the pattern leaves out: none comes",
                allowed=f"aws.{service} in source",
            )  # fmt: skip
    calls = _of_services(tuple(services)) if _NAMED_OTHERWISE.isdisjoint(services) else frozenset()
    for name in _texts(detail.get("eventName")):
        if not calls or name in calls:
            continue
        told = f"{', '.join(services)} has no call {show(name)}: none comes"
        if hint := nearest(name, calls, cutoff=_NEAR):
            rule.error("programs-pattern", "eventPattern", told, hint=hint)
        elif _AS_CALLED.issuperset(services) and listed(pattern.get("detail-type")) == [_CALLED]:
            rule.warning("programs-pattern", "eventPattern", told, allowed="the call's name in the API")


@cache
def _of_services(services: tuple[str, ...]) -> frozenset[str]:
    """The calls of some services; empty where one is not known."""
    return frozenset(_every(services))


def _every(services: tuple[str, ...]) -> Iterator[str]:
    for service in services:
        try:
            yield from operations(service)
        except ModelMissingError:
            return
