"""What a job asks for on nodes with Elastic Fabric Adapters, besides GPUs."""

from __future__ import annotations

from trainyard.conventions.aws import EFA_RESOURCE
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NodeGroup


def of_fabric(group: NodeGroup) -> tuple[str, ...]:
    """The resources; none where the nodes have no such adapter."""
    return (EFA_RESOURCE,) if group.resource.type == EKS_NODE_GROUP and group.fabric_interfaces else ()
