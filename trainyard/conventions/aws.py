"""What every part that knows AWS must spell alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal
from zlib import crc32

from trainyard.conventions import ReservationKind

RESERVATION_ID: Final = re.compile(r"cr-([0-9a-f]{8}|[0-9a-f]{17})")
"""Id of a capacity reservation or a Capacity Block: 17 hex digits, 8 before 2016 (EC2 User Guide, "Resource IDs",
2026-11)."""

RESERVATION_KINDS: Final[Mapping[ReservationKind, Literal["odcr", "capacity-block"]]] = {
    "reservation": "odcr",
    "block": "capacity-block",
}
"""How stack files and components call what AWS sells ahead: On-Demand Capacity Reservations and Capacity Blocks."""

BLOCK_STORAGE_CLASS: Final = "trainyard-gp3"
"""StorageClass of the platform's own volumes."""

EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
"""The extended resource of AWS's fabric: one Elastic Fabric Adapter interface."""

EFA_ENVIRONMENT: Final[Mapping[str, str]] = {"NCCL_NET": "AWS Libfabric", "FI_PROVIDER": "efa"}
"""Variables by which NCCL takes EFA or ends: its network is the plug-in, which every version answers to by this name
(aws-ofi-nccl, `nvidia_plugin_name_fixup`, 2026-08), and libfabric offers no provider but the adapters. Without them an
image that lacks the plug-in, or a pod without adapters, trains over sockets and says nothing."""

EFA_HUGEPAGES_MIB: Final = 5120
"""2 MiB pages that the adapters pin on a node: the node's image sets them aside, and pods request them as AWS's EKS
examples do (smoke facts 2.5, 2026-11-20)."""

BASTION_DISK_GIB: Final = 8
"""Root disk of a bastion: what the image of Amazon Linux 2023 needs."""


def bastion_name(environment: str) -> str:
    """Tag `Name` of an environment's bastion, by which a tunnel finds it."""
    return f"{environment}-bastion"


def tunnel_port(cluster: str) -> int:
    """The local port of the tunnel to a cluster's API: of its own, so that tunnels to several stand beside each other,
    and below those that operating systems hand out."""
    return 20000 + crc32(cluster.encode()) % 10000


def kubeconfig_document(
    cluster: str,
    region: Any,
    endpoint: Any,
    certificate_authority: Any,
    *,
    host: Any,
    tunnel: int | None = None,
    identity: Sequence[str] = (),
) -> dict[str, Any]:
    """A kubeconfig of an EKS cluster, as data in which a program's outputs may stand.

    It holds no secret: `aws eks get-token` fetches a token at each use, `identity` being its further options. The
    region stands in it, so that the caller's own default does not matter. With `tunnel` the API server is reached
    through that local port, and its certificate still has to be that of `host`, the endpoint without https://.
    """
    server = {"server": endpoint, "certificate-authority-data": certificate_authority}
    if tunnel is not None:
        server |= {"server": f"https://127.0.0.1:{tunnel}", "tls-server-name": host}
    token = ["eks", "get-token", "--cluster-name", cluster, "--region", region, *identity]
    command = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws", "args": token}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "clusters": [{"name": cluster, "cluster": server}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "users": [{"name": cluster, "user": {"exec": command | {"interactiveMode": "Never"}}}],
    }


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
    "quay.io": ("quay.io", "quay"),
    "docker.io": ("registry-1.docker.io", "hub"),
    "ghcr.io": ("ghcr.io", "github"),
}
"""Registries that ECR can cache and that something of ours is pulled from: how ECR calls them, and the last part of
the prefix that their images get (ECR User Guide, "Sync an upstream registry", 2026-11; no registry of NVIDIA's is
there)."""

OPEN_REGISTRIES: Final = ("public.ecr.aws", "registry.k8s.io", "quay.io")
"""Those of them that ECR needs no login for (same page)."""

SESSION_AGENT_ACTIONS: Final = (
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
"""What the agent of Session Manager needs for sessions, and nothing else of Systems Manager; none of them can be bound
to a resource (Systems Manager user guide, "Create a custom IAM role for Session Manager", 2026-11)."""

LONGEST_CACHE_PREFIX: Final = 30
"""Characters that ECR takes as a rule's prefix (ECR API reference, CreatePullThroughCacheRule, 2026-11)."""

CACHE_SECRET: Final = re.compile(
    r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9/_+=.@-]+"
)
"""ARN of the secret with a login at a registry: ECR reads those whose name begins so, of its own region."""

SAGEMAKER = "Amazon SageMaker"
"""How billing names managed training, with everything that people make there."""
