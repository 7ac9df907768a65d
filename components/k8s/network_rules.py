"""Rules that the network policies of several namespaces share."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.networking.v1 as networking

Egress = networking.NetworkPolicyEgressRuleArgsDict

DEFAULT_DENY: networking.NetworkPolicySpecArgsDict = {"pod_selector": {}, "policy_types": ["Ingress", "Egress"]}
"""A network policy that lets nothing in and nothing out, for every pod of the namespace."""


class EndpointArgs(TypedDict):
    """An address that pods have to reach over TCP, such as the one that hands out their identity."""

    cidr: pulumi.Input[str]
    """The address, as a CIDR block."""
    port: pulumi.Input[int]
    """The TCP port."""


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
    """An egress rule: HTTPS to everywhere but one network. Object stores have public addresses, so no narrower range
    would do."""
    return {
        "to": [{"ip_block": {"cidr": "0.0.0.0/0", "except_": [but]}}],
        "ports": [{"protocol": "TCP", "port": 443}],
    }


def to(endpoints: Sequence[EndpointArgs]) -> list[Egress]:
    """Egress rules, one to each of the addresses."""
    return [
        {
            "to": [{"ip_block": {"cidr": endpoint["cidr"]}}],
            "ports": [{"protocol": "TCP", "port": endpoint["port"]}],
        }
        for endpoint in endpoints
    ]
