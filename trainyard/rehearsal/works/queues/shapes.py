"""What each queue gives: what runs at once, what it may borrow and from whom, what it gets back, which jobs fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.conventions import ACCELERATORS, GPU_RESOURCE, TPU_RESOURCE
from trainyard.recorded.node_groups import NodeGroup
from trainyard.rehearsal.works.placement.kubernetes.said import amount_text
from trainyard.rehearsal.works.queues.kubernetes.model import (
    ClusterQueue,
    FlavorResource,
    LocalQueue,
    Pending,
    PodSet,
    Verdict,
    Workload,
)
from trainyard.rehearsal.works.queues.kubernetes.tree import TreeNode
from trainyard.rehearsal.works.queues.nodes import gpus_of_node, slice_of
from trainyard.rehearsal.works.queues.room import Room


@dataclass(frozen=True, slots=True)
class Part:
    """What one queue has of one resource of one flavor."""

    queue: str
    flavor: str
    resource: str
    owned: float
    borrowable: float  # beyond what it owns, if nobody else runs anything
    lenders: tuple[tuple[str, float], ...]  # whose that is, the largest first; a cohort's own too
    back: str  # what it gets back while another has borrowed all


@dataclass(frozen=True, slots=True)
class Shape:
    """A job that the stack makes or promises, and what an empty cluster says to it."""

    job: str
    queue: str
    pods: str  # "2 x 8 nvidia.com/gpu"
    verdict: Verdict


def parts(room: Room) -> Iterator[Part]:
    """By queue, then by flavor in the order in which they are tried."""
    for queue in room.configuration.queues.values():
        node = room.cluster.tree[queue.name]
        for key in sorted(queue.quotas, key=lambda one: queue.flavors.index(one[0]) if one[0] in queue.flavors else 0):
            owned = queue.quotas[key].nominal
            yield Part(
                queue=queue.name,
                flavor=key[0],
                resource=key[1],
                owned=owned,
                borrowable=max(0.0, node.most(key) - owned),
                lenders=tuple(sorted(_lenders(node, key), key=lambda one: (-one[1], one[0]))),
                back=_back(room, queue, key) if owned > 0 else "",
            )


def shapes(room: Room) -> Iterator[Shape]:
    """The stack's own jobs, then a whole node and the largest gang of each flavor, by queue."""
    for job in room.jobs:
        local = room.configuration.locals.get((job.namespace, job.queue))
        if job.workload is not None and local is not None:
            verdict = room.cluster.fits_empty(job.workload)
            yield Shape(job.workload.name, local.cluster_queue, _pods(job.workload), verdict)
    for queue in room.configuration.queues.values():
        local = _local_of(room, queue)
        if local is None:
            continue
        for flavor in queue.flavors:
            groups = room.groups.get(flavor, [])
            for name, count, each, resource in _promised(groups):
                workload = _asks(room, local, flavor, each, count, resource)
                yield Shape(f"{name} of {flavor}", queue.name, _pods(workload), room.cluster.fits_empty(workload))


def _promised(groups: list[NodeGroup]) -> Iterator[tuple[str, int, float, str]]:
    """What the nodes of a flavor are there for: a whole one, and all of a group at once, which of TPUs is a slice; its
    name, its pods and what each takes."""
    most, each = max((group.max_nodes for group in groups), default=0), gpus_of_node(groups)
    chips = {group.tpu_chips_per_node for group in groups}
    if each:
        yield "one whole node", 1, each, GPU_RESOURCE
        if most > 1:
            yield "the largest gang", most, each, GPU_RESOURCE
    elif len(chips) == 1 and (whole := slice_of(groups)) and (each := chips.pop()):
        yield "one whole slice", whole // each, each, TPU_RESOURCE


def _lenders(node: TreeNode, key: FlavorResource) -> Iterator[tuple[str, float]]:
    if node.parent is None:
        return
    for other in node.top.queues():
        free = other.owns(key) - other.kept(key)
        if other is not node and free > 0:
            yield other.name, free
    for cohort in node.path():
        quota = cohort.quotas.get(key)
        if quota is not None and quota.nominal > 0:
            yield f"cohort {cohort.name}", quota.nominal


def _back(room: Room, queue: ClusterQueue, key: FlavorResource) -> str:
    """Played: another queue takes all there is, then the owner comes for what is its own."""
    flavor, resource = key
    node = room.cluster.tree[queue.name]
    local = _local_of(room, queue)
    others = [other for other in (node.top.queues() if node.parent else ()) if other is not node]
    free = {other.name: other.available(key) for other in others}
    borrowers = [
        (one, name)
        for name in sorted(free, key=lambda name: -free[name])
        if free[name] > 0 and (one := _local_of(room, room.configuration.queues[name])) is not None
    ]
    if local is None or not borrowers or node.kept(key) >= node.owns(key):
        return "lends nothing"
    borrower, name = borrowers[0]
    lent = _asks(room, borrower, flavor, free[name], 1, resource)
    room.cluster.admit(lent)
    owned = queue.quotas[key].nominal
    own = _asks(room, local, flavor, owned, 1, resource)
    verdict = room.cluster.admit(own)
    has_quota, gave_way = own.name in room.cluster.running, lent.name not in room.cluster.running
    for running in tuple(room.cluster.running):
        room.cluster.finish(running)
    if not has_quota:
        return "nothing until it is free"
    if not gave_way:
        return "lends nothing"
    return f"{owned:g} at once" + (f", then {verdict.reason}" if isinstance(verdict, Pending) else "")


def _local_of(room: Room, queue: ClusterQueue) -> LocalQueue | None:
    return next(
        (
            local
            for local in room.locals_of(queue.name)
            if room.admits(queue, local.namespace) is True and not room.cluster.inactive(queue)
        ),
        None,
    )


def _asks(
    room: Room, local: LocalQueue, flavor: str, amount: float, count: int, resource: str = GPU_RESOURCE
) -> Workload:
    """A job that only this flavor can take."""
    labels = room.configuration.flavors[flavor].node_labels if flavor in room.configuration.flavors else {}
    taints = room.configuration.flavors[flavor].node_taints if flavor in room.configuration.flavors else ()
    stands = tuple({"key": str(taint.get("key")), "operator": "Exists"} for taint in taints)
    pods = PodSet("main", count, {resource: amount}, selector=dict(labels), tolerations=stands)
    return Workload(f"{local.namespace}/{flavor}", local.namespace, local.name, (pods,))


def _pods(workload: Workload) -> str:
    told = []
    for pod_set in workload.pod_sets:
        counted = {name: pod_set.requests[name] for name in ACCELERATORS if pod_set.requests.get(name)}
        amounts = [f"{amount_text(name, amount)} {name}" for name, amount in (counted or pod_set.requests).items()]
        told.append(f"{pod_set.count} x {', '.join(amounts) or 'nothing'}")
    return "; ".join(told)
