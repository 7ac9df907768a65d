"""Widgets of a dashboard of CloudWatch, and the message of an event's target.

Source: CloudWatch user guide, "Dashboard body structure and syntax"; EventBridge user guide, "Amazon EventBridge input
transformation" (a placeholder that no path fills is refused); as generally known, 2026-11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.types import DASHBOARD, EVENT_TARGET
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

_BODY: Final = "dashboardBody"
_KINDS: Final = ("metric", "text", "log", "alarm", "explorer", "custom")
_WIDE: Final = 24
_HIGH: Final = 1000
_NEEDED: Final = {"text": ("markdown",), "log": ("region", "query"), "alarm": ("alarms",), "custom": ("endpoint",)}
_VIEWS: Final = ("timeSeries", "singleValue", "gauge", "bar", "pie", "table")
_OWN: Final = ("aws.events.rule-arn", "aws.events.rule-name", "aws.events.event", "aws.events.event.json",
               "aws.events.event.ingestion-time")  # fmt: skip
_PLACEHOLDER: Final = re.compile(r"<([A-Za-z0-9_.-]+)>")
_INPUTS: Final = ("input", "inputPath", "inputTransformer")


def board(view: View) -> None:
    """Each widget has its place and what its kind asks for."""
    text = view.text(_BODY)
    try:
        body = json.loads(text) if text is not None else None
    except ValueError:
        return  # told by the check of the format
    for index, widget in enumerate(listed(body.get("widgets")) if isinstance(body, dict) else ()):
        if isinstance(widget, Mapping):
            _widget(view, f"{_BODY}.widgets[{index}]", widget)


def _widget(view: View, path: str, widget: Mapping[str, Any]) -> None:
    kind, properties = widget.get("type"), widget.get("properties")
    if kind not in _KINDS:
        hint = nearest(str(kind), _KINDS)
        view.error("dashboard-widget", f"{path}.type", f"got {show(kind)}", allowed=", ".join(_KINDS), hint=hint)
        return
    across, wide = widget.get("x", 0), widget.get("width", 6)
    if all(isinstance(one, int) for one in (across, wide)) and not (
        wide >= 1 and across >= 0 and across + wide <= _WIDE
    ):
        message = f"begins at {across} and is {wide} wide"
        view.error("dashboard-widget", f"{path}.width", message, allowed=f"within {_WIDE} columns")
    high = widget.get("height", 6)
    if isinstance(high, int) and not 1 <= high <= _HIGH:
        view.error("dashboard-widget", f"{path}.height", f"got {high}", allowed=f"1 to {_HIGH}")
    if not isinstance(properties, Mapping):
        view.error("dashboard-widget", f"{path}.properties", "is missing", allowed="an object")
        return
    needed = list(_NEEDED.get(str(kind), ()))
    if kind == "metric":
        alarms = properties.get("annotations")
        of_alarm = isinstance(alarms, Mapping) and alarms.get("alarms")
        needed = [] if of_alarm else ["region", "metrics"]
        chosen = properties.get("view")
        if chosen is not None and chosen not in _VIEWS:
            hint = nearest(str(chosen), _VIEWS)
            place = f"{path}.properties.view"
            view.error("dashboard-widget", place, f"got {show(chosen)}", allowed=", ".join(_VIEWS), hint=hint)
    for name in needed:
        if not properties.get(name):
            view.error(
                "dashboard-widget", f"{path}.properties.{name}", "is missing", allowed=f"a {kind} widget has one"
            )


def target(view: View) -> None:
    """The message of a target: one way to make it, and every placeholder filled."""
    given = [one for one in _INPUTS if view.has(one)]
    if len(given) > 1:
        view.error("event-message", given[1], f"given beside {given[0]}", allowed="one of them")
    template = view.text("inputTransformer.inputTemplate")
    if template is None or view.blurred("inputTransformer.inputPaths"):
        return
    paths = view.mapping("inputTransformer.inputPaths")
    for name in dict.fromkeys(_PLACEHOLDER.findall(template)):
        if name not in paths and name not in _OWN:
            message = f"<{name}> stands in the message, and no path fills it"
            known = sorted(paths)
            view.error("event-message", "inputTransformer.inputTemplate", message,
                       allowed=", ".join(known), hint=nearest(name, known))  # fmt: skip
    for name, path in paths.items():
        if isinstance(path, str) and not path.startswith("$"):
            view.error(
                "event-message", f"inputTransformer.inputPaths.{name}", f"got {show(path)}", allowed="$.detail.…"
            )


RULES: Final[Rules] = {
    board: (DASHBOARD,),
    target: (EVENT_TARGET,),
}
