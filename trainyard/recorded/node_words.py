"""How people call a node group, and whether its jobs go through queues."""

from __future__ import annotations

from typing import Final

from trainyard.conventions import CPU_POOL, POOL_LABEL, SYSTEM_POOL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, node_group
from trainyard.recorded.read import UnreadableInput, follow
from trainyard.recorded.resources import Resources


def pool_name(group: RecordedResource, resources: Resources) -> str:
    """What people call a node group: `pool train (spot)`."""
    try:
        found = node_group(group, resources)
    except UnreadableInput:
        return f"node group {group.name}"
    return f"pool {found.pool} ({found.capacity})" if POOL_LABEL in found.labels else f"node group {group.name}"


def has_queues(group: RecordedResource, resources: Resources) -> bool:
    """Whether it is of a pool whose jobs go through queues: those with GPUs."""
    try:
        return node_group(group, resources).gpus_per_node > 0
    except UnreadableInput:
        return False


MOVED: Final = (
    "`trainyard upgrade STACK --from REF --run` holds the queues, waits until these jobs have ended, and goes on"
)
"""What empties the nodes of a pool that stays, before they become other ones."""


def emptied(group: RecordedResource) -> str:
    """How a node group is emptied before it goes, without a full stop: by the verb, where it is of a pool of GPUs."""
    labels = ("nodeConfig", "labels") if group.type == GKE_NODE_POOL else ("labels",)
    pool = follow(group.inputs, *labels, POOL_LABEL)
    name = pool if isinstance(pool, str) and pool not in (SYSTEM_POOL, CPU_POOL) else ""
    return f"`trainyard drain STACK --pool {name}` waits until nothing runs there" if name else "let the jobs on it end"
