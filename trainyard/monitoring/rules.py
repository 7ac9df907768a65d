"""All rules of a stack as one file of Prometheus, which is the spec of a PrometheusRule too."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from trainyard.monitoring.alerts import alerts_by_room
from trainyard.monitoring.alerts.platform import WATCHDOG
from trainyard.monitoring.model import Alert, group
from trainyard.monitoring.recordings import Money, recording_groups
from trainyard.monitoring.thresholds import Thresholds

OF_THE_EVALUATOR = re.compile(r"\b(prometheus_rule|alertmanager)_")
"""Figures of who evaluates rules and tells of alerts, which a service outside of the cluster does not give."""
FRESH = "group(up)"
"""That the cluster hands on figures: five minutes after the last there are none."""


def rules(
    at: Thresholds,
    *,
    namespaces: Sequence[str],
    members: Mapping[str, tuple[str, int]],
    runbooks: str,
    money: Money | None = None,
    gpu_series: Collection[str] | None = None,
    elsewhere: str | None = None,
) -> dict[str, Any]:
    """The groups of rules.

    Args:
        at: from when something is worth an alert.
        namespaces: those that the platform's own programs run in.
        members: by a team's namespace, its name and how many people it has.
        runbooks: the address that the runbooks' pages are below.
        money: prices and budgets; without them nothing counts what teams spend.
        gpu_series: what the GPUs' exporter measures; an alert on anything else of it would never fire, and is left out.
            None: all that our own exporter does.
        elsewhere: the cluster's name, where the rules are evaluated by a service outside of it. That adds it to no
            alert itself, says of its own rules and deliveries nothing in figures, and would go on to say that alerts
            arrive when the cluster no longer sends any figure.
    """

    def written(alert: Alert) -> dict[str, Any]:
        rule = alert.rule(runbooks)
        if elsewhere is not None:
            rule["labels"] = {**rule["labels"], "cluster": elsewhere}
            if alert.name == WATCHDOG:
                rule["expr"] = FRESH
        return rule

    money = money or Money()
    alerts = [
        group(
            f"trainyard-{room}",
            [
                written(alert)
                for alert in found
                if measured(alert.expr, gpu_series) and (elsewhere is None or not OF_THE_EVALUATOR.search(alert.expr))
            ],
        )
        for room, found in alerts_by_room(at, namespaces, chips=money.chips).items()
    ]
    return {"groups": [*recording_groups(members, money), *alerts]}


def measured(expr: str, gpu_series: Collection[str] | None) -> bool:
    """Whether an expression asks for nothing of the GPUs' exporter but these series."""
    return gpu_series is None or set(re.findall(r"\bDCGM_\w+", expr)) <= set(gpu_series)
