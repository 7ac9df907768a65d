"""What of Google Cloud stands in a stack's network: nodes, the Kubernetes API, databases, Google's services, the
metadata server and the internet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.gcp import GOOGLE_APIS_CIDR, METADATA_CIDR
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import length_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CLOUD_SQL, GCP_LUSTRE, GCP_NETWORK, GKE_CLUSTER
from trainyard.rehearsal.works.flows.addresses import INTERNET, PRIVATE, Addresses
from trainyard.rehearsal.works.flows.gcp.network import (
    api_for_pods,
    control_plane,
    node_addresses,
    pod_addresses,
)
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Interfaces, Place, Port

API: Final = "Kubernetes API"
GOOGLE: Final = "Google's services"
"""Cloud Storage and all others of googleapis.com: they have the same addresses, and IAM decides what is done there."""
METADATA: Final = "metadata server"
PRIVATE_ACCESS: Final = Addresses.of(GOOGLE_APIS_CIDR, "199.36.153.4/30")
"""Addresses that are reached by private access alone: of private.googleapis.com and restricted.googleapis.com (VPC,
"Private Google Access", as generally known in 2026-11)."""
CONNECTION: Final = "gcp:servicenetworking/connection:Connection"
ADDRESS: Final = "gcp:compute/globalAddress:GlobalAddress"
_ZONE: Final = "gcp:dns/managedZone:ManagedZone"
_RECORDS: Final = "gcp:dns/recordSet:RecordSet"
_PROJECT: Final = re.compile(r"(?:https://www\.googleapis\.com/compute/v1/)?projects/([^/]+)/global/networks/")

LUSTRE_PORT: Final = Port(988)
"""What servers of Managed Lustre and their clients open to each other (cluster-toolkit, 2026-06-25)."""

_DATABASE_PORTS: Final[Mapping[str, int]] = {"POSTGRES": 5432, "MYSQL": 3306, "SQLSERVER": 1433}
"""Ports of the engines of Cloud SQL, by the beginning of `databaseVersion` (as generally known in 2026-11)."""


def by_number(network: str) -> bool:
    """Whether a network's full name tells its project by number: it may be the one that an id tells elsewhere."""
    found = _PROJECT.match(network)
    return found is not None and found[1].isdigit()


def node_interfaces(resources: Resources) -> Interfaces:
    """Where pods have their addresses: a range of the subnet's that is not the nodes'. Raises UnknownInput."""
    return Interfaces(pod_addresses(resources), frozenset(), frozenset())


def places_of_nodes(resources: Resources) -> Iterator[tuple[RecordedResource, Place]]:
    """The nodes of each pool by themselves. Raises UnknownInput."""
    for pool in resources.of(GKE_NODE_POOL):
        yield pool, Place(f"nodes of {pool.name}", "node", node_addresses(resources), ports=(KUBELET,))


def places(resources: Resources) -> Iterator[Place]:
    """Every place of a recording that is of Google Cloud, in the order in which they are told. Raises UnknownInput."""
    if resources.of(GKE_NODE_POOL):
        nodes = node_addresses(resources)
        yield Place("nodes", "node", nodes, ports=(KUBELET,))
        yield Place("the pod's own node", "own node", nodes, ports=(KUBELET,))
    for cluster in resources.of(GKE_CLUSTER):
        addresses = Addresses.union((control_plane(cluster) or PRIVATE, *api_for_pods(resources)))
        yield Place(API, "service", addresses, ports=(HTTPS,))
        if value_at(cluster.inputs, "privateClusterConfig", "enablePrivateEndpoint") is not True:
            yield Place(f"{API}, public endpoint", "service", INTERNET, public_to=INTERNET, ports=(HTTPS,))
    yield from _databases(resources)
    inside = private_services(resources)
    for found in resources.of(GCP_LUSTRE):
        yield Place(f"Lustre {found.name}", "service", inside or PRIVATE, ports=(LUSTRE_PORT,))
    yield Place(METADATA, "link-local", Addresses.of(METADATA_CIDR), ports=(Port(80),))
    google = google_addresses(resources)
    yield Place(GOOGLE, "object store", google, ports=(HTTPS,))
    rest = INTERNET - PRIVATE_ACCESS  # where nobody knows Google's addresses, they may be any of these
    yield Place("internet", "internet", rest - google if google != INTERNET else rest, ports=(HTTPS,))


def _databases(resources: Resources) -> Iterator[Place]:
    inside = private_services(resources) or PRIVATE
    for found in resources.of(CLOUD_SQL):
        version = str(value_at(found.inputs, "databaseVersion", default="")).partition("_")[0]
        public = value_at(found.inputs, "settings", "ipConfiguration", "ipv4Enabled") is not False
        port = Port(_DATABASE_PORTS.get(version, _DATABASE_PORTS["POSTGRES"]))
        yield Place(
            f"database {found.name}", "service", inside, ports=(port,), public_to=INTERNET if public else Addresses()
        )


def private_services(resources: Resources) -> Addresses:
    """Ranges that Google's services have within recorded networks; none where they are not recorded."""
    ranges = []
    for found in resources.of(ADDRESS):
        start, length = value_at(found.inputs, "address"), value_at(found.inputs, "prefixLength")
        if value_at(found.inputs, "purpose") == "VPC_PEERING":
            if not start or not length:
                return Addresses()  # Google picks it
            ranges.append(f"{start}/{int(length)}")
    return Addresses.of(*ranges)


def google_addresses(resources: Resources) -> Addresses:
    """Where the names of Google's services lead from the network: the few addresses of private access where a zone of
    the network's own says so, or the network is another project's; else any public one. Raises UnknownInput."""
    for zone in resources.of(_ZONE):
        is_googles = value_at(zone.inputs, "dnsName") == "googleapis.com."
        if not is_googles or value_at(zone.inputs, "visibility") != "private" or not _is_seen(resources, zone):
            continue
        told = [
            address
            for record in resources.of(_RECORDS)
            if value_at(record.inputs, "type") == "A" and zone in resources.referred(record, "managedZone", _ZONE)
            for address in texts_at(record.inputs, "rrdatas")
        ]
        if told:
            return Addresses.of(*told)
    return Addresses.of(GOOGLE_APIS_CIDR) if _is_hosts(resources) else INTERNET


def _is_hosts(resources: Resources) -> bool:
    """Whether all clusters are in networks of other projects: names are answered as their administrators have it, and
    that private access is asked of them is believed, as their ranges are (`docs/decisions/0075-what-a-host-keeps.md`).
    """
    pairs = [
        (_PROJECT.match(str(value_at(cluster.inputs, "network", default=""))), value_at(cluster.inputs, "project"))
        for cluster in resources.of(GKE_CLUSTER)
    ]
    return bool(pairs) and all(found and own and found[1] != own for found, own in pairs)


def _is_seen(resources: Resources, zone: RecordedResource) -> bool:
    """Whether a private zone is for the network of a recorded cluster, or one that is not recorded."""
    networks = {
        network.urn
        for cluster in resources.of(GKE_CLUSTER)
        for network in resources.referred(cluster, "network", GCP_NETWORK)
    }
    seen_by = {
        network.urn
        for index in range(length_at(zone.inputs, "privateVisibilityConfig", "networks"))
        for network in resources.referred(zone, f"privateVisibilityConfig.networks[{index}].networkUrl", GCP_NETWORK)
    }
    return not networks or not seen_by or bool(networks & seen_by)
