"""Whether the ranges of a cluster of GKE have room: for the pods of all its nodes, and for its Services.

Source: GKE, "Configure maximum Pods per node" (each node takes a block of at least twice its most pods from the range)
and "VPC-native clusters" (a Service takes an address of its range for as long as it is there), 2026-11.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.gcp.network import subnet_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_PODS: Final = 110
"""Most pods of a node where nobody says another number."""
_BUILT_IN: Final = 3
"""Services that GKE makes itself at the least: kubernetes, kube-dns and that of the metrics."""
_REGIONAL: Final = 3
"""Zones of a regional cluster that does not say which."""


def check(stack: Stack) -> None:
    """Every cluster whose subnet is recorded."""
    clusters = stack.of_type(GKE_CLUSTER)
    for cluster in clusters:
        subnet = subnet_of(stack.resources, cluster.resource)
        if subnet is None or cluster.resource.read:
            continue
        view = stack.view_of(subnet)
        _pods(stack, cluster, view)
        if len(clusters) == 1:
            _services(stack, cluster, view)


def _range(cluster: View, subnet: View, what: str) -> tuple[str, int] | None:
    """The path of a range and how many addresses it has."""
    name = cluster.text(f"ipAllocationPolicy.{what}SecondaryRangeName")
    for path, one in subnet.items("secondaryIpRanges"):
        if name is not None and one.get("rangeName") == name and isinstance(one.get("ipCidrRange"), str):
            try:
                return f"{path}.ipCidrRange", ipaddress.ip_network(one["ipCidrRange"]).num_addresses
            except ValueError:
                return None
    return None


def _services(stack: Stack, cluster: View, subnet: View) -> None:
    found = _range(cluster, subnet, "services")
    if found is None:
        return
    objects = Cluster(stack)
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


def _pods(stack: Stack, cluster: View, subnet: View) -> None:
    found = _range(cluster, subnet, "cluster")
    if found is None or cluster.has("ipAllocationPolicy.additionalPodRangesConfig"):
        return
    path, size = found
    taken = least = 0
    for pool in stack.of_type(GKE_NODE_POOL):
        if pool.has("networkConfig.podRange") or pool.has("networkConfig.createPodRange"):
            continue
        counts = _nodes(cluster, pool)
        most = pool.number("maxPodsPerNode") or cluster.number("defaultMaxPodsPerNode") or _PODS
        if counts is None or pool.is_unknown("maxPodsPerNode") or cluster.is_unknown("defaultMaxPodsPerNode"):
            return
        block = 1 << (2 * int(most) - 1).bit_length()
        least, taken = least + counts[0] * block, taken + counts[1] * block
    if least > size:
        subnet.error("paths-range", path, _words(size, least, "its first nodes do not start"), allowed=_room(least))
    elif taken > size:
        subnet.warning("paths-range", path, _words(size, taken, "the last ones do not start"), allowed=_room(taken))


def _words(size: int, taken: int, end: str) -> str:
    return f"has {size} addresses, and the pods of all nodes take blocks of {taken}: {end}"


def _room(taken: int) -> str:
    return f"a /{32 - (taken - 1).bit_length()} or larger, or fewer pods a node"


def _nodes(cluster: View, pool: View) -> tuple[int, int] | None:
    """The fewest and the most nodes of a pool; None where that is not known."""
    zones = len(pool.entries("nodeLocations") or cluster.entries("nodeLocations"))
    place = pool.text("location") or cluster.text("location") or ""
    zones = zones or (1 if place.count("-") > 1 else _REGIONAL)
    totals = [pool.number(f"autoscaling.total{what}NodeCount") for what in ("Min", "Max")]
    if totals[1] is not None:
        return int(totals[0] or 0), int(totals[1])
    each = [pool.number(f"autoscaling.{what}NodeCount") for what in ("min", "max")]
    if each[1] is not None:
        return int(each[0] or 0) * zones, int(each[1]) * zones
    count = pool.number("nodeCount")
    return None if count is None else (int(count) * zones, int(count) * zones)
