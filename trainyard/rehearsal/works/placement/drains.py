"""Disruption budgets that never let a node be drained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import DISRUPTION_BUDGET
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.placement.room import STANDING
from trainyard.rehearsal.works.placement.world import World
from trainyard.rehearsal.works.workloads.model import Workload
from trainyard.rehearsal.works.workloads.scaled import Target, kept


def check_budgets(world: World, views: Mapping[str, View], fewest: Mapping[Target, int | None]) -> None:
    """A budget that allows no disruption: an update of nodes waits for it until it is forced, or given up."""
    by_namespace: dict[str, list[Workload]] = {}
    for workload in world.recorded:
        if workload.kind in STANDING and workload.labels:
            by_namespace.setdefault(workload.namespace, []).append(workload)
    held: dict[int, str] = {}  # by a workload's identity, the budget that it has already
    for view in views.values():
        if view.type != DISRUPTION_BUDGET:
            continue
        selector, namespace = view.value("spec.selector"), view.text("metadata.namespace") or "default"
        if not isinstance(selector, Mapping) or not selector:
            continue
        _of_jobs(view, world, selector, namespace)
        meant = [one for one in by_namespace.get(namespace, ()) if _means(selector, one)]
        twice = [one for one in meant if id(one) in held]
        if twice:
            words = (
                f"is for pods of {twice[0].told()}, as {held[id(twice[0])]} is: the eviction of a pod of two budgets "
            )
            view.error("placement-drain", "spec.selector", f"{words}fails, and no node with one of them can be drained")
        held |= {id(one): f"{namespace}/{view.text('metadata.name')}" for one in meant}
        replicas = [kept((one.namespace, one.kind, one.name), one.replicas, fewest) for one in meant]
        least, away = view.value("spec.minAvailable"), view.value("spec.maxUnavailable")
        names = ", ".join(one.told() for one in meant)
        if meant and None in replicas and (least == "100%" or away in (0, "0", "0%")):
            path = "spec.minAvailable" if least == "100%" else "spec.maxUnavailable"
            words = f"lets none of the pods of {names} be evicted, however many there are: no node can be drained"
            view.warning("placement-drain", path, words, allowed="fewer that have to stay")
        if not meant or any(count is None or count == 0 for count in replicas):
            continue
        most = sum(count for count in replicas if count is not None)
        if _amount(away, most) == 0:
            words = f"lets none of the {most} pods of {names} be evicted: no node with one of them can be drained"
            view.warning("placement-drain", "spec.maxUnavailable", words, allowed="1 or more")
        elif (stay := _amount(least, most)) is not None and stay >= most:
            words = f"keeps {stay} of {most} pods of {names}: no node with one of them can be drained"
            view.warning("placement-drain", "spec.minAvailable", words, allowed=f"at most {most - 1}")


def _of_jobs(view: View, world: World, selector: Mapping[str, Any], namespace: str) -> None:
    """A job has no scale, by which a share of its pods is counted: its budget lets none be evicted."""
    share = "spec.maxUnavailable" if view.has("spec.maxUnavailable") else "spec.minAvailable"
    value = view.value(share)
    if share.endswith("minAvailable") and not (isinstance(value, str) and value.endswith("%")):
        return
    for workload in world.recorded:
        if (
            workload.kind == "Job"
            and workload.namespace == namespace
            and workload.labels
            and _means(selector, workload)
        ):
            words = (
                f"is {value} of the pods of {workload.told()}, which have no scale to count by: none of them can be "
            )
            # Whoever says that none, or all but none, may go means it.
            is_meant = value in (0, "0", "0%") if share.endswith("maxUnavailable") else value == "100%"
            tell = view.warning if is_meant else view.error
            tell("placement-drain", share, f"{words}evicted, and no node with one be drained",
                 allowed="minAvailable, as a number")  # fmt: skip
            return


def _means(selector: Mapping[str, Any], workload: Workload) -> bool:
    try:
        return selects(selector, workload.labels or {})
    except UnreadableInput:
        return False


def _amount(value: Any, of: int) -> int | None:
    """A number of pods, or a share of them, which is rounded up."""
    if isinstance(value, bool) or value is None or value is UNKNOWN:
        return None
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        return -(-of * int(value[:-1]) // 100)
    return None
