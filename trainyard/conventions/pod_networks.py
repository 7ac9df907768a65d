"""Networks of a node that a pod asks for by annotation, as all parts must spell them (multi-networking of GKE)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

GVNIC_NETWORK: Final = "gvnic-1"
"""Name on the cluster of the second ordinary network of A3 Ultra and A4 (cluster-toolkit, 2026-06-25)."""

_RDMA_NETWORK: Final = "rdma-{}"
_TCP_NETWORK: Final = "vpc{}"


def rdma_networks(interfaces: int) -> list[str]:
    """Names on the cluster of the networks of a node's RDMA interfaces, one each, in the interfaces' order."""
    return [_RDMA_NETWORK.format(index) for index in range(interfaces)]


def tcp_networks(interfaces: int) -> list[str]:
    """Names on the cluster of the networks of A3 High's and A3 Mega's fast interfaces, as Google's recipes have
    them."""
    return [_TCP_NETWORK.format(index + 1) for index in range(interfaces)]


def device_mode(network: str) -> str:
    """How an interface of a network of that name goes into a pod: as itself, or as an RDMA adapter."""
    return "RDMA" if network.startswith(_RDMA_NETWORK.format("")) else "NetDevice"


NETWORK_API: Final = "networking.gke.io/v1"
POD_NETWORK, NETWORK_PARAMETERS = "Network", "GKENetworkParamSet"
"""Kinds of that API: a network that pods ask for by its name, and the subnet that it is."""

POD_INTERFACES: Final = "networking.gke.io/interfaces"
"""Annotation of a pod: the networks that it wants, as JSON."""


def pod_networks(names: Sequence[str]) -> dict[str, str]:
    """The annotations by which a pod gets a node's networks besides the cluster's own, which is `eth0`
    (GKE, "Set up multi-network support for Pods"; cluster-toolkit, 2026-06-25)."""
    interfaces = [
        {"interfaceName": f"eth{index}", "network": network} for index, network in enumerate(("default", *names))
    ]
    return {
        "networking.gke.io/default-interface": "eth0",
        POD_INTERFACES: json.dumps(interfaces, separators=(",", ":")),
    }
