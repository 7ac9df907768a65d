"""Values of a release that its program takes no part of, or that leave its pods where they are for ever."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show

_SCALERS: Final = ("autoscaling", "hpa", "horizontalPodAutoscaler")
"""Beside a number of replicas: somebody else decides it."""


def check_choices(release: View, known: Mapping[str, Sequence[str]]) -> None:
    """Texts that a program compares with a list of its own: any other ends it."""
    for path, allowed in known.items():
        given = release.text(f"values.{path}")
        for part in given.split(",") if given else ():
            if part not in allowed:
                release.error(
                    "charts-choice",
                    f"values.{path}",
                    f"got {show(part)}",
                    allowed=f"one of {', '.join(allowed)}",
                    hint=nearest(part, allowed),
                )


def check_patterns(release: View, known: Mapping[str, str]) -> None:
    """Texts that the definition of a chart's own kind takes in one form alone."""
    for path, pattern in known.items():
        given = release.text(f"values.{path}")
        if given and "{{" not in given and re.fullmatch(pattern, given) is None:
            release.error("charts-choice", f"values.{path}", f"got {show(given)}", allowed=f"must match {pattern}")


def check_budgets(release: View, values: Any, path: str = "values") -> None:
    """A budget of a chart's own pods that lets none of them be evicted."""
    if not isinstance(values, Mapping):
        return
    budget = values.get("podDisruptionBudget")
    replicas = next((values[key] for key in ("replicas", "replicaCount") if key in values), None)
    if isinstance(budget, Mapping) and budget.get("enabled", True) is not False:
        _budget(release, budget, replicas if not any(values.get(key) for key in _SCALERS) else None, path)
    for key, value in values.items():
        check_budgets(release, value, f"{path}.{key}")


def _budget(release: View, budget: Mapping[str, Any], replicas: Any, path: str) -> None:
    place, least, away = f"{path}.podDisruptionBudget", budget.get("minAvailable"), budget.get("maxUnavailable")
    if (_is_count(away) and away == 0) or away == "0%":
        release.warning(
            "charts-budget",
            f"{place}.maxUnavailable",
            "lets none of its pods be evicted: an update of the nodes stops at them",
            allowed="1 or more",
        )
    elif least == "100%" or (_is_count(least) and _is_count(replicas) and 0 < replicas <= least):
        release.warning(
            "charts-budget",
            f"{place}.minAvailable",
            f"keeps {least} of {replicas} pods: none may be evicted, and an update of the nodes stops at them"
            if _is_count(replicas)
            else "keeps all pods: an update of the nodes stops at them",
            allowed="maxUnavailable 1, or more replicas",
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
