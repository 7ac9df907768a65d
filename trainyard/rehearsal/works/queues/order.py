"""The order in which a queue looks for nodes: those that are paid for in any case come first."""

from __future__ import annotations

from trainyard.conventions import CAPACITY_LABEL, POOL_LABEL
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.queues.kubernetes.model import ClusterQueue
from trainyard.rehearsal.works.queues.room import Room


def check_order(view: View, room: Room, queue: ClusterQueue) -> None:
    """A pool's reserved nodes stand before its others: Kueue takes the first flavor that has room."""
    for index, group in enumerate(queue.groups):
        seen: dict[str, str] = {}
        for name in group.flavors:
            flavor = room.configuration.flavors.get(name)
            labels = flavor.node_labels if flavor is not None else {}
            pool, capacity = labels.get(POOL_LABEL), labels.get(CAPACITY_LABEL)
            if pool is None or capacity is None:
                continue
            if capacity == "reserved" and pool in seen:
                view.warning(
                    "queues-order", f"spec.resourceGroups[{index}].flavors",
                    f"looks for {seen[pool]} before {name}: jobs start other nodes while reserved ones, which are paid "
                    "for, stand idle", allowed=f"{name} first",
                )  # fmt: skip
                break
            seen.setdefault(pool, name)
