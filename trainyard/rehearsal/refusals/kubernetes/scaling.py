"""Autoscalers, sets with names of their own and further inputs of jobs, which the API server weighs together.

Source: pkg/apis/autoscaling, apps and batch of Kubernetes 1.35 (their validation) as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, listed, show

_SOURCES: Final = {
    "Object": "object", "Pods": "pods", "Resource": "resource", "ContainerResource": "containerResource",
    "External": "external",
}  # fmt: skip
_TARGETS: Final = {
    "Resource": ("averageUtilization", "averageValue"),
    "ContainerResource": ("averageUtilization", "averageValue"),
    "Pods": ("averageValue",),
    "Object": ("value", "averageValue"),
    "External": ("value", "averageValue"),
}
"""What a metric of each type may aim at; one of them."""
_OF_TYPE: Final = {"Utilization": "averageUtilization", "Value": "value", "AverageValue": "averageValue"}
_MOST_WINDOW_S: Final = 3600
_MOST_PERIOD_S: Final = 1800
_INDEXES: Final = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def check(view: View, kind: str) -> None:
    """What the API server refuses of an autoscaler, a StatefulSet or a Job."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _autoscaler(view: View) -> None:
    for path, entry in view.items("spec.metrics"):
        kind = entry.get("type")
        source = _SOURCES.get(kind) if isinstance(kind, str) else None
        if source is None:
            continue
        given = [key for key in _SOURCES.values() if entry.get(key) is not None]
        if given != [source]:
            told = " and ".join(given) or "no source"
            view.error("k8s-autoscaler", path, f"is of type {kind} and has {told}", allowed=f"{source} alone")
            continue
        _target(view, f"{path}.{source}.target", str(kind))
    for way in ("scaleUp", "scaleDown"):
        here = f"spec.behavior.{way}"
        window = view.number(f"{here}.stabilizationWindowSeconds")
        if window is not None and not 0 <= window <= _MOST_WINDOW_S:
            told = f"{here}.stabilizationWindowSeconds"
            view.error("k8s-autoscaler", told, f"got {window:g}", allowed=f"0 to {_MOST_WINDOW_S}")
        if view.value(f"{here}.policies") == []:
            view.error("k8s-autoscaler", f"{here}.policies", "is empty", allowed="at least one policy")
        for path, entry in view.items(f"{here}.policies"):
            value, period = as_number(entry.get("value")), as_number(entry.get("periodSeconds"))
            if value is not None and value <= 0:
                view.error("k8s-autoscaler", f"{path}.value", f"got {value:g}", allowed="more than 0")
            if period is not None and not 1 <= period <= _MOST_PERIOD_S:
                view.error(
                    "k8s-autoscaler", f"{path}.periodSeconds", f"got {period:g}", allowed=f"1 to {_MOST_PERIOD_S}"
                )


def _target(view: View, path: str, kind: str) -> None:
    target = view.mapping(path)
    if not target or UNKNOWN in target.values():
        return
    given = [key for key in ("averageUtilization", "averageValue", "value") if target.get(key) is not None]
    allowed = _TARGETS[kind]
    wanted = _OF_TYPE.get(str(target.get("type")))
    if len(given) != 1 or given[0] not in allowed:
        told = " and ".join(given) or "no aim"
        view.error(
            "k8s-autoscaler", path, f"has {told} for a metric of type {kind}", allowed=f"one of {', '.join(allowed)}"
        )
    elif wanted is not None and wanted not in given:
        view.error("k8s-autoscaler", f"{path}.type", f"got {show(target['type'])} beside {given[0]}", allowed=wanted)
    number = as_number(target.get("averageUtilization"))
    if number is not None and number < 1:
        view.error("k8s-autoscaler", f"{path}.averageUtilization", f"got {number:g}", allowed="per cent: 1 or more")


def _stateful_set(view: View) -> None:
    rolling = "spec.updateStrategy.rollingUpdate"
    if view.text("spec.updateStrategy.type") == "OnDelete" and view.has(rolling):
        view.error("k8s-rollout", rolling, "given with type OnDelete", allowed="type RollingUpdate")
    for path in (f"{rolling}.partition", "spec.ordinals.start"):
        number = view.number(path)
        if number is not None and number < 0:
            view.error("k8s-number", path, f"got {number:g}", allowed="at least 0")
    if view.value(f"{rolling}.maxUnavailable") in (0, "0%"):
        view.error("k8s-rollout", f"{rolling}.maxUnavailable", "got 0", allowed="more than 0")


def _job(view: View) -> None:
    _success(view, "spec")


def _cron_job(view: View) -> None:
    schedule = view.text("spec.schedule")
    if schedule is not None and re.match(r"(CRON_)?TZ=", schedule):
        view.error("k8s-schedule", "spec.schedule", f"got {show(schedule)}", allowed="spec.timeZone for the zone")
    _success(view, "spec.jobTemplate.spec")


def _success(view: View, spec: str) -> None:
    most = view.number(f"{spec}.completions")
    for path, entry in view.items(f"{spec}.successPolicy.rules"):
        indexes, count = entry.get("succeededIndexes"), as_number(entry.get("succeededCount"))
        if isinstance(indexes, str):
            numbers = [int(item) for item in re.findall(r"\d+", indexes)]
            if not _INDEXES.fullmatch(indexes) or numbers != sorted(set(numbers)):
                view.error("k8s-job", f"{path}.succeededIndexes", f"got {show(indexes)}", allowed="such as 0,3-5")
            elif most is not None and numbers[-1] >= most:
                told = f"{path}.succeededIndexes"
                view.error("k8s-job", told, f"got {show(indexes)}", allowed=f"at most {most - 1:g}, the last index")
        if count is not None and most is not None and not 1 <= count <= most:
            view.error("k8s-job", f"{path}.succeededCount", f"got {count:g}", allowed=f"1 to {most:g} completions")
    rules = listed(view.value(f"{spec}.podFailurePolicy.rules"))
    if len(rules) > 20:
        view.error("k8s-job", f"{spec}.podFailurePolicy.rules", f"has {len(rules)} entries", allowed="at most 20")
    manager = view.text(f"{spec}.managedBy")
    if manager is not None and (len(manager) > 63 or not re.fullmatch(r"[a-z0-9.-]+\.[a-z0-9.-]+/\S+", manager)):
        view.error("k8s-job", f"{spec}.managedBy", f"got {show(manager)}", allowed="domain/path, at most 63 characters")


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "CronJob": _cron_job,
    "HorizontalPodAutoscaler": _autoscaler,
    "Job": _job,
    "StatefulSet": _stateful_set,
}
