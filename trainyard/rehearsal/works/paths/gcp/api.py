"""From where the API of a cluster of GKE is reached: its DNS name, an address of the internet, or one of its network.

Source: GKE, "About network isolation" and "Customize your network isolation" (2026-11): the DNS endpoint takes nobody
from outside the network unless it allows external traffic; with authorised networks the private address takes nobody
but the cluster's own subnet and those networks.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GKE_CLUSTER, KUBERNETES_PROVIDER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.gcp.network import subnet_of

_DNS: Final = "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic"
_IP: Final = "controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"
_PUBLIC: Final = "controlPlaneEndpointsConfig.ipEndpointsConfig.enablePublicEndpoint"
_PRIVATE: Final = "privateClusterConfig.enablePrivateEndpoint"
_NETWORKS: Final = "masterAuthorizedNetworksConfig.cidrBlocks"
_INSIDE: Final = (
    "gcp:compute/externalVpnGateway", "gcp:compute/instance", "gcp:compute/interconnect",
    "gcp:compute/networkPeering", "gcp:compute/vPNTunnel", "gcp:compute/haVpnGateway", "gcp:gkehub/",
    "gcp:networkconnectivity/", "gcp:cloudbuild/workerPool", "gcp:workstations/",
)  # fmt: skip
"""What somebody may come in through, or work on inside, by the beginning of the type."""


def check(stack: Stack) -> None:
    """Notes a cluster that the program itself does not reach, where it makes something on it."""
    for cluster in stack.of_type(GKE_CLUSTER):
        if cluster.resource.read or subnet_of(stack.resources, cluster.resource) is None:
            continue
        if _shut(cluster) and _makes_objects(stack, cluster) and not _inside(stack):
            cluster.error(
                "paths-api-unreachable", _DNS,
                "nobody but the nodes reaches the API: neither its DNS name nor an address takes anybody from outside, "
                "and nothing recorded is inside, so that nothing is made on the cluster from wherever this is deployed",
                allowed="true, or a public endpoint with authorised networks, or a way into the network",
            )  # fmt: skip


def _shut(cluster: View) -> bool:
    paths = (_DNS, _IP, _PUBLIC, _PRIVATE, _NETWORKS)
    if any(cluster.is_unknown(path) for path in paths) or cluster.flag(_DNS) is True:
        return False
    private = cluster.flag(_PRIVATE) is True or cluster.flag(_PUBLIC) is False or cluster.flag(_IP) is False
    return private and not cluster.entries(_NETWORKS)


def _makes_objects(stack: Stack, cluster: View) -> bool:
    providers = {
        provider.urn
        for provider in stack.providers.of(KUBERNETES_PROVIDER)
        if cluster.resource.urn in provider.property_dependencies.get("kubeconfig", ())
    }
    return any(view.resource.provider_urn in providers for view in stack.views)


def _inside(stack: Stack) -> bool:
    return any(view.type.startswith(_INSIDE) for view in stack.views)
