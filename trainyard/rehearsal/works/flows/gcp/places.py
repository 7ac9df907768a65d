"""What of Google Cloud stands in a stack's network: nodes, the Kubernetes API, databases, Google's services, the
metadata server and the internet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.conventions.gcp import DATABASE_PORTS, GOOGLE_APIS_CIDR, METADATA_CIDR
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import length_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_DNS_RECORDS,
    GCP_DNS_ZONE,
    GCP_GLOBAL_ADDRESS,
    GCP_LUSTRE,
    GCP_NETWORK,
    GKE_CLUSTER,
)
from trainyard.rehearsal.works.flows.addresses import INTERNET, PRIVATE, Addresses
from trainyard.rehearsal.works.flows.gcp.network import (
    api_for_pods,
    control_plane,
    node_addresses,
    pod_addresses,
    service_addresses,
)
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Interfaces, Place, Port

API: Final = "Kubernetes API"
GOOGLE: Final = "Google's services"
"""Cloud Storage and all others of googleapis.com: they have the same addresses, and IAM decides what is done there."""
METADATA: Final = "metadata server"
PRIVATE_ACCESS: Final = Addresses.of(GOOGLE_APIS_CIDR, "199.36.153.4/30")
"""Addresses that are reached by private access alone: of private.googleapis.com and restricted.googleapis.com (VPC,
"Private Google Access", as generally known in 2026-11)."""
_PROJECT: Final = re.compile(r"(?:https://www\.googleapis\.com/compute/v1/)?projects/([^/]+)/global/networks/")

LUSTRE_PORT: Final = Port(988)
"""What servers of Managed Lustre and their clients open to each other (cluster-toolkit, 2026-06-25)."""


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


def places(resources: Resources, believed: str = "") -> Iterator[Place]:
    """Every place of a recording that is of Google Cloud, in the order in which they are told; `believed` as in
    `ValueContext.private_services`. Raises UnknownInput.
    """
    if resources.of(GKE_NODE_POOL):
        nodes = node_addresses(resources)
        yield Place("nodes", "node", nodes, ports=(KUBELET,))
        yield Place("the pod's own node", "own node", nodes, ports=(KUBELET,))
    for cluster in resources.of(GKE_CLUSTER):
        addresses = Addresses.union((control_plane(cluster) or PRIVATE, *api_for_pods(resources)))
        yield Place(API, "service", addresses, ports=(HTTPS,))
        if value_at(cluster.inputs, "privateClusterConfig", "enablePrivateEndpoint") is not True:
            yield Place(f"{API}, public endpoint", "service", INTERNET, public_to=INTERNET, ports=(HTTPS,))
    yield from _inside(resources, believed)
    yield Place(METADATA, "link-local", Addresses.of(METADATA_CIDR), ports=(Port(80),))
    google = google_addresses(resources)
    yield Place(GOOGLE, "object store", google, ports=(HTTPS,))
    rest = INTERNET - PRIVATE_ACCESS  # where nobody knows Google's addresses, they may be any of these
    yield Place("internet", "internet", rest - google if google != INTERNET else rest, ports=(HTTPS,))


def _inside(resources: Resources, believed: str) -> Iterator[Place]:
    """What Google has within the network by private services access: databases and Managed Lustre. Where its range is
    not recorded, it is as a plan has it of a host's network, else somewhere that nothing recorded is.
    """
    inside = private_services(resources) or Addresses.of(*([believed] if believed and _is_hosts(resources) else []))
    guessed = not inside
    inside = inside or PRIVATE - _taken(resources)
    for found in resources.of(CLOUD_SQL):
        version = str(value_at(found.inputs, "databaseVersion", default="")).partition("_")[0]
        public = value_at(found.inputs, "settings", "ipConfiguration", "ipv4Enabled") is not False
        port = Port(DATABASE_PORTS.get(version, DATABASE_PORTS["POSTGRES"]))
        yield Place(
            f"database {found.name}", "service", inside, guessed=guessed, ports=(port,),
            public_to=INTERNET if public else Addresses(),
        )  # fmt: skip
    for found in resources.of(GCP_LUSTRE):
        yield Place(f"Lustre {found.name}", "service", inside, guessed=guessed, ports=(LUSTRE_PORT,))


def _taken(resources: Resources) -> Addresses:
    """Recorded ranges of clusters: no peered network has addresses of the same (VPC Network Peering, "Subnet IP ranges
    in peered networks can't overlap", as generally known in 2026-11).
    """
    ranges = (pod_addresses(resources), node_addresses(resources), service_addresses(resources))
    planes = map(control_plane, resources.of(GKE_CLUSTER))
    return Addresses.union((*(one for one in ranges if one != PRIVATE), *planes))


def private_services(resources: Resources) -> Addresses:
    """Ranges that Google's services have within recorded networks; none where they are not recorded."""
    ranges = []
    for found in resources.of(GCP_GLOBAL_ADDRESS):
        start, length = value_at(found.inputs, "address"), value_at(found.inputs, "prefixLength")
        if value_at(found.inputs, "purpose") == "VPC_PEERING":
            if not start or not length:
                return Addresses()  # Google picks it
            ranges.append(f"{start}/{int(length)}")
    return Addresses.of(*ranges)


def google_addresses(resources: Resources) -> Addresses:
    """Where the names of Google's services lead from the network: the few addresses of private access where a zone of
    the network's own says so, or the network is another project's; else any public one. Raises UnknownInput."""
    for zone in resources.of(GCP_DNS_ZONE):
        is_googles = value_at(zone.inputs, "dnsName") == "googleapis.com."
        if not is_googles or value_at(zone.inputs, "visibility") != "private" or not _is_seen(resources, zone):
            continue
        told = [
            address
            for record in resources.of(GCP_DNS_RECORDS)
            if value_at(record.inputs, "type") == "A"
            and zone in resources.referred(record, "managedZone", GCP_DNS_ZONE)
            for address in texts_at(record.inputs, "rrdatas")
        ]
        if told:
            return Addresses.of(*told)
    return Addresses.of(GOOGLE_APIS_CIDR) if _is_hosts(resources) else INTERNET


def _is_hosts(resources: Resources) -> bool:
    """Whether all clusters are in networks of other projects: names are answered as their administrators have it, and
    that private access is asked of them is believed, as their ranges are (`docs/decisions/0075-what-a-host-keeps.md`).
    """
    clusters = resources.of(GKE_CLUSTER)
    return bool(clusters) and all(_is_joined(resources, cluster) for cluster in clusters)


def _is_joined(resources: Resources, cluster: RecordedResource) -> bool:
    """Whether a cluster's network is not recorded, and of another project than its own: the one that it is told to be
    in, else the one whose identities its pods have.
    """
    own = value_at(cluster.inputs, "project")
    if not own:  # only then: where it is not known, nothing of the network is judged
        pool = str(value_at(cluster.inputs, "workloadIdentityConfig", "workloadPool", default=""))
        own = pool.removesuffix(".svc.id.goog")
    network = _PROJECT.match(str(value_at(cluster.inputs, "network", default="")))
    recorded = resources.referred(cluster, "network", GCP_NETWORK)
    return bool(network is not None and own and network[1] != own and not recorded)


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
