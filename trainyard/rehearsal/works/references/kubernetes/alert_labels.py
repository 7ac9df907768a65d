"""Labels by which alerts are put together or silence each other, against those that alerts have.

Source: Alertmanager documentation, "Configuration" (`group_by`, `equal`: a label that an alert lacks counts as empty:
all of them are one group, and each equals each) (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_AT: Final = {"kube-prometheus-stack": "values.alertmanager.config", "alertmanager": "values.config"}
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_ALWAYS: Final = frozenset(
    {"alertname", "severity", "namespace", "job", "instance", "pod", "container", "node", "service", "cluster",
     "prometheus", "team", "device", "deployment", "job_name", "endpoint"}
)  # fmt: skip
"""Labels that alerts have of what they are about, by convention."""


def check(cluster: Cluster) -> None:
    """Every configuration of Alertmanager that a chart is given."""
    labels: set[str] | None = None
    for release in cluster.releases:
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        if chart in _AT:
            labels = labels if labels is not None else _of_alerts(cluster)
            for path, key, name in _named(release.mapping(_AT[chart]), _AT[chart]):
                near = nearest_of(name, labels) if name not in labels and name != "..." else ""
                if near:
                    release.warning(  # charts bring alerts of their own, with labels that no recording has
                        "reference-alert-label", path,
                        f"no alert has a label {show(name)}: it counts as empty, so that "
                        + ("all of them are one group" if key == "group_by" else "each of them equals each"),
                        allowed=near, hint=f"did you mean {near}?",
                    )  # fmt: skip


def _of_alerts(cluster: Cluster) -> set[str]:
    found = set(_ALWAYS)
    for view in cluster.of("PrometheusRule.monitoring.coreos.com"):
        for path, _ in view.items("spec.groups"):
            for _, rule in view.items(f"{path}.rules"):
                labels = rule.get("labels")
                found |= set(_WORD.findall(str(rule.get("expr"))))  # an alert has the labels of its figures
                found |= set(map(str, labels)) if isinstance(labels, Mapping) else set()
    return found


def _named(config: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    for where, route in _routes(config.get("route"), f"{path}.route"):
        for name in listed(route.get("group_by")):
            if isinstance(name, str):
                yield f"{where}.group_by", "group_by", name
    for index, rule in enumerate(listed(config.get("inhibit_rules"))):
        for name in listed(rule.get("equal")) if isinstance(rule, Mapping) else ():
            if isinstance(name, str):
                yield f"{path}.inhibit_rules[{index}].equal", "equal", name


def _routes(route: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(route, Mapping):
        yield path, route
        for index, one in enumerate(listed(route.get("routes"))):
            yield from _routes(one, f"{path}.routes[{index}]")
