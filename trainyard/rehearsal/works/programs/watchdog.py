"""The sign of life: how often Alertmanager sends it, and whether what waits for it waits long enough.

Source: Prometheus documentation, "Alertmanager configuration", `repeat_interval` (a notification is repeated at the
next `group_interval` after it); Amazon CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data";
Cloud Monitoring, "Metric-absence conditions" (2026-11).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.monitoring import SECONDS
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_LOG_METRIC, METRIC_ALARM, SNS_TOPIC
from trainyard.rehearsal.context import Stack, View, by_name, listed
from trainyard.rehearsal.works.references.kubernetes.alert_routes import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_SIGN: Final = "Watchdog"
_BELOW: Final = ("LessThanThreshold", "LessThanOrEqualToThreshold")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every alarm on the topic, or the metric from logs, that the sign of life goes to."""
    for config in configurations(cluster):
        for seconds, receiver in _signs(config):
            topics = {
                str(one.get("topic_arn")) for one in listed(receiver.get("sns_configs")) if isinstance(one, Mapping)
            }
            names = {
                view.text("name")
                for view in stack.of_type(SNS_TOPIC)
                if view.text("arn") in topics or view.resource.outputs.get("arn") in topics
            }
            for alarm in stack.of_type(METRIC_ALARM):
                if (
                    alarm.text("dimensions.TopicName") in names - {None}
                    and alarm.text("metricName") == "NumberOfMessagesPublished"
                ):
                    _alarm(alarm, seconds)
            if listed(receiver.get("webhook_configs")):
                _alerts(stack, seconds)


def _alarm(alarm: View, seconds: float) -> None:
    period, threshold = alarm.number("period"), alarm.number("threshold")
    periods = alarm.number("datapointsToAlarm") or alarm.number("evaluationPeriods")
    below = alarm.text("comparisonOperator") in _BELOW
    if not period or threshold is None or not periods:
        return
    least = math.floor(period / seconds)
    most_needed = threshold if alarm.text("comparisonOperator") == "LessThanThreshold" else math.floor(threshold) + 1
    if below and (least < most_needed if periods == 1 else period * periods < seconds):
        alarm.error(
            "programs-watchdog",
            "period",
            f"{period:g} s hold {least} signs of life, which come every {seconds:g} s: it rings while all is well",
            allowed=f"{seconds * 2:g} or more",
        )
    elif not below and least > threshold:
        alarm.error(
            "programs-watchdog",
            "comparisonOperator",
            f"signs of life come every {seconds:g} s, more than {threshold:g} in {period:g} s: it rings while all "
            "is well, and not when they stay away",
            allowed=" or ".join(_BELOW),
        )


def _alerts(stack: Stack, seconds: float) -> None:
    """Policies on the absence of a metric that counts the sign of life in a log."""
    counted = {
        view.text("name")
        for view in stack.of_type(GCP_LOG_METRIC)
        if _SIGN in (view.text("filter") or "").split('!="')[0]
    }
    for alert in stack.of_type(GCP_ALERT_POLICY):
        for path, condition in alert.items("conditions"):
            absent = condition.get("conditionAbsent")
            if not isinstance(absent, Mapping):
                continue
            named = re.findall(r"logging\.googleapis\.com/user/([\w./-]+)", str(absent.get("filter")))
            given = _seconds(absent.get("duration"))
            if given is not None and given < seconds and set(named) & counted:
                alert.error(
                    "programs-watchdog",
                    f"{path}.conditionAbsent.duration",
                    f"is {given:g} s, and signs of life come every {seconds:g} s: the alert fires while all is well",
                    allowed=f"{2 * seconds:g}s or more",
                )


def _signs(config: Mapping[str, Any]) -> Iterator[tuple[float, Mapping[str, Any]]]:
    """How often a receiver is sent the sign of life."""
    receivers = by_name(config.get("receivers"))
    root = config.get("route")
    for route, above in _routes(root, {}):
        matchers = [*listed(route.get("matchers")), *(f"{k}={v}" for k, v in _pairs(route.get("match")))]
        if any(re.fullmatch(rf"alertname\s*=~?\s*[\"']?{_SIGN}[\"']?", str(one)) for one in matchers):
            merged = {**above, **route}
            repeat = _seconds(merged.get("repeat_interval", "4h"))
            group = _seconds(merged.get("group_interval", "5m"))
            receiver = receivers.get(str(merged.get("receiver")))
            if repeat and group and receiver is not None:
                yield math.ceil(repeat / group) * group, receiver


def _pairs(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _routes(route: Any, above: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    if not isinstance(route, Mapping):
        return
    yield route, above
    own = {key: value for key, value in route.items() if key in ("receiver", "repeat_interval", "group_interval")}
    for one in listed(route.get("routes")):
        yield from _routes(one, {**above, **own})


def _seconds(value: Any) -> float | None:
    """A duration as Prometheus and Google write it."""
    parts = re.findall(r"([\d.]+)(ms|[smhdwy])", value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * SECONDS[unit] for number, unit in parts)
