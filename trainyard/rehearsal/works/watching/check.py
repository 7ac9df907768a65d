"""Every expression of a rule, a dashboard or a controller: the metrics are answered, and carry the labels asked for.

Prometheus takes any name: an alert on a metric that nobody exports never fires, and its dashboard stays empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.monitoring import rules_of
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import AMP_RULES
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching.constants import check_constants
from trainyard.rehearsal.works.watching.dashboards import dashboards, expressions
from trainyard.rehearsal.works.watching.exporters import MONITORS, OF_TARGETS, RULES, Family, Metric, families, recorded
from trainyard.rehearsal.works.watching.functions import misused
from trainyard.rehearsal.works.watching.labels import check_alerts, check_keepers, check_words, recorded_labels
from trainyard.rehearsal.works.watching.panels import check_panels
from trainyard.rehearsal.works.watching.promql import Selector, selectors
from trainyard.rehearsal.works.watching.syntax import check as check_syntax
from trainyard.rehearsal.works.watching.units import compared

_NEAR: Final = 0.86
"""How like a known metric one of an exporter has to be whose list is not whole."""
_ALIKE: Final = 10
"""First letters that it has in common with it."""
_STEM: Final = 3
"""Letters that are left of a word that is cut short, at least."""
_ASKS: Final = frozenset({"metric", "spent", "query", "expression"})
"""Keys of what controllers are told, in JSON, that are expressions."""
_SLIP: Final = 0.6
"""How like a known value one has to be whose list is whole, but for versions to come."""
_NAMES: Final = 5
_VALUES: Final = {
    ("kube_node_status_condition", "condition"): (
        "Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable",
    ),
}  # fmt: skip
"""Values that a label mostly has (Kubernetes documentation, "Node Status"); others bring more."""
_CONDITIONS: Final = (
    "QuotaReserved", "Admitted", "PodsReady", "Finished", "Evicted", "Preempted", "Requeued", "DeactivationTarget",
)  # fmt: skip
"""Conditions of a Workload (Kueue 0.19, `apis/kueue/v1beta2/workload_types.go`)."""
_OF_WORKLOADS: Final = frozenset({"kueue_workload_condition", "kueue_workload_condition_time"})
"""Figures of a Workload's conditions, as the stack has kube-state-metrics tell them."""
_WINDOW: Final = re.compile(
    r"\b(?:rate|irate|increase|delta|deriv)\s*\(\s*(?P<metric>[\w:]*)[^()\[\]{}]*(?:\{[^}]*\})?\s*\[(?P<long>\d+[smh])\]"
)
_OF_THE_CHART: Final = (
    "kube_", "node_", "container_", "kubelet_", "alertmanager_", "prometheus_", "apiserver_", "coredns_",
)  # fmt: skip
"""Metrics of targets that kube-prometheus-stack finds by monitors of its own."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def check(cluster: Cluster) -> None:
    """Notes what is asked for and not answered."""
    check_alerts(cluster)
    check_syntax(cluster)
    check_panels(cluster)
    asked = [*_of_rules(cluster), *_of_dashboards(cluster), *_of_controllers(cluster)]
    if not asked:
        return
    _windows(cluster)
    known = families(cluster)
    own, kept = recorded(cluster) or (), recorded_labels(cluster)
    check_words(cluster, kept)
    check_keepers(cluster, kept)
    check_constants(cluster)
    told: set[tuple[str, str]] = set()
    for view, path, expression in asked:
        compared(view, path, expression)
        misused(view, path, expression)
        for selector in selectors(expression):
            if selector.metric not in own:
                _judge(view, path, selector, known, told)
            elif selector.metric in kept:
                _labels(view, path, selector, RULES, kept[selector.metric])


def _windows(cluster: Cluster) -> None:
    """A rate needs two samples: what is scraped more seldom than twice in its window has none."""
    for release in cluster.releases:
        path = "values.prometheus.prometheusSpec.scrapeInterval"
        given = release.text(path) or ""
        seconds = _seconds(given)
        if seconds is None:
            continue
        of_chart, of_others = _quickest(_of_values(release), seconds), _quickest(_of_monitors(cluster), seconds)
        for rule, place, expression in _of_rules(cluster):
            for asked in _WINDOW.finditer(expression):
                every = of_chart if asked["metric"].startswith(_OF_THE_CHART) else of_others
                if (_seconds(asked["long"]) or 0) < 2 * every:
                    release.error(
                        "watching-interval",
                        path,
                        f"is {given}, and {place} of {rule.name} asks for a rate over {asked['long']}: there are "
                        "never two samples in it",
                        allowed="half of the shortest window, at the most",
                    )
                    return


def _seconds(text: str) -> int | None:
    found = re.fullmatch(r"(\d+)([smh])", text)
    return int(found[1]) * _UNITS[found[2]] if found is not None else None


def _quickest(own: Iterator[str], otherwise: int) -> int:
    """The shortest interval: which monitor's targets a metric is of is not followed."""
    return min([otherwise, *(seconds for text in own if (seconds := _seconds(text)) is not None)])


def _of_values(release: View) -> Iterator[str]:
    for path, text in known_texts(release.mapping("values")):
        if path.endswith(".interval") and "monitor" in path.lower():
            yield text


def _of_monitors(cluster: Cluster) -> Iterator[str]:
    """Intervals of monitors, of those that charts are told to make too."""
    for view in cluster.of(*MONITORS):
        for kind in ("endpoints", "podMetricsEndpoints"):
            for _, one in view.items(f"spec.{kind}"):
                if isinstance(one.get("interval"), str):
                    yield one["interval"]
    for release in cluster.releases:
        yield from _of_values(release)


def _judge(view: View, path: str, selector: Selector, known: Sequence[Family], told: set[tuple[str, str]]) -> None:
    is_recorded = ":" in selector.metric
    family = next(
        (one for one in known if selector.metric.startswith(one.prefix) and is_recorded <= (one.source == RULES)), None
    )
    if family is None or (view.resource.urn, selector.metric) in told:
        return
    metric, absent = family.metrics.get(selector.metric), family.absent.get(selector.metric)
    if absent is not None:
        told.add((view.resource.urn, selector.metric))
        view.error("watching-metric", path, f"asks for {selector.metric}, which is not exported: {absent}")
    elif metric is None:
        others = [one for one in family.metrics if family.is_closed or one[:_ALIKE] == selector.metric[:_ALIKE]]
        hint = nearest(selector.metric, others, cutoff=0.6 if family.is_closed else _NEAR) or next(
            (one for one in others if _is_spelled_out(selector.metric, one)), ""
        )
        if hint or family.is_closed:
            told.add((view.resource.urn, selector.metric))
            view.error(
                "watching-metric", path, f"asks for {selector.metric}, which {family.source} does not export: there is "
                "never an answer", hint=hint,
            )  # fmt: skip
    else:
        _labels(view, path, selector, family.source, metric)


def _is_spelled_out(name: str, other: str) -> bool:
    """Whether two names differ in one word that one of them has whole and the other cut short, as `UTILIZATION`."""
    pairs = [(one, its) for one, its in zip_longest(name.split("_"), other.split("_"), fillvalue="") if one != its]
    if len(pairs) != 1:
        return False
    short, long = sorted(pairs[0], key=len)
    return len(short) >= _STEM and long.startswith(short) and long.isalpha()


def _labels(view: View, path: str, selector: Selector, source: str, metric: Metric) -> None:
    if metric.labels is None:
        return
    asked = [(one.label, one) for one in selector.matchers if one.value or one.operator in ("!=", "!~")]
    for label, matcher in [*asked, *((one, None) for one in selector.grouped_by)]:
        if label in OF_TARGETS or label.startswith("exported_"):
            continue
        if label not in metric.labels:
            hint = nearest(label, metric.labels, cutoff=0.6 if metric.is_closed else _NEAR)
            if metric.is_closed or hint:
                names = sorted(metric.labels)
                view.error(
                    "watching-label",
                    path,
                    f"{selector.metric} of {source} has no label {show(label)}: "
                    + ("nothing is selected by it" if matcher is not None else "nothing is told apart by it"),
                    allowed=f"one of {', '.join(names)}" if len(names) < 4 * _NAMES else "",
                    hint=hint,
                )
        elif matcher is not None and matcher.operator == "=" and "$" not in matcher.value:
            values = metric.labels[label] or _VALUES.get((selector.metric, label), ())
            slip = _NEAR
            if selector.metric in _OF_WORKLOADS and label == "type":
                values, slip = _CONDITIONS, _SLIP
            is_meant = metric.labels[label] or nearest(
                matcher.value.lower(), [one.lower() for one in values], cutoff=slip
            )
            if values and matcher.value not in values and is_meant:
                view.error(
                    "watching-label", path, f"{selector.metric} never has {label} {show(matcher.value)}",
                    allowed=f"one of {', '.join(values)}", hint=nearest(matcher.value, values),
                )  # fmt: skip


def _of_rules(cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    for rule in cluster.of("PrometheusRule.monitoring.coreos.com"):
        for path, _ in rule.items("spec.groups"):
            for here, one in rule.items(f"{path}.rules"):
                if isinstance(one.get("expr"), str):
                    yield rule, f"{here}.expr", one["expr"]
    for view in cluster.stack.of_type(AMP_RULES):
        for one in rules_of(view.resource):
            if isinstance(one.get("expr"), str):
                yield view, "data", one["expr"]


def _of_dashboards(cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    for view, path, text in dashboards(cluster):
        for expression in expressions(text):
            yield view, path, expression


def _of_controllers(cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    for pod in cluster.pods:
        for container in pod.containers:
            for key in ("command", "args"):
                for index, text in enumerate(listed(container.body.get(key))):
                    if isinstance(text, str) and text.startswith("{") and '"prometheus"' in text:
                        for name, expression in _asked(text):
                            yield pod.view, f"{container.path}.{key}[{index}].{name}", expression


def _asked(text: str) -> Iterator[tuple[str, str]]:
    try:
        told = json.loads(text)
    except ValueError:
        return
    for key, value in told.items() if isinstance(told, dict) else ():
        if key in _ASKS and isinstance(value, str):
            yield key, value
