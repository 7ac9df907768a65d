"""How people call a node group, and whether its jobs go through queues."""

from __future__ import annotations

from trainyard.conventions import POOL_LABEL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import node_group
from trainyard.recorded.read import UnreadableInput
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
