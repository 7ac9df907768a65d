"""Whether what runs at once has room on its nodes: sums that no packing gets around, and a packing that a scheduler
finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.recorded.model import bare
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.works.placement.kubernetes.nodes import Machine, Nodes
from trainyard.rehearsal.works.placement.kubernetes.scheduler import Offer, alone_on_a_node, per_node
from trainyard.rehearsal.works.placement.world import Verdict, World

COUNTED = ("cpu", "memory")
"""What pods that run on and on are packed by; the rest of what they request is rarely what fills a node."""

STANDING = ("Deployment", "StatefulSet", "ReplicaSet")
"""Kinds whose pods run on and on, beside each other."""

_MOST_PACKED = 2000


@dataclass(frozen=True, slots=True)
class Shortage:
    """What is missing where pods have to share nodes."""

    verdicts: tuple[Verdict, ...]
    groups: tuple[str, ...]
    resource: str
    wanted: float
    had: float
    nodes: int  # at most


def most_at_once(verdict: Verdict, world: World) -> int | None:
    """How many pods of a workload run at once where nothing else runs; None where that is not known.

    Those of a job that a queue admits are all of one flavor.
    """
    by_way: dict[str, int | None] = {}
    for nodes, way in verdict.fits:
        held = _held(verdict, nodes, world)
        before = by_way.get(way.flavor, 0)
        by_way[way.flavor] = None if held is None or before is None else before + held
    counts = list(by_way.values())
    return None if None in counts or not counts else max(count for count in counts if count is not None)


def _held(verdict: Verdict, nodes: Nodes, world: World) -> int | None:
    if nodes.most is None:
        return None
    labels = verdict.workload.labels or {}
    if alone_on_a_node(verdict.workload.spec, labels):
        return nodes.most
    each = most_on_a_node(verdict.requests, nodes, world.offer(nodes), world.taken[nodes.name], verdict.places)
    return None if each is None else nodes.most * each


def most_on_a_node(
    requests: Mapping[str, float], nodes: Nodes, offer: Offer, taken: Mapping[str, float], places: int = 1
) -> int | None:
    """How many pods the largest machine of a group holds; None where it is not known."""
    counts = [per_node(requests, machine, taken, offer, places) for machine in nodes.machines]
    return None if None in counts or not counts else max(count for count in counts if count is not None)


def shortages(world: World, verdicts: Sequence[Verdict]) -> Iterator[Shortage]:
    """Pods that together request more than all nodes have that take any of them, all nodes being there."""
    together: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.workload.replicas and verdict.fits:
            names = tuple(sorted(nodes.name for nodes in verdict.groups))
            together.setdefault(names, []).append(verdict)
    for names in together:
        inside = [one for held, ones in together.items() if set(held) <= set(names) for one in ones]
        groups = [nodes for nodes in world.nodes or () if nodes.name in names]
        count = sum(nodes.most or 0 for nodes in groups)
        if not all(nodes.most is not None and nodes.machines for nodes in groups):
            continue
        for name in COUNTED:
            had = _sum(groups, name, world)
            wanted = sum(one.requests.get(name, 0) * (one.workload.replicas or 0) for one in inside)
            if had is not None and wanted > had * (1 + 1e-9):
                yield Shortage(tuple(inside), names, name, wanted, had, count)
                break


def _sum(groups: Iterable[Nodes], name: str, world: World) -> float | None:
    total = 0.0
    for nodes in groups:
        held = [machine.most.get(name) for machine in nodes.machines]
        if None in held:
            return None
        each = max(value for value in held if value is not None) - world.taken[nodes.name].get(name, 0)
        total += max(0.0, each) * (nodes.most or 0)
    return total


def unpacked(world: World, verdicts: Sequence[Verdict], surge: bool) -> list[tuple[Verdict, int]] | None:
    """Workloads of which pods are left over when all are packed, largest first, on as many nodes as there may be.

    Machines count as the smallest of their group and as cautiously as they are known. None where too little is known.

    Args:
        world: the stack.
        verdicts: of what runs on and on.
        surge: whether the largest workload is being updated: its pods of both kinds are there at once.
    """
    bins: list[tuple[str, dict[str, float]]] = []
    for nodes in world.nodes or ():
        if nodes.most is None or not nodes.machines or nodes.most > _MOST_PACKED:
            return None
        machine = min(nodes.machines, key=lambda one: (one.likely.get("cpu", 0), one.likely.get("memory", 0)))
        if any(name not in machine.likely for name in COUNTED):
            return None
        free = _free(machine, world.taken[nodes.name])
        bins += [(nodes.name, dict(free)) for _ in range(nodes.most)]
    pods = [(one, count) for one in verdicts if one.fits and (count := one.workload.replicas)]
    if sum(count for _, count in pods) > _MOST_PACKED:
        return None
    if surge:
        pods = _updating(pods)
    left = []
    for verdict, count in sorted(pods, key=lambda pair: _size(pair[0]), reverse=True):
        names = {nodes.name for nodes in verdict.groups}
        missing = sum(not _put(verdict, bins, names) for _ in range(count))
        if missing:
            left.append((verdict, missing))
    return left


def _updating(pods: list[tuple[Verdict, int]]) -> list[tuple[Verdict, int]]:
    extra = [(one, _surge(one, count)) for one, count in pods]
    largest = max(extra, key=lambda pair: _size(pair[0]) if pair[1] else (0.0, 0.0), default=None)
    return [*pods, largest] if largest is not None and largest[1] else pods


def _surge(verdict: Verdict, replicas: int) -> int:
    """Pods more than there are replicas while a Deployment is updated: `maxSurge`, 25 % where it does not say, as most
    charts and add-ons do not."""
    workload = verdict.workload
    if workload.kind != "Deployment":
        return 0
    is_object = workload.origin == "object"
    strategy = bare(follow(workload.resource.inputs, "spec", "strategy")) if is_object else workload.strategy
    if follow(strategy, "type") == "Recreate":
        return 0
    given = follow(strategy, "rollingUpdate", "maxSurge")
    if given is None:
        given = "25%"
    if isinstance(given, str) and given.endswith("%") and given[:-1].isdigit():
        return -(-replicas * int(given[:-1]) // 100)
    return int(as_number(given) or 0)


def _free(machine: Machine, taken: Mapping[str, float]) -> dict[str, float]:
    free = {name: machine.likely[name] - taken.get(name, 0) for name in COUNTED}
    if machine.pods is not None:
        free["pods"] = machine.pods - taken.get("pods", 0)
    return free


def _size(verdict: Verdict) -> tuple[float, float]:
    return max(verdict.requests.get("cpu", 0) / 4, verdict.requests.get("memory", 0) / 2**34), verdict.requests.get(
        "cpu", 0
    )


def _put(verdict: Verdict, bins: list[tuple[str, dict[str, float]]], names: set[str]) -> bool:
    wanted = {**{name: verdict.requests.get(name, 0.0) for name in COUNTED}, "pods": float(verdict.places)}
    for name, free in bins:
        if name in names and all(free.get(key, amount) >= amount - 1e-9 for key, amount in wanted.items()):
            for key, amount in wanted.items():
                if key in free:
                    free[key] -= amount
            return True
    return False
