"""Labels of figures that rules record, and of the alerts that a stack's own rules fire.

What an aggregation keeps is known from its own words; of any other expression nothing is said.

Source: Prometheus documentation, "Operators" (aggregations keep the labels of `by` alone), "Functions" (`vector` has
none), "Recording rules" (`labels` are added), v3, 2026-11; "Notification template reference" of Alertmanager.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.alert_routes import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching.dashboards import dashboards, legends
from trainyard.rehearsal.works.watching.exporters import OF_TARGETS, Metric
from trainyard.rehearsal.works.watching.names import rules
from trainyard.rehearsal.works.watching.promql import closed, tokens

_AGGREGATIONS: Final = frozenset({"sum", "max", "min", "avg", "count", "stddev", "stdvar", "group"})
_NUMBER: Final = re.compile(r"\d[\w.]*")
_ARITHMETIC: Final = frozenset({"*", "/", "+", "-", "^", "%", ">", "<", ">=", "<=", "==", "!="})
_WORD: Final = re.compile(r"[a-zA-Z_]\w*")
_SHOWN: Final = re.compile(r"\.(?:CommonLabels|GroupLabels|Labels)\.([A-Za-z_]\w*)")
_EQUAL: Final = re.compile(r"\s*(severity|alertname)\s*=\s*\"?([\w-]+)\"?\s*")
_OUTSIDE: Final = frozenset({"cluster", "region", "environment", "tenant", "prometheus_replica"})
"""Labels that nothing but `externalLabels` or a relabeling gives."""


def recorded_labels(cluster: Cluster) -> dict[str, Metric]:
    """The recorded figures whose labels are known, with them."""
    found: dict[str, set[str] | None] = {}
    for _, _, rule in rules(cluster):
        name, expression, more = rule.get("record"), rule.get("expr"), rule.get("labels")
        if not isinstance(name, str):
            continue
        kept = kept_by(expression) if isinstance(expression, str) else None
        if kept is None or has_unknown(more) or (name in found and found[name] is None):
            found[name] = None
        else:
            found[name] = (found.get(name) or set()) | kept | (set(more) if isinstance(more, Mapping) else set())
    return {name: Metric(dict.fromkeys(sorted(labels), ())) for name, labels in found.items() if labels is not None}


@lru_cache(maxsize=512)
def kept_by(expression: str) -> frozenset[str] | None:
    """The labels that the answer to an expression has; None where they do not follow from its outermost words."""
    words = tokens(expression)
    while len(words) > 2 and _NUMBER.fullmatch(words[-1]) and words[-2] in _ARITHMETIC:
        words = words[:-2]  # `… / 60` keeps what is left of it
    if len(words) > 2 and words[0] == "vector" and words[1] == "(" and closed(words, 1) == len(words) - 1:
        return frozenset()
    if len(words) < 3 or words[0] not in _AGGREGATIONS:
        return None
    if words[1] == "by" and words[2] == "(":
        end = closed(words, 2)
        is_whole = end + 1 < len(words) and words[end + 1] == "(" and closed(words, end + 1) == len(words) - 1
        return _named(words[3:end]) if is_whole else None
    if words[1] != "(":
        return None
    end = closed(words, 1)
    if end == len(words) - 1:
        return frozenset()
    if words[end + 1 : end + 3] == ("by", "(") and closed(words, end + 2) == len(words) - 1:
        return _named(words[end + 3 : -1])
    return None


def _named(words: Sequence[str]) -> frozenset[str] | None:
    """The labels between the brackets of `by`; None where a variable of Grafana (`$by`, `[[by]]`) stands for some."""
    return None if any(word.startswith(("$", "[[")) for word in words) else frozenset(filter(_WORD.fullmatch, words))


_SAID: Final = re.compile(r"\$labels\.([A-Za-z_]\w*)")
_LEGEND: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def check_words(cluster: Cluster, kept: Mapping[str, Metric]) -> None:
    """Labels that messages and legends show: each is one of the answer's, where those are known."""
    for view, path, rule in rules(cluster):
        notes = rule.get("annotations")
        own = _answered(rule.get("expr"), kept) if isinstance(notes, Mapping) and "alert" in rule else None
        for key, text in notes.items() if own is not None and isinstance(notes, Mapping) else ():
            for label in _SAID.findall(text) if isinstance(text, str) else ():
                if label not in (own or ()):
                    view.error(
                        "watching-label", f"{path}.annotations.{key}",
                        f"shows $labels.{label}, which the answer has not: it is empty",
                        allowed=f"of {', '.join(sorted(own or ()))}", hint=nearest(label, own or ()),
                    )  # fmt: skip
    for view, path, text in dashboards(cluster):
        for expression, legend in legends(text):
            own = _answered(expression, kept)
            for label in _LEGEND.findall(legend) if own is not None else ():
                if label not in (own or ()):
                    # The figures are right, and only their names are not: Grafana leaves the word empty.
                    view.warning(
                        "watching-label", path, f"a legend shows {label}, which {show(expression[:80])} has not",
                        allowed=f"of {', '.join(sorted(own or ()))}", hint=nearest(label, own or ()),
                    )  # fmt: skip


_READ: Final = {("keepers.budgets", "spent"): ("team", "month")}
"""Labels by which Trainyard's own programs know the figures that they ask for, by program and key of what it is told.

`tests/rehearsal/works/test_team_changes.py` holds this against the program.
"""


def check_keepers(cluster: Cluster, kept: Mapping[str, Metric]) -> None:
    """What a program of Trainyard's asks for has the labels that it reads: a figure without one is not counted."""
    for pod in cluster.pods:
        for container in pod.containers:
            words = [text for _, text in known_texts(container.body.get("command"))]
            for (program, key), labels in _READ.items():
                for index, text in enumerate(listed(container.body.get("args")) if program in words else ()):
                    own = _answered(_told(text).get(key), kept) if isinstance(text, str) else None
                    missing = [label for label in labels if own is not None and label not in own]
                    if missing:
                        pod.view.error(
                            "watching-label", f"{container.path}.args[{index}].{key}",
                            f"the answer has no label {', '.join(missing)}, by which {program} knows it: no figure is "
                            "read, and nobody is held", allowed=f"an expression that keeps {', '.join(labels)}",
                        )  # fmt: skip


def _told(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text) if text.startswith("{") else {}
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _answered(expression: Any, kept: Mapping[str, Metric]) -> frozenset[str] | None:
    """The labels of an answer: what an aggregation keeps, or those of the one recorded figure that is asked for."""
    if not isinstance(expression, str):
        return None
    found = kept_by(expression)
    own = kept.get(expression.strip())
    if found is None and own is not None and own.labels is not None:
        found = frozenset(own.labels)
    return None if found is None else found | {"__name__"}


def check_alerts(cluster: Cluster) -> None:
    """What routes and messages ask of alerts, where all alerts are rules of this stack."""
    releases = [one for one in cluster.releases if (one.text("chart") or "").endswith("kube-prometheus-stack")]
    if len(releases) != 1 or not cluster.stack.context.ours:
        return
    release = releases[0]
    if release.value("values.defaultRules.create") is not False or release.has("values.additionalPrometheusRulesMap"):
        return
    every = [rule for _, _, rule in rules(cluster)]
    alerts = [rule for rule in every if isinstance(rule.get("alert"), str)]
    if not alerts or has_unknown(every):
        return
    _routed(release, cluster, alerts)
    _shown(release, every)


def _routed(release: View, cluster: Cluster, alerts: list[Mapping[str, Any]]) -> None:
    """A route, or a muting, for a severity or an alert that none is."""
    have = {
        "alertname": {str(one["alert"]) for one in alerts},
        "severity": {
            str(labels["severity"])
            for one in alerts
            if isinstance(labels := one.get("labels"), Mapping) and "severity" in labels
        },
    }
    for config in configurations(cluster):
        places = [*_matchers(config.get("route"), "route")]
        for index, rule in enumerate(listed(config.get("inhibit_rules"))):
            for key in ("source_matchers", "target_matchers") if isinstance(rule, Mapping) else ():
                places += [(f"inhibit_rules[{index}].{key}", str(one)) for one in listed(rule.get(key))]
        for path, text in places:
            asked = _EQUAL.fullmatch(text)
            if asked is not None and asked[2] not in have[asked[1]]:
                release.error(
                    "watching-route", f"values.alertmanager.config.{path}",
                    f"is for {asked[1]} {show(asked[2])}, which no alert of this stack has: it never applies",
                    allowed=f"one of {', '.join(sorted(have[asked[1]]))}" if asked[1] == "severity" else "",
                    hint=nearest(asked[2], have[asked[1]]),
                )  # fmt: skip


def _matchers(route: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(route, Mapping):
        for one in listed(route.get("matchers")):
            yield f"{path}.matchers", str(one)
        for index, one in enumerate(listed(route.get("routes"))):
            yield from _matchers(one, f"{path}.routes[{index}]")


def _shown(release: View, given: list[Mapping[str, Any]]) -> None:
    """A label that messages show, and that nothing gives to any alert."""
    outer = release.mapping("values.prometheus.prometheusSpec.externalLabels")
    if not outer or release.is_unknown("values.prometheus.prometheusSpec.externalLabels"):
        return
    texts = " ".join(text for rule in given for _, text in known_texts([rule.get("expr"), rule.get("labels")]))
    keys = {key for rule in given for key in (rule.get("labels") or {})}
    known = set(outer) | keys | (OF_TARGETS - _OUTSIDE) | set(_WORD.findall(texts)) | {"alertname", "severity"}
    told: set[str] = set()
    for path, text in known_texts(
        release.mapping("values.alertmanager.config.receivers") or release.value("values.alertmanager.config.receivers")
    ):
        for label in _SHOWN.findall(text):
            if label not in known and label not in told:
                told.add(label)
                release.error(
                    "watching-route", f"values.alertmanager.config.receivers{path}",
                    f"shows the label {show(label)}, which no alert has: rules and externalLabels "
                    f"({', '.join(sorted(outer))}) give none of that name", hint=nearest(label, outer, cutoff=0.6),
                )  # fmt: skip
