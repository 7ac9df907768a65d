"""A team or a pool that is to go is emptied first: nothing new comes in, and what runs ends or goes elsewhere.

A team's queues are held. A pool has no queue of its own: its flavors get a taint that no job tolerates, as the flavor
keeper does, so that every queue passes them over. Both are applied under a field manager of their own, without force,
and taken back by `release`; what is taken out of the stack file takes them along.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainyard.conventions import LABEL_PREFIX
from trainyard.plan.parts import ClusterPlan
from trainyard.teardown.freeze import Kubectl, holds_quota
from trainyard.upgrade.queues import QueuesError, apply, ask, hold, let_go, open_queues, workloads

MANAGER: Final = "trainyard-drain"
TAINT: Final = f"{LABEL_PREFIX}leaving"
EVICTED: Final = f"{LABEL_PREFIX}drained"
"""Annotation of a workload that was switched off to leave a pool, until it is switched on again."""

_CONFLICT: Final = "conflict"


@dataclass(frozen=True, slots=True)
class Leaving:
    """What is emptied: namespaces of teams, and flavors of pools."""

    namespaces: tuple[str, ...]
    flavors: tuple[str, ...]


def leaving(cluster: ClusterPlan, teams: Iterable[str], pools: Iterable[str]) -> Leaving:
    """What teams and pools are on their cluster. Raises NoSuchName."""
    namespaces = tuple(cluster.team(name).namespace for name in teams)
    wanted = {cluster.pool(name).name for name in pools}
    return Leaving(namespaces, tuple(each.name for each in cluster.scheduling.flavors if each.pool in wanted))


def shut(kubectl: Kubectl, what: Leaving, folder: Path, *, evict: bool) -> None:
    """Lets nothing new in; where it is asked for, what runs in a team's queues saves and ends. Raises QueuesError."""
    queues = [each for each in open_queues(kubectl) if each.namespace in what.namespaces]
    hold(kubectl, queues, "HoldAndDrain" if evict else "Hold", folder, MANAGER)
    for flavor in what.flavors:
        _taint(kubectl, flavor, [{"key": TAINT, "value": "true", "effect": "NoSchedule"}], folder)


def left(kubectl: Kubectl, what: Leaving, *, evict: bool) -> list[str]:
    """The jobs that are still there. With `evict`, those on a pool are sent elsewhere. Raises QueuesError.

    A workload that is switched off saves and gives its quota back, and is switched on as soon as it has: it waits for
    another capacity or pool that it may have.
    """
    found = []
    for each in workloads(kubectl):
        name = (each["metadata"]["namespace"], each["metadata"]["name"])
        notes = each["metadata"].get("annotations") or {}
        on_pool = bool(_flavors(each) & set(what.flavors))
        if holds_quota(each) and (on_pool or each["metadata"]["namespace"] in what.namespaces):
            found.append("/".join(name))
            if evict and on_pool and each.get("spec", {}).get("active") is not False:
                _switch(kubectl, name, on=False)
        elif EVICTED in notes and not holds_quota(each):
            _switch(kubectl, name, on=True)
    return sorted(found)


def release(kubectl: Kubectl, what: Leaving, folder: Path) -> None:
    """Takes back what `shut` and `left` said. Raises QueuesError."""
    let_go(kubectl, lambda queue: queue.namespace in what.namespaces, folder, MANAGER)
    for flavor in what.flavors:
        _taint(kubectl, flavor, [], folder)
    switch_on(kubectl)


def switch_on(kubectl: Kubectl) -> None:
    """Lets the jobs that were sent away from their nodes start again. Raises QueuesError."""
    for each in workloads(kubectl):
        if EVICTED in (each["metadata"].get("annotations") or {}):
            _switch(kubectl, (each["metadata"]["namespace"], each["metadata"]["name"]), on=True)


def _taint(kubectl: Kubectl, flavor: str, taints: Sequence[dict[str, str]], folder: Path) -> None:
    spec = {"nodeTaints": list(taints)} if taints else {}
    try:
        apply(kubectl, {"kind": "ResourceFlavor", "metadata": {"name": flavor}, "spec": spec}, folder, MANAGER)
    except QueuesError as error:
        if _CONFLICT not in str(error):
            raise
        raise QueuesError(
            f"flavor {flavor} has taints of somebody else, and they stay: where the flavor keeper took it out, for "
            "want of nodes, it puts it back after scheduler.dryCapacityMinutes; call this again then"
        ) from None


def _flavors(workload: Any) -> set[str]:
    admission = (workload.get("status") or {}).get("admission") or {}
    return {name for each in admission.get("podSetAssignments") or () for name in (each.get("flavors") or {}).values()}


def _switch(kubectl: Kubectl, name: tuple[str, str], *, on: bool) -> None:
    change = {"metadata": {"annotations": {EVICTED: None if on else "true"}}, "spec": {"active": on}}
    own = ("--namespace", name[0], "--type", "merge", "--patch", json.dumps(change))
    ask(kubectl, "patch", "workloads.kueue.x-k8s.io", name[1], *own)
