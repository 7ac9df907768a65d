"""Who talks to whom, declared once a conversation, and the network policies that follow from it.

Where every pod is denied what no policy allows, each conversation needs a rule at both of its ends. So it is declared
as one `Flow`, and both rules are written from it. What a flow is for stands beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import pulumi
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s.network_rules import AddressesArgs, Peer, Port
from trainyard.conventions import TEAM_LABEL

DEFAULT_DENY_NAME = "default-deny"
"""Name of the policy, in every namespace, that denies what no other allows."""


class Place(Enum):
    """An end of a flow that is no pods of ours; `AddressesArgs` says where it is."""

    API_SERVER = "the API server, which calls webhooks and is asked by controllers"
    NETWORK = "every pod and node of the network"
    NODES = "the kubelets"
    TEAMS = "pods of all teams"
    RESOLVERS = "the network's own name servers"
    IDENTITY = "what hands out the pods' identity"
    CLOUD_SERVICES = "the cloud's services, at addresses inside of the network"
    OBJECT_STORE = "the object store"
    INTERNET = "everything outside of the network"


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of a namespace of the platform's: those with the labels, or all."""

    namespace: str
    labels: tuple[tuple[str, str], ...] = ()


DNS = Pods("kube-system", (("k8s-app", "kube-dns"),))
"""The cluster's name service."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One conversation that has to be possible: who begins it, with whom, on which ports, and what for."""

    source: Pods | Place
    destination: Pods | Place
    ports: tuple[Port, ...]
    why: str


def tcp(first: int, last: int | None = None) -> Port:
    """A TCP port, or the ports from the first to the last."""
    return {"protocol": "TCP", "port": first} if last is None else {"protocol": "TCP", "port": first, "end_port": last}


NAME_PORTS: tuple[Port, ...] = ({"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53})


def network_policies(
    namespace: str, flows: Iterable[Flow], addresses: AddressesArgs
) -> dict[str, networking.NetworkPolicySpecArgsDict]:
    """The policies of one namespace by name: everything denied, and for each of its pods that a flow names, its end.

    A flow to or from a place that the ground does not have (no addresses) allows nothing.
    """
    flows = tuple(flows)
    policies: dict[str, networking.NetworkPolicySpecArgsDict] = {DEFAULT_DENY_NAME: rules.DEFAULT_DENY}
    ends = (end for flow in flows for end in (flow.source, flow.destination))
    for pods in dict.fromkeys(end for end in ends if isinstance(end, Pods) and end.namespace == namespace):
        ingress = [
            networking.NetworkPolicyIngressRuleArgsDict(from_=peers, ports=list(flow.ports))
            for flow in flows
            if flow.destination == pods
            for peers in _peers(flow.source, addresses, comes=True)
        ]
        egress = [
            rule
            for flow in flows
            if flow.source == pods
            for rule in (
                rules.to(addresses["identity"])
                if flow.destination is Place.IDENTITY
                else [
                    rules.Egress(to=peers, ports=list(flow.ports))
                    for peers in _peers(flow.destination, addresses, comes=False)
                ]
            )
        ]
        spec: networking.NetworkPolicySpecArgsDict = {
            "pod_selector": {"match_labels": dict(pods.labels)} if pods.labels else {},
            "policy_types": ["Ingress", "Egress"],
        }
        if ingress:
            spec["ingress"] = ingress
        if egress:
            spec["egress"] = egress
        policies[_name(pods)] = spec
    return policies


def fence(
    name: str,
    namespace: str,
    flows: Iterable[Flow],
    addresses: AddressesArgs,
    *,
    inside: pulumi.Input[str] | None = None,
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Makes the policies of a namespace. `inside` is its name with the dependency on it, where the stack makes it."""
    return [
        networking.NetworkPolicy(
            f"{name}-{policy}", metadata={"name": policy, "namespace": inside or namespace}, spec=spec, opts=opts
        )
        for policy, spec in network_policies(namespace, flows, addresses).items()
    ]


def _name(pods: Pods) -> str:
    return "-".join(["allow", *(value for _, value in pods.labels)]) if pods.labels else "allow-platform"


def _peers(end: Pods | Place, addresses: AddressesArgs, *, comes: bool) -> Iterable[pulumi.Input[Sequence[Peer]]]:
    """The end as the peers of one rule; nothing where the ground has no such place, because no peers mean everybody."""
    if isinstance(end, Pods):
        selector: Mapping[str, str] = dict(end.labels)
        peer: Peer = {"namespace_selector": rules.namespace_called(end.namespace)}
        if selector:
            peer["pod_selector"] = {"match_labels": selector}
        return [[peer]]
    if end is Place.TEAMS:
        return [[{"namespace_selector": {"match_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}}]]
    if end is Place.OBJECT_STORE:
        return [rules.blocks_of(addresses["object_store"])]
    if end is Place.INTERNET:
        return [rules.outside(addresses)]
    named: Mapping[Place, Sequence[pulumi.Input[str]]] = {
        # Rules are asked before a service's address becomes a pod's or a server's: what goes there needs it named.
        Place.API_SERVER: [*addresses["control_plane"], *([] if comes else [addresses["api_service"]])],
        Place.NETWORK: addresses["own"],
        Place.NODES: addresses["nodes"],
        Place.RESOLVERS: addresses["resolvers"],
        Place.CLOUD_SERVICES: addresses["cloud_services"],
    }
    blocks = rules.blocks(named[end])
    return [blocks] if blocks else []
