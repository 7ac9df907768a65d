"""Networks that pods ask for by annotation (GKE's multi-networking): each has to be one, and nodes need the interface.

A network is two objects: its parameters name a subnet in which the nodes of a pool have an interface. A pod that asks
for a network that is none is refused; one whose nodes lack the interface waits for ever.

Source: gke-networking-api, apis/network/v1 (the conditions of a GKENetworkParamSet); GKE, "Set up multi-network support
for Pods", and cluster-toolkit (2026-06-25).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.conventions.pod_networks import NETWORK_API, NETWORK_PARAMETERS, POD_INTERFACES, POD_NETWORK
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import follow
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.index import object_name
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_GROUP: Final = NETWORK_API.partition("/")[0]
_NETWORKS: Final = f"{POD_NETWORK}.{_GROUP}"
_PARAMETERS: Final = f"{NETWORK_PARAMETERS}.{_GROUP}"
_OF_THE_CLUSTER: Final = ("default", "pod-network")
"""Names of the network that every pod is in."""
_RULE: Final = "reference-pod-network"

Subnet = tuple[str, str]
"""A VPC network and a subnet of it, by their names."""


def check(cluster: Cluster) -> None:
    """Every check of a network that pods ask for."""
    networks, parameters = cluster.of(_NETWORKS), cluster.of(_PARAMETERS)
    for network in networks:
        _parameters(network, cluster)
    pools = cluster.stack.of_type(GKE_NODE_POOL)
    attached = [attached_of(pool) for pool in pools]
    taken: dict[Subnet, str] = {}
    for one in parameters:
        _once(one, taken)
        if pools and None not in attached:
            _on_nodes(one, [subnet for found in attached for subnet in found or ()])
    for pod in cluster.pods:
        wanted = list(_asked_for(pod))
        if wanted:
            _switched_on(pod, cluster)
            _there(pod, wanted, cluster)
            _pools_have(pod, wanted, dict(zip(map(id, pools), attached, strict=True)), cluster)


def _parameters(network: View, cluster: Cluster) -> None:
    name, path = network.text("spec.parametersRef.name"), "spec.parametersRef.name"
    if network.text("spec.parametersRef.kind") != NETWORK_PARAMETERS or name is None:
        return
    if (near := cluster.lacks(_PARAMETERS, "", name)) is not None:
        known = cluster.names(_PARAMETERS, "")
        network.error(_RULE, path, f"no {NETWORK_PARAMETERS} {show(name)}", allowed=", ".join(known), hint=near)


def _once(parameters: View, taken: dict[Subnet, str]) -> None:
    """A subnet is one network's, and of an ordinary interface the VPC too."""
    subnet = _subnet(parameters)
    if subnet is None:
        return
    whole = subnet if parameters.text("spec.deviceMode") == "RDMA" else (subnet[0], "")
    name = object_name(parameters) or parameters.name
    if whole in taken:
        path = "spec.vpcSubnet" if whole[1] else "spec.vpc"
        words = f"{whole[1] or whole[0]} is network {taken[whole]}'s"
        parameters.error(_RULE, path, words, allowed="one of its own")
    taken.setdefault(whole, name)


def _on_nodes(parameters: View, attached: list[Subnet]) -> None:
    subnet = _subnet(parameters)
    if subnet is not None and subnet not in attached:
        known = [name for _, name in attached]
        words = f"no node has an interface in {subnet[1]} of {subnet[0]}: a pod that asks for it waits for ever"
        allowed = (
            ", ".join(dict.fromkeys(known)) or "a subnet among networkConfig.additionalNodeNetworkConfigs of a pool"
        )
        parameters.error(_RULE, "spec.vpcSubnet", words, allowed=allowed, hint=nearest(subnet[1], known))


def _switched_on(pod: Pod, cluster: Cluster) -> None:
    """The cluster has to have been made for several networks."""
    clusters = cluster.stack.of_type(GKE_CLUSTER)
    if len(clusters) != 1 or clusters[0].is_unknown("enableMultiNetworking"):
        return
    if clusters[0].value("enableMultiNetworking") is not True:
        words = f"off; {pod.title} asks for networks by {POD_INTERFACES}, which nothing then gives it"
        clusters[0].error(_RULE, "enableMultiNetworking", words, allowed="true, from the cluster's creation on")


def _there(pod: Pod, wanted: list[str], cluster: Cluster) -> None:
    for name in wanted:
        if cluster.of(_NETWORKS) and (near := cluster.lacks(_NETWORKS, "", name)) is not None:
            known = ", ".join(cluster.names(_NETWORKS, ""))
            pod.view.error(_RULE, path_of_annotations(pod), f"no {POD_NETWORK} {show(name)}", allowed=known, hint=near)


def _pools_have(pod: Pod, wanted: list[str], attached: Mapping[int, list[Subnet] | None], cluster: Cluster) -> None:
    """The pools that the pod chooses by their labels have an interface in each of its networks."""
    labels = chosen_nodes(pod)
    if not labels:
        return
    subnets = {name: _subnet(found) for name in wanted if (found := cluster.find(_PARAMETERS, "", name)) is not None}
    for pool in cluster.stack.of_type(GKE_NODE_POOL):
        own, has = pool.mapping("nodeConfig.labels"), attached.get(id(pool))
        if has is None or any(own.get(key) not in values for key, values in labels.items()):
            continue
        lacking = [name for name, subnet in subnets.items() if subnet is not None and subnet not in has]
        if lacking:
            words = (
                f"{pool.name} has no interface in network {', '.join(lacking)}, for which {pod.title} waits for ever"
            )
            pool.error(
                _RULE, "networkConfig.additionalNodeNetworkConfigs", words, allowed="one a network, in their order"
            )


def _asked_for(pod: Pod) -> Iterator[str]:
    """The networks besides the cluster's own, as far as the annotation can be read."""
    text = follow(pod.view.inputs, *steps(path_of_annotations(pod)), POD_INTERFACES)
    try:
        found = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        words = f"{POD_INTERFACES} is no JSON: a list of interfaceName and network"
        pod.view.error(_RULE, path_of_annotations(pod), words, allowed='[{"interfaceName":"eth0","network":"default"}]')
        return
    for entry in listed(found):
        name = follow(entry, "network")
        if isinstance(name, str) and name not in _OF_THE_CLUSTER:
            yield name


def path_of_annotations(pod: Pod) -> str:
    """Where the annotations of its template stand."""
    return f"{pod.path.removesuffix('spec')}metadata.annotations"


def steps(path: str) -> Iterator[str | int]:
    """A path as what is followed, one after the other."""
    for part in path.split("."):
        name, _, index = part.partition("[")
        yield name
        if index:
            yield int(index.removesuffix("]"))


def _subnet(parameters: View) -> Subnet | None:
    vpc, subnet = parameters.text("spec.vpc"), parameters.text("spec.vpcSubnet")
    return None if vpc is None or subnet is None else (vpc, subnet)


def attached_of(pool: View) -> list[Subnet] | None:
    """The subnets in which nodes have further interfaces; None where not all are known."""
    path = "networkConfig.additionalNodeNetworkConfigs"
    if pool.is_unknown("networkConfig") or pool.blurred(path):
        return None
    found = [(item.get("network"), item.get("subnetwork")) for _, item in pool.items(path)]
    if any(not isinstance(text, str) for pair in found for text in pair):
        return None
    return [(str(vpc).rpartition("/")[2], str(subnet).rpartition("/")[2]) for vpc, subnet in found]


def chosen_nodes(pod: Pod) -> dict[str, set[Any]]:
    """Labels that the pod's nodes have to have, each with its values: by selector, or by the one term of affinity."""
    selector = pod.spec.get("nodeSelector")
    found = {key: {value} for key, value in selector.items()} if isinstance(selector, Mapping) else {}
    required = follow(pod.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = listed(follow(required, "nodeSelectorTerms"))
    for expression in listed(follow(terms[0], "matchExpressions")) if len(terms) == 1 else ():
        if follow(expression, "operator") == "In":
            found[str(follow(expression, "key"))] = set(listed(follow(expression, "values")))
    return {} if has_unknown(list(found.values())) or any(UNKNOWN in values for values in found.values()) else found
