"""Security: what happens in a project of Google Cloud stays where it must, and somebody is told of what matters.

Who changes what is on record by itself. All other logs go to the log bucket `_Default`, which is of no region, until a
sink takes them elsewhere and an exclusion keeps them out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.residency import REGIME, allowed_regions
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.security_watch import ELSEWHERE, EVERY_LOG, unless_elsewhere
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, list_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_ALERT_POLICY,
    GCP_LOG_BUCKET,
    GCP_LOG_EXCLUSION,
    GCP_LOG_METRIC,
    GCP_LOG_SINK,
    GKE_CLUSTER,
)

_METRIC: Final = re.compile(r"logging\.googleapis\.com/user/([^\"\s]+)")


@stack_rule(
    "logs-outside-residency",
    "With a residency regime chosen, what a project of Google Cloud logs stays in its regions.",
    types=(GKE_CLUSTER, GCP_LOG_BUCKET, GCP_LOG_SINK, GCP_LOG_EXCLUSION),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SA-9(5)", "ISO 27001:2022 A.5.34"),
    fix="Leave audit.trail to the stack, or say in audit.trail who keeps the project's logs in the region.",
    config={**REGIME, **ELSEWHERE},
)
def logs_outside_residency(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """What containers write is the client's data as any other."""
    regime, allowed = allowed_regions(config)
    unless_elsewhere("trail", config)
    clusters = resources.of(GKE_CLUSTER)
    if not clusters:
        return
    inside = [
        bucket for bucket in resources.of(GCP_LOG_BUCKET) if str(value_at(bucket.inputs, "location")).lower() in allowed
    ]
    sinks = [
        sink
        for sink in resources.of(GCP_LOG_SINK)
        if _takes_everything(sink) and any(_leads_to(sink, bucket, resources) for bucket in inside)
    ]
    if not sinks:
        yield clusters[0], f"no sink takes all logs to a log bucket of {regime}: they are in _Default, of no region"
    elif not _default_is_shut(resources, inside):
        yield sinks[0], "the logs go to _Default as well, which is of no region: no exclusion keeps them out"


def _takes_everything(sink: RecordedResource) -> bool:
    whole = EVERY_LOG.fullmatch(str(value_at(sink.inputs, "filter", default="")))
    return bool(whole) and not is_on(sink.inputs, "disabled") and not list_at(sink.inputs, "exclusions")


def _leads_to(sink: RecordedResource, bucket: RecordedResource, resources: Resources) -> bool:
    """Whether a sink's destination is a log bucket: made of it, or by the text of both."""
    if bucket in resources.referred(sink, "destination", GCP_LOG_BUCKET):
        return True
    destination = str(value_at(sink.inputs, "destination", unknown=""))
    place, name = value_at(bucket.inputs, "location"), value_at(bucket.inputs, "bucketId", unknown="")
    return bool(name) and destination.endswith(f"/locations/{place}/buckets/{name}")


def _default_is_shut(resources: Resources, inside: list[RecordedResource]) -> bool:
    """Whether nothing is written to `_Default`: an exclusion keeps everything out, or its sink goes elsewhere."""
    for exclusion in resources.of(GCP_LOG_EXCLUSION):
        whole = EVERY_LOG.fullmatch(str(value_at(exclusion.inputs, "filter", default="")))
        if whole and not is_on(exclusion.inputs, "disabled"):
            return True
    for sink in resources.of(GCP_LOG_SINK):
        if value_at(sink.inputs, "name") == "_Default":
            return is_on(sink.inputs, "disabled") or any(_leads_to(sink, bucket, resources) for bucket in inside)
    return False


@stack_rule(
    "rights-change-unnoticed",
    "Somebody is told when rights of the project change, and when what is recorded does.",
    types=(GKE_CLUSTER, GCP_ALERT_POLICY, GCP_LOG_METRIC),
    severity=Severity.MEDIUM,
    controls=("CIS GCP 3.0.0 2.4", "CIS GCP 3.0.0 2.5", "NIST 800-53r5 AC-2(12)", "ISO 27001:2022 A.8.2"),
    fix="Leave audit.trail to the stack and set alertEmails, or say in audit.trail who watches the project.",
    config=ELSEWHERE,
)
def rights_change_unnoticed(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """An alert on entries of the log, or on a metric of them, that is on and has somebody to tell."""
    unless_elsewhere("trail", config)
    clusters = resources.of(GKE_CLUSTER)
    if not clusters:
        return
    metrics = {
        str(value_at(metric.inputs, "name", unknown="")): str(value_at(metric.inputs, "filter", default=""))
        for metric in resources.of(GCP_LOG_METRIC)
    }
    alarms = [
        filter_
        for policy in resources.of(GCP_ALERT_POLICY)
        if value_at(policy.inputs, "enabled") is not False and policy.inputs.get("notificationChannels")
        for condition in mappings_at(policy.inputs, "conditions")
        for filter_ in _filters(condition, metrics)
    ]
    for words, what in (("SetIamPolicy", "rights of the project change"), ("Sink", "what is recorded changes")):
        if not any(words in filter_ for filter_ in alarms):
            yield clusters[0], f"nobody is told when {what} (no alert on log entries of {words})"


def _filters(condition: Any, metrics: dict[str, str]) -> Iterator[str]:
    """The filters of log entries that a condition is about."""
    yield str(value_at(condition, "conditionMatchedLog", "filter", default=""))
    for name in _METRIC.findall(str(value_at(condition, "conditionThreshold", "filter", default="", unknown=""))):
        yield metrics.get(name, "")
