"""From where a cluster's API server is reached: over the internet, or at its private address.

The group that EKS makes for a cluster lets in itself alone, and nodes have it (EKS user guide, "Amazon EKS security
group requirements" and "Cluster API server endpoint", 2026-11). So a private endpoint without a rule of its own is
reached by nodes, and whoever deploys is none: the program makes the cluster, and nothing on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.types import (
    EKS_CLUSTER,
    KUBERNETES_PROVIDER,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.flows.aws.security_groups import Rule, cluster_group
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.paths.aws.groups import Groups

API = Port(443)

_NO_CARRIERS = (
    SECURITY_GROUP,
    SECURITY_GROUP_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_EGRESS_RULE,
    LAUNCH_TEMPLATE,
    EKS_CLUSTER,
)
"""What names a group and is not in it, and what makes nodes."""

CHOICES = (
    "endpointPublicAccess with publicAccessCidrs, or a rule for TCP 443 on the cluster's security group from where you "
    "deploy: a network that is joined to this one, a security group, a bastion"
)


@dataclass(frozen=True, slots=True)
class Reach:
    """Who reaches an API server besides the nodes."""

    networks: tuple[str, ...]  # over the internet
    inside: tuple[str, ...]  # at its private address: addresses, and names of groups


def reach(groups: Groups, cluster: View) -> Reach | None:
    """Who reaches the API server of a cluster; None where that is not certain."""
    path = "vpcConfig.endpointPublicAccess"
    if cluster.is_unknown(path) or cluster.blurred("vpcConfig.publicAccessCidrs") or groups.walls is None:
        return None
    public = cluster.flag(path) is not False
    networks = tuple(cluster.texts("vpcConfig.publicAccessCidrs") or ["0.0.0.0/0"]) if public else ()
    further = groups.of(cluster, "vpcConfig.securityGroupIds")
    own = cluster_group(cluster.resource)
    if further is None or not further <= groups.own or not own:
        return None
    found = [rule for one in (own, *sorted(further)) for rule in groups.walls.rules.get((one, "ingress"), ())]
    comers = [comer for rule in found if rule.opens(API) for comer in _comers(groups, cluster, rule, own)]
    return Reach(networks, tuple(sorted(set(comers))))


def check(groups: Groups) -> None:
    """Notes a cluster that the program itself does not reach, where it makes something on it."""
    for cluster in groups.network.stack.of_type(EKS_CLUSTER):
        if cluster.resource.read or not _makes_objects(groups, cluster):
            continue
        found = reach(groups, cluster)
        if found is not None and not found.networks and not found.inside:
            cluster.error(
                "paths-api-unreachable",
                "vpcConfig.endpointPublicAccess",
                "nobody but the nodes reaches the API: it is private, and its security group lets in nobody else, so "
                "that nothing is made on the cluster from wherever this is deployed",
                allowed=CHOICES,
            )


def _makes_objects(groups: Groups, cluster: View) -> bool:
    """Whether a provider of the program's has its kubeconfig of this cluster, and something to make there."""
    providers = {
        provider.urn
        for provider in groups.network.stack.providers.of(KUBERNETES_PROVIDER)
        if cluster.resource.urn in provider.property_dependencies.get("kubeconfig", ())
    }
    if not providers:
        return False
    return any(view.resource.provider_urn in providers for view in groups.network.stack.views)


def _comers(groups: Groups, cluster: View, rule: Rule, own: str) -> Iterator[str]:
    """Whom a rule lets in: addresses, lists of them, and groups that something which is no node has, or may have."""
    yield from rule.prefix_lists
    if rule.addresses:
        yield str(rule.addresses)
    for group in sorted(rule.groups):
        made = group in groups.own or group == own
        if not made or _is_carried(groups, cluster, group):
            yield groups.names.get(group, "the cluster's own group" if group == own else group)


def _is_carried(groups: Groups, cluster: View, group: str) -> bool:
    """Whether something of the program has a security group, or may have it."""
    views = (view for view in groups.network.stack.views if view.type.startswith("aws:"))
    return any(_has(view.inputs, group) for view in views if view.type not in _NO_CARRIERS and view is not cluster)


def _has(value: Any, group: str, *, of_groups: bool = False) -> bool:
    if isinstance(value, dict):
        return any(
            _has(one, group, of_groups=of_groups or "securitygroup" in key.lower()) for key, one in value.items()
        )
    if isinstance(value, list | tuple):
        return any(_has(one, group, of_groups=of_groups) for one in value)
    return value == group or (of_groups and value is UNKNOWN)
