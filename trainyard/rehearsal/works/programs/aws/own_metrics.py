"""Metrics of the stack's own, which its filters of logs send: who watches them names them as the filters do.

Source: CloudWatch user guide, "Dashboard body structure and syntax" (`.` in a metric's array repeats what stands above
it, `...` all of it but its end), 2026-11. A program may send metrics too (`PutMetricData`): sure is only a slip of the
pen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import DASHBOARD, LOG_METRIC_FILTER, METRIC_ALARM
from trainyard.rehearsal.context import Stack, View, listed, show
from trainyard.rehearsal.works.names_of_aws import slip

RULE: Final = "programs-alarm"
_NEAR: Final = 0.8
_SAME, _ALL_THE_SAME = ".", "..."

OwnMetrics = Mapping[str, set[str | None]]
"""Metrics that the stack's own filters of logs send, by namespace; None: one whose name is not known yet."""


def own_metrics(stack: Stack) -> OwnMetrics:
    """What each filter of logs sends, but to namespaces of AWS."""
    found: dict[str, set[str | None]] = {}
    for view in stack.of_type(LOG_METRIC_FILTER):
        namespace = view.text("metricTransformation.namespace")
        if namespace is not None and not namespace.startswith("AWS/"):
            found.setdefault(namespace, set()).add(view.text("metricTransformation.name"))
    return found


def check_boards(stack: Stack) -> None:
    """Every graph of a dashboard."""
    own = own_metrics(stack)
    for board in stack.of_type(DASHBOARD) if own else ():
        for path, namespace, metric in _shown(board.text("dashboardBody") or "{}"):
            check_watched(board, path, path, namespace, metric, own)


def check_halves(stack: Stack) -> None:
    """Filters of one log that send one metric, of which one part goes where the stack looks and the other does not.

    What fails is counted in one namespace and what succeeds in another: the alarm is there, and it sees one half. A
    metric that nobody looks at is no mistake by itself: people look at metrics too.
    """
    filters = stack.of_type(LOG_METRIC_FILTER)
    seen = watched_by_alarms(stack) if len(filters) > 1 else set()
    by_log: dict[tuple[str, str], list[View]] = {}
    for view in filters if seen else ():
        group, metric = view.text("logGroupName"), view.text("metricTransformation.name")
        if group is not None and metric is not None and view.text("metricTransformation.namespace") is not None:
            by_log.setdefault((group, metric), []).append(view)
    for (_, metric), views in by_log.items():
        namespaces = {str(view.text("metricTransformation.namespace")): view for view in views}
        watched = sorted(namespace for namespace in namespaces if (namespace, metric) in seen)
        for namespace, view in namespaces.items() if watched else ():
            if (namespace, metric) not in seen and not _is_said(stack, namespace, metric):
                message = (
                    f"sends {metric} to {show(namespace)}, where nothing of the stack looks: what another filter of "
                    f"the same log sends to {watched[0]} is watched"
                )
                view.warning(RULE, "metricTransformation.namespace", message, allowed=", ".join(watched))


def watched_by_alarms(stack: Stack) -> set[tuple[str, str]]:
    """Namespace and name of what the alarms watch."""
    found = set()
    for alarm in stack.of_type(METRIC_ALARM):
        for base in ("", *(f"{path}.metric." for path, _ in alarm.items("metricQueries"))):
            found.add((alarm.text(f"{base}namespace") or "", alarm.text(f"{base}metricName") or ""))
    return found - {("", "")}


def _is_said(stack: Stack, namespace: str, metric: str) -> bool:
    """Whether anything but a filter says both: a dashboard, a query, a policy of scaling, a program."""
    whole = re.compile(rf"(?<![\w/.-]){re.escape(namespace)}(?![\w/.-])")
    for view in stack.views:
        for path, text in known_texts(view.inputs) if view.type != LOG_METRIC_FILTER else ():
            if (metric in text and whole.search(text)) or (path.lower().endswith("namespace") and text == namespace):
                return True
    return False


def check_watched(
    view: View, namespace_path: str, metric_path: str, namespace: str, metric: str | None, own: OwnMetrics
) -> None:
    """A namespace and a metric that something watches, against those that the filters send."""
    sees = f"the {'graph is empty' if view.type == DASHBOARD else 'alarm sees nothing'}"
    sent = own.get(namespace)
    if sent is not None:
        if metric is not None and None not in sent and metric not in sent:
            _is_not_sent(view, metric_path, namespace, metric, sorted(str(one) for one in sent), sees)
        return
    if namespace.startswith("AWS/"):
        return
    others = sorted(other for other, names in own.items() if metric in names) if metric is not None else []
    hint = slip(namespace, own) or (f"did you mean {others[0]}?" if others else "")
    if hint:
        told = f"no filter of the stack sends to {show(namespace)}: unless a program does, {sees}"
        view.warning(RULE, namespace_path, told, allowed=", ".join(sorted(own)), hint=hint)


def _is_not_sent(view: View, path: str, namespace: str, metric: str, known: list[str], sees: str) -> None:
    allowed, told = f"one of {', '.join(known)}", f"no filter of the stack sends {show(metric)} in {namespace}"
    if hint := slip(metric, known):
        view.error(RULE, path, f"{told}: {sees}", allowed=allowed, hint=hint)
    elif hint := nearest(metric, known, cutoff=_NEAR):
        view.warning(RULE, path, f"{told}: unless a program does, {sees}", allowed=allowed, hint=hint)
    elif view.type != DASHBOARD:  # which mostly draws what programs send, too
        view.warning(RULE, path, f"{told}: unless a program does, {sees}", allowed=allowed)


def _shown(body: str) -> Iterator[tuple[str, str, str]]:
    """Path, namespace and name of each metric that a dashboard draws as it is."""
    try:
        read: Any = json.loads(body)
    except ValueError:
        return
    for index, widget in enumerate(listed(read.get("widgets")) if isinstance(read, dict) else ()):
        properties = widget.get("properties") if isinstance(widget, dict) else None
        last: list[Any] = []
        for place, metric in enumerate(listed(properties.get("metrics")) if isinstance(properties, dict) else ()):
            if not isinstance(metric, list) or not all(isinstance(one, str) for one in metric[:2]) or len(metric) < 2:
                continue
            if metric[0] == _ALL_THE_SAME:
                continue
            named = [above if one == _SAME else one for one, above in zip(metric[:2], last or metric, strict=False)]
            last = named
            if not {_SAME, _ALL_THE_SAME} & set(named):
                yield f"dashboardBody.widgets[{index}].properties.metrics[{place}]", named[0], named[1]
