"""Flavors: somebody has a quota of each, and its nodes can give what the quotas say."""

from __future__ import annotations

from typing import Final

from trainyard.conventions import ACCELERATORS, GPU_RESOURCE, TPU_RESOURCE
from trainyard.problems import count
from trainyard.recorded.node_groups import NodeGroup
from trainyard.recorded.read import UnknownInput, as_number, value_at
from trainyard.recorded.taints import taints_of
from trainyard.recorded.tolerations import tolerates
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.queues.kubernetes.model import PROVISIONING, ClusterQueue, Flavor
from trainyard.rehearsal.works.queues.nodes import gpus_of_node, most_of, slice_of
from trainyard.rehearsal.works.queues.room import Room

_PLENTY: Final = 10


def check_flavor(view: View, room: Room, flavor: Flavor, *, is_used: bool) -> None:
    """Every rule about one flavor; `is_used` is whether any queue names it."""
    recorded = room.recorded
    queues = [queue for queue in room.configuration.queues.values() if flavor.name in queue.flavors]
    sure = not any(kind in ("ClusterQueue", "Cohort") for kind, _ in recorded.unsure)
    if not is_used and sure and "ClusterQueue" in recorded.made:
        view.warning("queues-flavor-unused", "metadata.name", "no queue has a quota of it: nobody can use its nodes")
    _untolerated(view, room, flavor, queues)
    groups = room.groups.get(flavor.name)
    if not groups:
        return
    each = gpus_of_node(groups)
    counted = any((flavor.name, GPU_RESOURCE) in queue.quotas for queue in queues)
    if sure and counted and each and all(room.is_sure(queue) for queue in queues):
        most = max(room.cluster.tree[queue.name].most((flavor.name, GPU_RESOURCE)) for queue in queues)
        if most < each:
            view.warning(
                "queues-part-of-a-node",
                "metadata.name",
                f"its nodes have {count(each, 'GPU')} each, and no queue can take more than {most:g} of them at once",
                allowed=f"quotas of {count(each, 'GPU')} or more together",
            )
    slice_ = slice_of(groups)
    counts_chips = any((flavor.name, TPU_RESOURCE) in queue.quotas for queue in queues)
    if sure and counts_chips and slice_ and all(room.is_sure(queue) for queue in queues):
        most = max(room.cluster.tree[queue.name].most((flavor.name, TPU_RESOURCE)) for queue in queues)
        if most < slice_:
            view.warning(
                "queues-part-of-a-node",
                "metadata.name",
                f"a slice of it has {slice_} TPU chips, and no queue can take more than {most:g} of them at once: no "
                "job of a whole slice is admitted, and no other trains",
                allowed=f"quotas of {count(slice_, 'chip')} or more together",
            )
    if sure:
        _cores(view, flavor, [queue for queue in queues if _has_no_gpus(queue, flavor.name)], groups)
    from_zero = all(group.min_nodes == 0 for group in groups)
    checked = all(any(_provisions(room, name) for name in queue.checks) for queue in queues)
    if flavor.topology is not None and from_zero and queues and not checked and _starts_empty(groups):
        view.error(
            "queues-topology-from-zero",
            "spec.topologyName",
            "only nodes that exist count, its node groups start with none, and nothing asks for one: jobs wait for "
            "ever (no topology domains)",
            allowed="a minimum of nodes, or an AdmissionCheck of " + PROVISIONING,
        )


def _has_no_gpus(queue: ClusterQueue, flavor: str) -> bool:
    return not any(flavor in group.flavors and {*ACCELERATORS} & {*group.covered} for group in queue.groups)


def _cores(view: View, flavor: Flavor, queues: list[ClusterQueue], groups: list[NodeGroup]) -> None:
    """Quotas of cores and memory where they are what is rationed. Ten times what there is means no limit."""
    for resource in ("cpu", "memory"):
        given = [queue.quotas.get((flavor.name, resource)) for queue in queues]
        total = sum(quota.nominal for quota in given if quota is not None)
        most = most_of(groups, resource)
        if most is not None and most < total < _PLENTY * max(most, 1):
            view.warning(
                "queues-nodes",
                "metadata.name",
                f"quotas of {total:g} {resource} in all, its nodes hold {most:g} at most: jobs would be admitted and "
                "stay Pending",
                allowed=f"at most {most:g} over all queues",
            )


def _untolerated(view: View, room: Room, flavor: Flavor, queues: list[ClusterQueue]) -> None:
    """A flavor of work without GPUs has nodes that such work may run on."""
    without_gpus = [queue for queue in queues if _has_no_gpus(queue, flavor.name)]
    groups = room.groups.get(flavor.name) if flavor.node_labels else room.nodes
    if not without_gpus or not groups:
        return
    try:
        closed = [group for group in groups if not group.max_nodes or not _is_open(group, flavor)]
    except UnknownInput:
        return
    if len(closed) == len(groups):
        view.warning(
            "queues-nodes",
            "spec.tolerations",
            f"queue {without_gpus[0].name} has it for work without GPUs, and every node group of it has a taint that "
            "it does not tolerate, or no nodes: jobs would be admitted and stay Pending",
            allowed="nodes without a taint, or tolerations of it",
        )


def _is_open(group: NodeGroup, flavor: Flavor) -> bool:
    return not any(
        taint["effect"] in ("NoSchedule", "NoExecute") and not any(tolerates(one, taint) for one in flavor.tolerations)
        for taint in taints_of(group)
    )


def _starts_empty(groups: list[NodeGroup]) -> bool:
    inputs = [group.resource.inputs for group in groups]
    first = [value_at(one, "scalingConfig", "desiredSize", unknown=1) for one in inputs]
    first += [value_at(one, "initialNodeCount", unknown=1) for one in inputs]
    return not any(as_number(size) for size in first)


def _provisions(room: Room, name: str) -> bool:
    check = room.configuration.checks.get(name)
    return check is None or check.controller == PROVISIONING
