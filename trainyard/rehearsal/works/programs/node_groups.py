"""Groups of nodes as deadlines see them: by their labels, and with how many nodes they begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.recorded.types import EKS_NODE_GROUP, GKE_NODE_POOL
from trainyard.rehearsal.context import Stack


def groups_of(stack: Stack) -> Iterator[tuple[Mapping[str, Any], float | None]]:
    """The labels of each group of nodes, and its least size."""
    for view in stack.of_type(EKS_NODE_GROUP):
        yield view.mapping("labels"), view.number("scalingConfig.minSize")
    for view in stack.of_type(GKE_NODE_POOL):
        least = view.number("autoscaling.totalMinNodeCount")
        least = view.number("autoscaling.minNodeCount") if least is None else least
        fixed = view.number("nodeCount")
        starts = 0.0 if view.has("autoscaling") and least is None else least
        yield view.mapping("nodeConfig.labels"), fixed if fixed is not None else starts
