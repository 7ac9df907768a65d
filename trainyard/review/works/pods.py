"""`explain STACK pods`: where each pod of a stack may run and what it asks for; what each node group has."""

from __future__ import annotations

from trainyard.recorded.model import bare
from trainyard.recorded.read import follow
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.kubernetes.said import amount_text
from trainyard.rehearsal.works.placement.room import most_at_once
from trainyard.rehearsal.works.placement.world import Refusal, Verdict, World
from trainyard.review.works.model import Table

_MOST_REFUSALS = 2


def tables(resources: Resources) -> tuple[Table, ...]:
    """The pods, then the node groups; both empty where a stack may have nodes that it does not say of."""
    world = World(resources)
    pods = tuple(_pod(verdict, world) for verdict in world.verdicts)
    nodes = tuple(_group(group, world) for group in world.nodes or ())
    return (
        Table(
            "pods",
            "Where each pod may run",
            ("pod", "pods", "node groups", "requests", "room for", "why not elsewhere"),
            pods,
        ),
        Table(
            "nodes",
            "What the nodes of each group have for pods, beside what runs on each of them",
            ("node group", "machines", "nodes", "labels", "taints", "a node has", "runs on each"),
            nodes,
        ),
    )


def _pod(verdict: Verdict, world: World) -> tuple[str, ...]:
    workload = verdict.workload
    if workload.every_node:
        count, room = "one a node", ""
    else:
        count = "as a job says" if workload.is_template else _number(workload.replicas)
        most = None if workload.is_template else most_at_once(verdict, world)
        room = "" if most is None else str(most)
    ways = {nodes.name: way.flavor for nodes, way in verdict.fits}
    groups = [f"{name} (flavor {way})" if way and not workload.is_template else name for name, way in ways.items()]
    if len(groups) > 1 and len(groups) == len(world.nodes or ()):
        groups = ["every group"]
    return (
        workload.told(),
        count,
        ", ".join(groups) or "none",
        ", ".join(f"{amount_text(name, amount)} {name}" for name, amount in verdict.requests.items()),
        room,
        "; ".join(_why(one) for one in verdict.refusals[:_MOST_REFUSALS]),
    )


def _why(refusal: Refusal) -> str:
    return f"{refusal.nodes.name}: {', '.join(miss.words for miss in refusal.misses)}"


def _group(nodes: Nodes, world: World) -> tuple[str, ...]:
    taken, offer = world.taken[nodes.name], world.offer(nodes)
    machine = min(nodes.machines, key=lambda one: one.likely.get("memory", 0), default=None)
    held = {name: amount - taken.get(name, 0) for name, amount in machine.likely.items()} if machine else {}
    for name in nodes.hardware:
        held[name] = offer(name) or 0.0
    has = [f"{amount_text(name, amount)} {name}" for name, amount in held.items() if amount > 0]
    if machine is not None and machine.pods is not None:
        has.append(f"{machine.pods - int(taken.get('pods', 0))} pods")
    inputs = nodes.resource.inputs
    own = bare(follow(inputs, "labels") or follow(inputs, "nodeConfig", "labels"))
    return (
        nodes.name,
        " or ".join(one.name for one in nodes.machines) or "unknown",
        f"{_number(nodes.least)} to {_number(nodes.most)}",
        ", ".join(f"{key}={value}" for key, value in own.items()) if isinstance(own, dict) else "",
        ", ".join(map(str, nodes.taints)),
        ", ".join(has) or "unknown",
        ", ".join(one.name for one in world.daemons[nodes.name]),
    )


def _number(count: int | None) -> str:
    return "unknown" if count is None else str(count)
