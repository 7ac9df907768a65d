"""Names that node groups set and that queues, pods and charts select by: one place, so that they are the same text."""

POOL_LABEL = "ml.platform/pool"
"""On nodes: the GPU pool, or `system`."""

CAPACITY_LABEL = "ml.platform/capacity"
"""On nodes: reserved, spot or on-demand. On spot nodes a taint too."""

TEAM_LABEL = "ml.platform/team"
"""On namespaces: the team."""

GPU_RESOURCE = "nvidia.com/gpu"
"""The extended resource, and the key of the taint of GPU nodes."""

EFA_RESOURCE = "vpc.amazonaws.com/efa"
