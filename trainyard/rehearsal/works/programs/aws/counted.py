"""Figures that are counted in logs and shown: patterns that CloudWatch reads as JSON, in the log that events go to, and
graphs of the stack's own region.

Source: CloudWatch Logs user guide, "Filter pattern syntax" (a pattern on fields of JSON stands in braces; any other is
of words); CloudWatch user guide, "Search expression syntax" (2026-11).
"""

from __future__ import annotations

import json
import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import DASHBOARD, EVENT_TARGET, FLOW_LOG, LOG_METRIC_FILTER
from trainyard.rehearsal.context import Stack, View, listed, show

_SPACE: Final = re.compile(r"\{\s*\"?(?P<space>/?[A-Za-z][\w/.-]*)\"?\s*[,}]")
_OF_SAGEMAKER: Final = tuple(
    f"/aws/sagemaker/{name}" for name in (
        "Clusters", "Endpoints", "InferenceComponents", "InferenceRecommendationsJobs", "ProcessingJobs",
        "TrainingJobs", "TransformJobs",
    )
)  # fmt: skip
_SLIP: Final = 0.9  # of the ratio of difflib: there are namespaces beside those of the table
_EVENTS: Final = "/aws/events/"
"""Where groups of logs begin that EventBridge writes to: a function may log events as well, in a group of its own."""
_ELSEWHERE: Final = ("AWS/Billing", "AWS/CloudFront", "AWS/Route53", "AWS/WAFV2", "AWS/Health")
"""Namespaces of services that have one region for all."""


def check(stack: Stack) -> None:
    """Every filter and every dashboard."""
    written = {
        (target.text("arn") or "").removesuffix(":*").partition(":log-group:")[2]
        for target in stack.of_type(EVENT_TARGET)
    } - {""}
    flows = {
        (flow.text("logDestination") or "").removesuffix(":*").partition(":log-group:")[2]
        for flow in stack.of_type(FLOW_LOG)
    } - {""}
    for target in stack.of_type(EVENT_TARGET):
        group = (target.text("arn") or "").removesuffix(":*").partition(":log-group:")[2]
        if group in flows:
            message = f"writes events to {show(group)}, where flow logs are: who counts events elsewhere counts none"
            target.warning("programs-event", "arn", message, allowed=f"a group of its own, below {_EVENTS}")
    for view in stack.of_type(LOG_METRIC_FILTER):
        _pattern(view, written, flows)
    regions = {stack.context.region, *(view.text("region") or "" for view in stack.views)} - {""}
    for board in stack.of_type(DASHBOARD):
        _board(board, stack.context.region, regions)


def _pattern(view: View, written: set[str], flows: set[str]) -> None:
    """`flows` are groups in which there are lines of flow logs, which have no fields of events."""
    pattern, group = (view.text("pattern") or "").strip(), view.text("logGroupName") or ""
    if re.search(r"(?<![\w\"])\$\.\w", pattern) and not (pattern.startswith("{") and pattern.endswith("}")):
        message = "names fields of JSON outside braces, which is a pattern of words: it matches no line"
        view.error("programs-event", "pattern", message, allowed=f"{{ {pattern} }}")
    known = any(group == one or group.startswith(f"{one}-") for one in written)
    is_of_events = group.startswith(_EVENTS) or group in flows
    if written and is_of_events and "$.detail." in pattern and not known:
        message = f"counts fields of events in {show(group)}, which no rule writes events to"
        view.error("programs-event", "logGroupName", message, allowed=", ".join(sorted(written)))


def _board(board: View, region: str, regions: set[str]) -> None:
    """`regions` are all that something of the stack is in; one that is in none is nowhere known."""
    try:
        body = json.loads(board.text("dashboardBody") or "{}")
    except ValueError:
        return
    for index, widget in enumerate(listed(body.get("widgets")) if isinstance(body, dict) else ()):
        properties = widget.get("properties") if isinstance(widget, dict) else None
        if not isinstance(properties, dict):
            continue
        path, text = f"dashboardBody.widgets[{index}].properties", json.dumps(properties.get("metrics"))
        shown = properties.get("region")
        is_elsewhere = isinstance(shown, str) and bool(region) and shown not in regions
        if is_elsewhere and not any(one in text for one in _ELSEWHERE):
            message = f"shows {shown}, and the stack is in {region}: the graph is empty"
            board.warning("programs-alarm", f"{path}.region", message, allowed=region)
        for space in dict.fromkeys(one["space"] for one in _SPACE.finditer(text.replace('\\"', '"'))):
            near = (
                nearest(space, _OF_SAGEMAKER, cutoff=_SLIP)
                if space.startswith("/aws/sagemaker") and space not in _OF_SAGEMAKER
                else ""
            )
            if near:
                board.error("programs-alarm", f"{path}.metrics", f"nothing sends metrics to {show(space)}", hint=near)
