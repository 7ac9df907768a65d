"""A recording by its clusters: what is on each of them, and what all of them share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from trainyard.recorded.model import RecordedResource, masked
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER, GKE_NODE_POOL, KUBERNETES_PROVIDER
from trainyard.rehearsal.context import Stack, View

_CLUSTERS: Final = (EKS_CLUSTER, GKE_CLUSTER)
_OF_A_CLUSTER: Final = "clusterName"
"""Input by which what belongs to one cluster of EKS names it: node groups, add-ons, who may enter, pods' identities."""


def by_cluster(resources: Sequence[RecordedResource]) -> list[list[RecordedResource]]:
    """The resources of each cluster with those that no cluster has for itself; all together where there is one at most.

    Two providers are of one cluster where they are made of the same one, or hold the same kubeconfig.
    """
    together = Resources(resources)
    clusters = _by_provider(resources, together)
    names = list(dict.fromkeys(clusters.values()))
    if len(names) < 2:
        return [list(resources)]
    made = {cluster.urn: str(cluster.inputs.get("name", cluster.name)) for cluster in together.of(*_CLUSTERS)}
    return [[one for one in resources if _on(one, name, clusters, made)] for name in names]


def cluster_of(view: View) -> str:
    """What an object's cluster is told apart by; of what no provider of Kubernetes makes, its provider.

    A provider that is not recorded may be of any cluster, and is one by itself.
    """
    provider = view.resource.provider
    return view.stack.once(_of_stack).get(provider.rpartition("::")[0], provider)


def _of_stack(stack: Stack) -> dict[str, str]:
    return _by_provider(stack.providers.all, stack.resources)


def _by_provider(providers: Sequence[RecordedResource], resources: Resources) -> dict[str, str]:
    """The clusters, by the URNs of the providers of Kubernetes."""
    return {
        provider.urn: _cluster_of(provider, resources)
        for provider in providers
        if provider.is_provider and provider.type == KUBERNETES_PROVIDER
    }


def _cluster_of(provider: RecordedResource, resources: Resources) -> str:
    """The URN of the cluster that a provider is made of; else what it is told, which two of one cluster share."""
    made_of = provider.property_dependencies.get("kubeconfig", ())
    found = [cluster.urn for cluster in resources.of(*_CLUSTERS) if cluster.urn in made_of]
    return found[0] if len(found) == 1 else json.dumps(masked(dict(provider.inputs)), sort_keys=True)


def _on(one: RecordedResource, cluster: str, clusters: dict[str, str], made: dict[str, str]) -> bool:
    """Whether a resource is on this cluster, or on none."""
    if one.urn in made:
        return one.urn == cluster or cluster not in made
    if one.package == "kubernetes" or one.urn in clusters:
        on = clusters.get(one.provider_urn, cluster)
        return clusters.get(one.urn, on) == cluster
    named = one.inputs.get("cluster" if one.type == GKE_NODE_POOL else _OF_A_CLUSTER)
    others = {name for urn, name in made.items() if urn != cluster}
    if cluster not in made or not isinstance(named, str):
        return True
    name = named.rpartition("/")[2]  # of an id, projects/P/locations/L/clusters/NAME
    return name not in others or name == made[cluster]
