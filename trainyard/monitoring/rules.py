"""All rules of a stack as one file of Prometheus, which is the spec of a PrometheusRule too."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from trainyard.monitoring.alerts import alerts_by_room
from trainyard.monitoring.model import group
from trainyard.monitoring.recordings import Money, recording_groups
from trainyard.monitoring.thresholds import Thresholds


def rules(
    at: Thresholds,
    *,
    namespaces: Sequence[str],
    members: Mapping[str, tuple[str, int]],
    runbooks: str,
    money: Money | None = None,
    gpu_series: Collection[str] | None = None,
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
    """
    alerts = [
        group(f"trainyard-{room}", [alert.rule(runbooks) for alert in found if measured(alert.expr, gpu_series)])
        for room, found in alerts_by_room(at, namespaces).items()
    ]
    return {"groups": [*recording_groups(members, money or Money()), *alerts]}


def measured(expr: str, gpu_series: Collection[str] | None) -> bool:
    """Whether an expression asks for nothing of the GPUs' exporter but these series."""
    return gpu_series is None or set(re.findall(r"\bDCGM_\w+", expr)) <= set(gpu_series)
