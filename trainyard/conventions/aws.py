"""What every part that knows AWS must spell alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from trainyard.conventions import ReservationKind

RESERVATION_ID: Final = re.compile(r"cr-([0-9a-f]{8}|[0-9a-f]{17})")
"""Id of a capacity reservation or a Capacity Block: 17 hex digits, 8 before 2016 (EC2 User Guide, "Resource IDs",
2026-11)."""

RESERVATION_KINDS: Final[Mapping[ReservationKind, Literal["odcr", "capacity-block"]]] = {
    "reservation": "odcr",
    "block": "capacity-block",
}
"""How stack files and components call what AWS sells ahead: On-Demand Capacity Reservations and Capacity Blocks."""

EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
"""The extended resource of AWS's fabric: one Elastic Fabric Adapter interface."""

EFA_HUGEPAGES_MIB: Final = 5120
"""2 MiB pages that the adapters pin on a node: the node's image sets them aside, and pods request them as AWS's EKS
examples do (smoke facts 2.5, 2026-11-20)."""

ROOT_USER: Final = "arn:aws:iam::{account}:root"
"""An account's root user, as `aws:PrincipalArn` names it. As a principal the same text is the whole account."""

TEAM_LOGS: Final = "team-logs"
"""Last part of the name of a log group of the teams' containers."""


def team_log_group(cluster: str) -> str:
    """The log group of what the teams' containers on a cluster write."""
    return f"/trainyard/{cluster}/{TEAM_LOGS}"


CACHED_REGISTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "public.ecr.aws": ("public.ecr.aws", "ecr"),
    "registry.k8s.io": ("registry.k8s.io", "k8s"),
    "docker.io": ("registry-1.docker.io", "hub"),
    "ghcr.io": ("ghcr.io", "github"),
}
"""Registries that ECR can cache and that something of ours is pulled from: how ECR calls them, and the last part of
the prefix that their images get (ECR User Guide, "Sync an upstream registry", 2026-11; no registry of NVIDIA's is
there)."""

OPEN_REGISTRIES: Final = ("public.ecr.aws", "registry.k8s.io")
"""Those of them that ECR needs no login for (same page)."""

LONGEST_CACHE_PREFIX: Final = 30
"""Characters that ECR takes as a rule's prefix (ECR API reference, CreatePullThroughCacheRule, 2026-11)."""

CACHE_SECRET: Final = re.compile(
    r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9/_+=.@-]+"
)
"""ARN of the secret with a login at a registry: ECR reads those whose name begins so, of its own region."""
