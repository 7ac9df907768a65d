"""Constants that rules record of the stack itself: whom they are of is there, what is told twice is the same, and what
is added up is recorded as often as the sum has it.

Sources: Prometheus documentation, "Recording rules" (`interval` of a group) and `vector`; the keeper of budgets, which
is told the same budgets (`components/k8s/keepers/budgets.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import BUILT_IN_NAMESPACES, Cluster
from trainyard.rehearsal.works.watching.names import rules

_CONSTANT: Final = re.compile(r"\s*vector\s*\(\s*([\d.]+)\s*\)\s*")
_NAMED: Final = {
    "flavor": "ResourceFlavor.kueue.x-k8s.io", "cluster_queue": "ClusterQueue.kueue.x-k8s.io", "namespace": "Namespace",
}  # fmt: skip
"""Labels of a constant that are the name of an object, by its kind."""
_OF_KUBERNETES: Final = BUILT_IN_NAMESPACES | {"default"}
"""Namespaces that no program makes."""
_SUMMED: Final = re.compile(r"sum_over_time\(\s*([\w:]+)\s*\[[^\]]+\]\s*\)\s*\*\s*(\d+)\s*/\s*60\b")
_EVERY: Final = re.compile(r"(?:increase|delta)(\d+)([smh])$")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_BUDGET: Final = "trainyard_team_budget_usd"


def check_constants(cluster: Cluster) -> None:
    """Every recorded constant, every sum over time, every budget that a keeper is told."""
    budgets: dict[str, float] = {}
    for view, path, rule in rules(cluster):
        constant = _CONSTANT.fullmatch(str(rule.get("expr"))) if "record" in rule else None
        labels = rule.get("labels")
        if constant is None or not isinstance(labels, Mapping):
            continue
        if rule["record"] == _BUDGET and isinstance(labels.get("team"), str):
            budgets[labels["team"]] = float(constant[1])
        for label, kind in _NAMED.items():
            made = cluster.names(kind, "")
            name = labels.get(label)
            is_sure = cluster.makes_everything and not cluster.is_blurred(kind, "")
            if isinstance(name, str) and made and is_sure and name not in (*made, *_OF_KUBERNETES):
                view.error(
                    "watching-constant", f"{path}.labels.{label}",
                    f"{rule['record']} is of {label} {show(name)}, which is not made: nothing is reckoned with it",
                    hint=nearest(name, made), allowed=f"one of {', '.join(made[:12])}",
                )  # fmt: skip
    # By the names of our own rules alone: of others' a suffix is the range, as kubernetes-mixin's `increase1h` of 3m.
    if cluster.stack.context.ours:
        _intervals(cluster)
    for view, path, team, given in _kept(cluster) if budgets else ():
        if team in budgets and given != budgets[team]:
            view.error(
                "watching-constant", path,
                f"holds {team} at {given:g} USD, and alerts and dashboards go by {budgets[team]:g}",
                allowed=f"{budgets[team]:g}",
            )  # fmt: skip


def _intervals(cluster: Cluster) -> None:
    every: dict[str, float] = {}
    of_groups: list[tuple[View, str, Mapping[str, Any], float]] = []
    for view in cluster.of("PrometheusRule.monitoring.coreos.com"):
        for path, group in view.items("spec.groups"):
            found = re.fullmatch(r"(\d+)([smh])", str(group.get("interval")))
            seconds = int(found[1]) * _UNITS[found[2]] if found is not None else None
            for here, rule in view.items(f"{path}.rules"):
                if isinstance(rule.get("record"), str) and seconds is not None:
                    every[rule["record"]] = seconds
                    of_groups.append((view, here, rule, seconds))
    for view, path, rule, often in of_groups:
        window = _EVERY.search(rule["record"])
        if window is not None and int(window[1]) * _UNITS[window[2]] != often:
            view.error(
                "watching-constant", path,
                f"{rule['record']} is recorded every {often:g} s: sums over it leave out or count twice",
                allowed=f"an interval of {window[1]}{window[2]}",
            )  # fmt: skip
        for metric, minutes in _SUMMED.findall(str(rule.get("expr"))):
            own = every.get(metric)
            if own is not None and own != 60 * int(minutes):
                view.error(
                    "watching-constant", f"{path}.expr",
                    f"adds {metric} up as recorded every {minutes} min, and it is recorded every {own:g} s",
                    allowed=f"an interval of {minutes}m",
                )  # fmt: skip


def _kept(cluster: Cluster) -> Iterator[tuple[View, str, str, float]]:
    """What a keeper is told of teams' budgets."""
    for pod in cluster.pods:
        for container in pod.containers:
            for index, text in enumerate(listed(container.body.get("args"))):
                if isinstance(text, str) and '"budget_usd"' in text:
                    try:
                        teams = json.loads(text).get("teams")
                    except (ValueError, AttributeError):
                        continue
                    for team, told in teams.items() if isinstance(teams, Mapping) else ():
                        given = as_number(told.get("budget_usd")) if isinstance(told, Mapping) else None
                        if given is not None:
                            yield pod.view, f"{container.path}.args[{index}]", str(team), given
