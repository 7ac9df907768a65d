"""Flavors: somebody has a quota of each, and its nodes can give what the quotas say."""

from __future__ import annotations

from trainyard.conventions import GPU_RESOURCE
from trainyard.recorded.node_groups import NodeGroup
from trainyard.recorded.read import as_number, value_at
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.queues.kubernetes.model import PROVISIONING, Flavor
from trainyard.rehearsal.works.queues.nodes import gpus_of_node, most_of
from trainyard.rehearsal.works.queues.room import Room


def check_flavor(view: View, room: Room, flavor: Flavor, *, is_used: bool) -> None:
    """Every rule about one flavor; `is_used` is whether any queue names it."""
    recorded = room.recorded
    queues = [queue for queue in room.configuration.queues.values() if flavor.name in queue.flavors]
    sure = not any(kind in ("ClusterQueue", "Cohort") for kind, _ in recorded.unsure)
    if not is_used and sure and "ClusterQueue" in recorded.made:
        view.warning("queues-flavor-unused", "metadata.name", "no queue has a quota of it: nobody can use its nodes")
    groups = room.groups.get(flavor.name)
    if not groups:
        return
    each = gpus_of_node(groups)
    if sure and queues and each and all(room.is_sure(queue) for queue in queues):
        most = max(room.cluster.tree[queue.name].most((flavor.name, GPU_RESOURCE)) for queue in queues)
        if 0 < most < each:
            view.warning(
                "queues-part-of-a-node",
                "metadata.name",
                f"its nodes have {each} GPUs each, and no queue can take more than {most:g} of them at once",
                allowed=f"quotas of {each} GPUs or more together",
            )
    if sure:
        for resource in ("cpu", "memory"):
            quotas = [
                queue.quotas[flavor.name, resource].nominal
                for queue in queues
                if (flavor.name, resource) in queue.quotas
            ]
            most_there = most_of(groups, resource)
            if quotas and most_there is not None and sum(quotas) > most_there:
                view.warning(
                    "queues-nodes",
                    "metadata.name",
                    f"quotas of {sum(quotas):g} {resource} in all, its nodes hold {most_there:g} at most: jobs would "
                    "be admitted and stay Pending",
                    allowed=f"at most {most_there:g} over all queues",
                )
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


def _starts_empty(groups: list[NodeGroup]) -> bool:
    desired = [
        value_at(group.resource.inputs, "scalingConfig", "desiredSize", default=0, unknown=1) for group in groups
    ]
    return not any(as_number(size) for size in desired)


def _provisions(room: Room, name: str) -> bool:
    check = room.configuration.checks.get(name)
    return check is None or check.controller == PROVISIONING
