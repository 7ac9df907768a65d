"""Whether a cluster's range of Services has room for those that the stack makes.

Source: GKE, "VPC-native clusters" (a Service takes an address of the range for as long as it is there), 2026-11. What
pods need is told with the values.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.gcp.network import subnet_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_BUILT_IN: Final = 3
"""Services that GKE makes itself at the least: kubernetes, kube-dns and that of the metrics."""


def check(stack: Stack) -> None:
    """The one cluster, where its subnet is recorded: of several it is not known whose Services are whose."""
    clusters = stack.of_type(GKE_CLUSTER)
    subnet = subnet_of(stack.resources, clusters[0].resource) if len(clusters) == 1 else None
    if subnet is not None and not clusters[0].resource.read:
        _services(stack, clusters[0], stack.view_of(subnet))


def _range(cluster: View, subnet: View) -> tuple[str, int] | None:
    """The path of the range of Services and how many addresses it has."""
    name = cluster.text("ipAllocationPolicy.servicesSecondaryRangeName")
    for path, one in subnet.items("secondaryIpRanges"):
        if name is not None and one.get("rangeName") == name and isinstance(one.get("ipCidrRange"), str):
            try:
                return f"{path}.ipCidrRange", ipaddress.ip_network(one["ipCidrRange"]).num_addresses
            except ValueError:
                return None
    return None


def _services(stack: Stack, cluster: View, subnet: View) -> None:
    found = _range(cluster, subnet)
    if found is None:
        return
    objects = stack.once(Cluster)
    made = [
        one
        for one in objects.of("Service")
        if one.text("spec.clusterIP") != "None" and one.text("spec.type") != "ExternalName"
    ]
    path, size = found
    needed = len(made) + len(objects.releases) + _BUILT_IN
    if needed > size:
        subnet.error(
            "paths-range", path,
            f"has {size} addresses, and the stack's Services take {needed} and more: the last ones are refused",
            allowed="a /20 is what GKE itself takes",
        )  # fmt: skip
