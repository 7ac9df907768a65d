"""The network that a recorded cluster of GKE is in: ranges of nodes, pods and services, and of the control plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_SUBNETWORK, GKE_CLUSTER
from trainyard.rehearsal.works.flows.addresses import PRIVATE, Addresses
from trainyard.rehearsal.works.flows.kubernetes.network_policies import Enforcement


def subnet_of(resources: Resources, cluster: RecordedResource) -> RecordedResource | None:
    """The recorded subnet of a cluster; None where it is somebody else's."""
    found = resources.referred(cluster, "subnetwork", GCP_SUBNETWORK)
    return found[0] if len(found) == 1 and not found[0].read else None


def node_addresses(resources: Resources) -> Addresses:
    """What nodes of all clusters have; any private address where that is not recorded. Raises UnknownInput."""
    subnets = [subnet_of(resources, cluster) for cluster in resources.of(GKE_CLUSTER)]
    ranges = [_text(subnet.inputs, "ipCidrRange") for subnet in subnets if subnet is not None]
    return Addresses.of(*filter(None, ranges)) if all(subnets) and all(ranges) else PRIVATE


def pod_addresses(resources: Resources) -> Addresses:
    """What pods of all clusters have; any private address where that is not recorded. Raises UnknownInput."""
    return _secondary(resources, "cluster") or PRIVATE


def service_addresses(resources: Resources) -> Addresses:
    """What services have in the clusters; none where that is not recorded. Raises UnknownInput."""
    return _secondary(resources, "services")


def _secondary(resources: Resources, what: str) -> Addresses:
    found = []
    for cluster in resources.of(GKE_CLUSTER):
        policy = value_at(cluster.inputs, "ipAllocationPolicy", default={})
        subnet = subnet_of(resources, cluster)
        ranges = {
            _text(one, "rangeName"): _text(one, "ipCidrRange")
            for one in (mappings_at(subnet.inputs, "secondaryIpRanges") if subnet is not None else ())
        }
        own = _text(policy, f"{what}Ipv4CidrBlock") or ranges.get(_text(policy, f"{what}SecondaryRangeName"), "")
        found.append(own)
    return Addresses.of(*found) if all("/" in text for text in found) else Addresses()


def control_plane(cluster: RecordedResource) -> Addresses:
    """Where a cluster's control plane has its private addresses; none where that is not recorded."""
    block = _text(cluster.inputs, "privateClusterConfig", "masterIpv4CidrBlock")
    return Addresses.of(block) if block else Addresses()


def api_for_pods(resources: Resources) -> Iterator[Addresses]:
    """The addresses of the service `kubernetes`: the first of each range of services. Raises UnknownInput."""
    for version, first, _ in service_addresses(resources).spans:
        yield Addresses(((version, first + 1, first + 1),))


def enforcement(resources: Resources) -> Enforcement:
    """What clusters make of network policies: Dataplane V2 and Autopilot enforce them, else the add-on, where it is on
    (GKE, "Control communication between Pods and Services using network policies", as generally known in 2026-11).
    """
    clusters = resources.of(GKE_CLUSTER)
    return "standard" if all(map(_enforces, clusters)) else "off"


def _enforces(cluster: RecordedResource) -> bool:
    return (
        value_at(cluster.inputs, "datapathProvider") == "ADVANCED_DATAPATH"
        or value_at(cluster.inputs, "enableAutopilot") is True
        or value_at(cluster.inputs, "networkPolicy", "enabled") is True
    )


def _text(value: Mapping[str, Any], *path: str) -> str:
    return str(value_at(value, *path, default=""))
