"""Where topology decides: on which nodes the pods of a workload have room together.

Only nodes that exist count: a pool at zero has none. Source: kueue.md of the project's facts, seen on a live Kueue
0.19.2 (2026-11-22); pkg/cache/scheduler/tas_flavor_snapshot.go of that release.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.recorded.tolerations import tolerates
from trainyard.rehearsal.works.queues.kubernetes.model import Flavor, Node, PodSet


def place(
    pod_set: PodSet,
    count: int,
    flavor: Flavor,
    levels: tuple[str, ...],
    nodes: Mapping[str, Node],
    used: Mapping[str, Mapping[str, float]],
) -> tuple[str, ...] | str:
    """The node of each pod; a text says why there is no place."""
    hostname = bool(levels) and levels[-1] == "kubernetes.io/hostname"
    fitting = [
        node
        for node in nodes.values()
        if flavor.node_labels.items() <= node.labels.items()
        and all(level in node.labels or level == "kubernetes.io/hostname" for level in levels)
        and (not hostname or _tolerated(pod_set, flavor, node))
        and all(node.labels.get(key) == value for key, value in pod_set.selector.items())
    ]
    if not fitting:
        return f"no topology domains at level: {levels[-1] if levels else ''}"
    room = {node.name: _pods(pod_set, node, used.get(node.name, {})) for node in fitting}
    kind, level = pod_set.topology or ("unconstrained", "")
    domains: dict[str, list[Node]] = {}
    for node in fitting:
        domains.setdefault(node.labels.get(level, node.name) if level else "", []).append(node)
    best = [domain for domain in domains.values() if sum(room[node.name] for node in domain) >= count]
    if not best:
        if kind == "required" or sum(room.values()) < count:
            most = max(sum(room[node.name] for node in domain) for domain in domains.values())
            return f'topology "{flavor.topology}" allows to fit only {most} out of {count} pod(s)'
        best = [fitting]
    chosen = min(best, key=lambda domain: sum(room[node.name] for node in domain))
    return _spread(chosen, room, count)


def _spread(domain: list[Node], room: Mapping[str, int], count: int) -> tuple[str, ...]:
    """As few nodes as will do; of those with room for all that is left the fullest, so that whole nodes stay free."""
    found: list[str] = []
    left = sorted((node.name for node in domain), key=lambda name: -room[name])
    while len(found) < count:
        rest = count - len(found)
        enough = [name for name in left if room[name] >= rest]
        name = enough[-1] if enough else left[0]
        left.remove(name)
        found += [name] * min(room[name], rest)
    return tuple(found)


def _pods(pod_set: PodSet, node: Node, used: Mapping[str, float]) -> int:
    fits = [
        int((node.free.get(name, 0.0) - used.get(name, 0.0)) // amount)
        for name, amount in pod_set.requests.items()
        if amount > 0
    ]
    return max(0, min(fits, default=10**6))


def _tolerated(pod_set: PodSet, flavor: Flavor, node: Node) -> bool:
    return all(
        taint.get("effect") not in ("NoSchedule", "NoExecute")
        or any(tolerates(toleration, taint) for toleration in (*pod_set.tolerations, *flavor.tolerations))
        for taint in node.taints
    )
