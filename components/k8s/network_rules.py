"""Rules that the network policies of several namespaces share."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.networking.v1 as networking

Egress = networking.NetworkPolicyEgressRuleArgsDict
HTTPS: list[networking.NetworkPolicyPortArgsDict] = [{"protocol": "TCP", "port": 443}]
Peer = networking.NetworkPolicyPeerArgsDict
Port = networking.NetworkPolicyPortArgsDict

ANYWHERE = "0.0.0.0/0"
LINK_LOCAL = "169.254.0.0/16"
"""Instance metadata, at the same address in every cloud, and whatever else a node has for itself."""
NOBODY = "192.0.2.0/32"
"""An address of documentation (RFC 5737), which nobody has."""

DEFAULT_DENY: networking.NetworkPolicySpecArgsDict = {"pod_selector": {}, "policy_types": ["Ingress", "Egress"]}
"""A network policy that lets nothing in and nothing out, for every pod of the namespace."""


class EndpointArgs(TypedDict):
    """An address that pods have to reach over TCP, such as the one that hands out their identity."""

    cidr: pulumi.Input[str]
    """The address, as a CIDR block."""
    port: pulumi.Input[int]
    """The TCP port."""


class AddressesArgs(TypedDict):
    """Where the ground has what network policies can only name by address, as CIDR blocks. Empty: there is none."""

    own: Sequence[pulumi.Input[str]]
    """The network as a whole: nodes, pods, and everything else in it."""
    nodes: Sequence[pulumi.Input[str]]
    """Networks that nodes are in, which are their pods' too where these have addresses of the network."""
    services: pulumi.Input[str]
    """Addresses of Kubernetes services."""
    control_plane: Sequence[pulumi.Input[str]]
    """Networks of the API server, which nothing else is in."""
    api_service: pulumi.Input[str]
    """Address of the service `kubernetes`, through which pods ask the API server."""
    resolvers: Sequence[pulumi.Input[str]]
    """Name servers of the ground, which the cluster's own asks."""
    cloud_services: Sequence[pulumi.Input[str]]
    """Networks in which the ground's services are reached from inside."""
    object_store: pulumi.Input[Sequence[str]]
    """Networks of the object store."""
    identity: Sequence[EndpointArgs]
    """Addresses that hand out the identity of pods."""


def namespace_called(name: str) -> meta.LabelSelectorArgsDict:
    """Selects a namespace by its name."""
    return {"match_labels": {"kubernetes.io/metadata.name": name}}


def names() -> Egress:
    """An egress rule: to the cluster's name service (DNS)."""
    dns: Mapping[str, str] = {"k8s-app": "kube-dns"}
    return {
        "to": [{"namespace_selector": namespace_called("kube-system"), "pod_selector": {"match_labels": dns}}],
        "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
    }


def https(*, but: str) -> Egress:
    """An egress rule: HTTPS to everywhere but one network."""
    return {"to": [{"ip_block": {"cidr": ANYWHERE, "except_": [but]}}], "ports": HTTPS}


def https_to(peers: pulumi.Input[Sequence[Peer]]) -> Egress:
    """An egress rule: HTTPS to these."""
    return {"to": peers, "ports": HTTPS}


def blocks(cidrs: Sequence[pulumi.Input[str]]) -> list[Peer]:
    """CIDR blocks as peers of a rule."""
    return [{"ip_block": {"cidr": cidr}} for cidr in cidrs]


def blocks_of(cidrs: pulumi.Input[Sequence[str]]) -> pulumi.Output[Sequence[Peer]]:
    """CIDR blocks that only the engine knows, as peers of a rule. Where there are none, nobody is meant: a rule without
    peers would mean everybody."""
    return pulumi.Output.from_input(cidrs).apply(lambda known: blocks(list(known) or [NOBODY]))


def outside(addresses: AddressesArgs) -> list[Peer]:
    """The internet: everything but the network itself, its services, and what a node has for itself."""
    inside = [*addresses["own"], addresses["services"], LINK_LOCAL]
    return [{"ip_block": {"cidr": ANYWHERE, "except_": inside}}]


def to(endpoints: Sequence[EndpointArgs]) -> list[Egress]:
    """Egress rules, one to each of the addresses."""
    return [
        {
            "to": [{"ip_block": {"cidr": endpoint["cidr"]}}],
            "ports": [{"protocol": "TCP", "port": endpoint["port"]}],
        }
        for endpoint in endpoints
    ]
