"""A recording of several clusters is played once for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.types import EKS_CLUSTER, EKS_NODE_GROUP, GKE_CLUSTER, GKE_NODE_POOL, KUBERNETES_PROVIDER
from trainyard.rehearsal.works.clusters import by_cluster


def of_two(cluster: str, group: str, key: str, named: str) -> list[Any]:
    """Two clusters, each with nodes, a provider that is made of it, and an object."""
    found = []
    for name in ("blue", "green"):
        house = resource(cluster, name, {"name": name})
        provider = resource(KUBERNETES_PROVIDER, f"k8s-{name}", {"kubeconfig": "{}"})
        provider = replace(provider, property_dependencies={"kubeconfig": (house.urn,)})
        budget = resource("kubernetes:policy/v1:PodDisruptionBudget", name, {"metadata": {"name": "server"}})
        nodes = resource(group, f"nodes-{name}", {key: named.format(name)})
        found += [house, provider, nodes, replace(budget, provider=f"{provider.urn}::id")]
    return found


@pytest.mark.parametrize("two", [
    of_two(EKS_CLUSTER, EKS_NODE_GROUP, "clusterName", "{}"),
    of_two(GKE_CLUSTER, GKE_NODE_POOL, "cluster", "{}"),
    of_two(GKE_CLUSTER, GKE_NODE_POOL, "cluster", "projects/p/locations/us-central1/clusters/{}"),
])  # fmt: skip
def test_what_is_on_one_cluster_is_on_no_other(two: list[Any]) -> None:
    shared = resource("gcp:storage/bucket:Bucket", "data", {})
    assert by_cluster([*two, shared]) == [[*two[:4], shared], [*two[4:], shared]]


def test_two_providers_of_one_cluster_are_played_together() -> None:
    house, provider, nodes, budget = of_two(GKE_CLUSTER, GKE_NODE_POOL, "cluster", "{}")[:4]
    other = replace(provider, urn=f"{provider.urn}-walls", name="walls")
    together = [house, provider, other, nodes, budget, replace(budget, urn="b2", provider=f"{other.urn}::id")]
    assert by_cluster(together) == [together]
