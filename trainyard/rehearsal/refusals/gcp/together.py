"""What resources of Google Cloud need of each other: regions, ranges of addresses, names and zones of DNS, machines of
a zone.

Source: Google's documentation of VPC, GKE and Cloud DNS as generally known, cluster-toolkit (2026-06-25) for the fast
network; which zone sells a machine, `trainyard/catalog/gcp_zones.csv`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import DRANET_LABEL, RDMA_DEVICE_CLASS, ROCE_NETWORK
from trainyard.problems import nearest
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_DNS_RECORDS,
    GCP_DNS_ZONE,
    GCP_FIREWALL,
    GCP_GLOBAL_ADDRESS,
    GCP_NAT,
    GCP_NETWORK,
    GCP_PROVIDER,
    GCP_ROUTER,
    GCP_SUBNETWORK,
    GKE_CLUSTER,
    GKE_NODE_POOL,
    RESOURCE_CLAIM_TEMPLATE,
)
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

FAST_NETWORK_SINCE: Final = (1, 34)
"""The first minor version of GKE whose nodes have their fast interfaces set up for them (cluster-toolkit)."""
_PODS_A_NODE: Final = 110
"""Pods of a node where nothing else is said; a node has the next power of two of addresses, twice over."""
_WEBHOOK_PORTS: Final = ("8443", "9443")
"""Where webhooks listen, for which GKE's own rule for the control plane (443 and 10250) does nothing."""


def region_of_nat(view: View) -> None:
    """A router and its NAT, and the subnets that it serves, are of one region."""
    own = view.text("region")
    of = view.referred("router", GCP_ROUTER)
    theirs = of.text("region") if of is not None else None
    if own and theirs and own != theirs:
        view.error("gcp-region", "region", f"{own}; its router is in {theirs}", allowed=theirs)
    for index, _ in enumerate(view.entries("subnetworks")):
        path = f"subnetworks[{index}].name"
        subnet = view.referred(path, GCP_SUBNETWORK)
        place = subnet.text("region") if subnet is not None else None
        if own and place and own != place:
            view.error("gcp-region", path, f"a subnet of {place}; the NAT is in {own}", allowed=f"a subnet of {own}")


def cluster(view: View) -> None:
    """A cluster and its subnet: the region, the names of the ranges, the control plane's own range, room for pods."""
    if view.value("networkingMode") == "ROUTES":
        for path in ("ipAllocationPolicy", "datapathProvider", "privateClusterConfig.enablePrivateNodes"):
            if view.value(path) not in (None, False, "LEGACY_DATAPATH", {}):
                allowed = "VPC_NATIVE, or nothing of it"
                view.error("gke-networking", "networkingMode", f"ROUTES beside {path}", allowed=allowed)
                break
    subnet = view.referred("subnetwork", GCP_SUBNETWORK)
    if subnet is None:
        return
    place, location = subnet.text("region"), view.text("location")
    if place and location and not (location == place or location.startswith(f"{place}-")):
        view.error("gcp-region", "subnetwork", f"a subnet of {place}; the cluster is in {location}", allowed=location)
    names = {item.get("rangeName"): item.get("ipCidrRange") for _, item in subnet.items("secondaryIpRanges")}
    sure = not subnet.blurred("secondaryIpRanges") and all(isinstance(name, str) for name in names)
    for what in ("cluster", "services"):
        path = f"ipAllocationPolicy.{what}SecondaryRangeName"
        name = view.text(path)
        if name is not None and sure and name not in names:
            known = [str(each) for each in names]
            allowed = ", ".join(known) or "a secondary range of the subnet"
            view.error(
                "gke-ranges", path, f"the subnet has no {show(name)}", allowed=allowed, hint=nearest(name, known)
            )
    _control_plane(view, subnet)
    _room_for_pods(view, names.get(view.text("ipAllocationPolicy.clusterSecondaryRangeName") or ""))
    _webhooks(view)


_SUBNET: Final = re.compile(r"projects/([^/]+)/regions/([^/]+)/subnetworks/[^/]+$")
_NETWORK: Final = re.compile(r"projects/([^/]+)/global/networks/[^/]+$")


def shared_network(view: View) -> None:
    """A cluster in another project's subnet: a network of the same project, the region, and ranges that are there.

    Source: GKE, "Set up clusters with Shared VPC", as generally known in 2026-11.
    """
    subnet, network = _SUBNET.search(view.text("subnetwork") or ""), _NETWORK.search(view.text("network") or "")
    own = view.text("project") or _project_of(view)
    if subnet is None or own is None or view.referred("subnetwork", GCP_SUBNETWORK) is not None:
        return
    rule, location = "gke-shared-network", view.text("location") or ""
    if network is not None and network[1] != subnet[1]:
        words = f"a subnet of project {subnet[1]}; the network is of {network[1]}"
        view.error(rule, "subnetwork", words, allowed=f"a subnet of project {network[1]}")
    elif subnet[1] == own:
        return
    elif location and not (location == subnet[2] or location.startswith(f"{subnet[2]}-")):
        view.error(rule, "subnetwork", f"a subnet of {subnet[2]}; the cluster is in {location}", allowed=location)
    elif not view.is_unknown("ipAllocationPolicy"):
        for what in ("cluster", "services"):
            path = f"ipAllocationPolicy.{what}SecondaryRangeName"
            if view.lacks(path) and view.value("networkingMode") != "ROUTES":
                words = f"is missing: GKE adds no range to a subnet of {subnet[1]}, another project"
                view.error(rule, path, words, allowed="the name of a secondary range that the subnet has")


def _project_of(view: View) -> str | None:
    """The project of the recording's one provider of Google Cloud."""
    projects = {each.inputs.get("project") for each in view.stack.providers.all if each.type == GCP_PROVIDER}
    found = projects.pop() if len(projects) == 1 else None
    return found if isinstance(found, str) else None


def _control_plane(view: View, subnet: View) -> None:
    path = "privateClusterConfig.masterIpv4CidrBlock"
    own = _network(view.text(path))
    for _, taken in ranges_of(subnet):
        if own is not None and taken.overlaps(own):
            view.error("gcp-range-overlap", path, f"{own} overlaps the subnet's {taken}", allowed="a /28 of its own")


def _room_for_pods(view: View, text: object) -> None:
    """Each node takes twice as many addresses as pods, a power of two, whole: a /24 for 110."""
    found = _network(text if isinstance(text, str) else None)
    if found is None or view.has("ipAllocationPolicy.additionalPodRangesConfig"):
        return
    pools = [pool for pool in view.stack.of_type(GKE_NODE_POOL) if pool.referred("cluster", GKE_CLUSTER) is view]
    wanted = least = 0
    for pool in pools:
        if pool.has("networkConfig.podRange"):
            continue  # it has pods of its own elsewhere
        pods = pool.number("maxPodsPerNode") or view.number("defaultMaxPodsPerNode") or _PODS_A_NODE
        each = 1 << (2 * int(pods) - 1).bit_length()
        low, high = pool.number("autoscaling.totalMinNodeCount"), pool.number("autoscaling.totalMaxNodeCount")
        wanted += int(high or 0) * each
        least += int(low or 0) * each
    if wanted <= found.num_addresses:
        return
    words = f"{found} has {found.num_addresses} addresses for pods; the pools' nodes need {wanted} at most"
    path = "ipAllocationPolicy.clusterSecondaryRangeName"
    note = view.error if least > found.num_addresses else view.warning
    note("gke-pod-range", path, words, allowed=f"a /{32 - (wanted - 1).bit_length()} or larger")


def _webhooks(view: View) -> None:
    """A rule for webhooks' ports that lets a /28 by which is not the control plane's, and no other that does.

    A rule of another stack may be the right one: only what looks like ours, and is not, is told.
    """
    block = _network(view.text("privateClusterConfig.masterIpv4CidrBlock"))
    meant, network = [], view.referred("network", GCP_NETWORK)
    if block is None or network is None:
        return
    for rule in view.stack.of_type(GCP_FIREWALL):
        sources = [_network(text) for text in rule.texts("sourceRanges")]
        if rule.blurred("sourceRanges") or any(source is None or block.subnet_of(source) for source in sources):
            return
        ports = {str(port) for _, entry in rule.items("allows") for port in listed(entry.get("ports"))}
        same = rule.referred("network", GCP_NETWORK) is network
        if same and ports & set(_WEBHOOK_PORTS) and [source.prefixlen for source in sources if source] == [28]:
            meant.append(rule)
    for rule in meant if len(view.stack.of_type(GKE_CLUSTER)) == 1 else ():
        words = f"{rule.texts('sourceRanges')[0]} is not the control plane, {block}, which calls webhooks"
        rule.error("gke-webhooks", "sourceRanges[0]", words, allowed=str(block))


def node_pool(view: View) -> None:
    """The fast network's version and label, and whether the zones sell the machine."""
    profile = "networkConfig.acceleratorNetworkProfile"
    if view.has(profile):
        text = view.text(profile)
        if text not in (None, "auto"):
            view.error("gke-fast-network", profile, show(text), allowed="auto")
        of = view.referred("cluster", GKE_CLUSTER)
        started = of.text("minMasterVersion") if of is not None else None
        version = re.match(r"(\d+)\.(\d+)", started or "")
        if of is not None and version and (int(version[1]), int(version[2])) < FAST_NETWORK_SINCE:
            allowed = f"{'.'.join(map(str, FAST_NETWORK_SINCE))} or later"
            of.warning("gke-fast-network", "minMasterVersion", f"{started}; {view.name} has {profile}", allowed=allowed)
        if view.mapping("nodeConfig.labels").get(DRANET_LABEL) is None and _claimed(view):
            path = "nodeConfig.labels"
            if not view.is_unknown(path) and not view.blurred(path) and not view.is_unknown("nodeConfig"):
                words = f"without {DRANET_LABEL}: no driver runs there, and no claim of the fast network is met"
                view.error("gke-fast-network", path, words, allowed=f"{DRANET_LABEL}: 'true'")
    labelled = str(view.mapping("nodeConfig.labels").get(DRANET_LABEL)).lower() == "true"
    if labelled and view.lacks(profile) and view.lacks("networkConfig.additionalNodeNetworkConfigs") and _claimed(view):
        words = f"is missing beside {DRANET_LABEL}: nodes have no fast interface, and no claim of one is met"
        view.error("gke-fast-network", profile, words, allowed="auto")
    _further_networks(view)
    machine = view.text("nodeConfig.machineType")
    sold = {item.type for item in catalog.instances()} | {item.type for item in catalog.tpus()}
    if machine is None or machine not in sold:
        return
    for index, zone in enumerate(view.entries("nodeLocations")):
        region = zone.rpartition("-")[0] if isinstance(zone, str) else ""
        if region not in catalog.regions() or not isinstance(zone, str):
            continue
        there = catalog.offered_zones(machine, region)
        if zone in catalog.zones(region) and zone not in there:
            allowed = ", ".join(there) or f"a region that has it: {', '.join(catalog.offered_regions(machine))}"
            words = f"{zone} is not known to have {machine}"
            view.warning("gke-machine-zone", f"nodeLocations[{index}]", words, allowed=allowed)


def _further_networks(view: View) -> None:
    """Networks of a node's further interfaces: the cluster is made for them, and RDMA is of the pool's zone."""
    path = "networkConfig.additionalNodeNetworkConfigs"
    if not view.entries(path):
        return
    if view.has("networkConfig.acceleratorNetworkProfile"):
        words = "GKE sets the fast interfaces up itself (acceleratorNetworkProfile)"
        view.error("gke-fast-network", path, words, allowed="one of the two")
    of = view.referred("cluster", GKE_CLUSTER)
    for key, wanted in (("enableMultiNetworking", True), ("datapathProvider", "ADVANCED_DATAPATH")):
        if of is not None and not of.is_unknown(key) and of.value(key) != wanted:
            text = "true" if wanted is True else str(wanted)
            words = f"{show(of.value(key))}; {view.name} has {path}"
            of.error("gke-fast-network", key, words, allowed=f"{text}, from the cluster's creation on")
    zones = [zone for zone in view.entries("nodeLocations") if isinstance(zone, str)]
    for index, _ in enumerate(view.entries(path)):
        for network in view.stack.of_type(GCP_NETWORK):
            if view.referred(f"{path}[{index}].network", GCP_NETWORK) is not network:
                continue
            profile = ROCE_NETWORK.search(network.text("networkProfile") or "")
            if profile and zones and zones != [profile[1]] and not view.blurred("nodeLocations"):
                words = f"{network.name} is of {profile[1]}; the pool stands in {', '.join(zones)}"
                view.error(
                    "gke-fast-network", f"{path}[{index}].network", words, allowed=f"a pool in {profile[1]} alone"
                )


def fast_network_rule(view: View) -> None:
    """A network of RDMA interfaces takes no rule of a firewall."""
    network = view.referred("network", GCP_NETWORK)
    if network is not None and ROCE_NETWORK.search(network.text("networkProfile") or ""):
        words = f"{network.name} is of RDMA interfaces, which no firewall sees"
        view.error("gcp-firewall", "network", words, allowed="a network without a RoCE profile")


def _claimed(view: View) -> bool:
    """Whether pods of the stack claim the fast network."""
    for template in view.stack.of_type(RESOURCE_CLAIM_TEMPLATE):
        for _, request in template.items("spec.spec.devices.requests"):
            if follow(request, "exactly", "deviceClassName") == RDMA_DEVICE_CLASS:
                return True
    return False


def ip_filter(view: View) -> None:
    """From where a bucket is reached: its own networks, and the cluster's among them.

    Source: the provider's description of `ip_filter` (pulumi_gcp 10.2.0).
    """
    if not view.has("ipFilter") or view.is_unknown("ipFilter"):
        return
    mode, path = view.text("ipFilter.mode"), "ipFilter.vpcNetworkSources"
    if mode is not None and mode not in ("Enabled", "Disabled"):
        view.error("gcs-ip-filter", "ipFilter.mode", show(mode), allowed="Enabled, Disabled")
    if mode != "Enabled":
        return
    if not view.has("ipFilter.allowAllServiceAgentAccess"):
        allowed = "true or false, beside mode Enabled"
        view.error("gcs-ip-filter", "ipFilter.allowAllServiceAgentAccess", "is missing", allowed=allowed)
    if not view.entries(path) and not view.has("ipFilter.publicNetworkSource") and not view.blurred(path):
        view.error("gcs-ip-filter", "ipFilter", "nobody reaches the bucket", allowed="vpcNetworkSources of the cluster")
        return
    named = [view.referred(f"{path}[{index}].network", GCP_NETWORK) for index, _ in enumerate(view.entries(path))]
    clusters = view.stack.of_type(GKE_CLUSTER)
    of = {id(found) for cluster in clusters if (found := cluster.referred("network", GCP_NETWORK)) is not None}
    if of and None not in named and not view.blurred(path) and not of & {id(each) for each in named}:
        told = ", ".join(each.name for each in named if each is not None) or "no VPC network"
        words = f"reached from {told}, where no cluster of the stack stands: its pods are refused"
        view.error("gcs-ip-filter", path, words, allowed="the cluster's network")


def address(view: View) -> None:
    """A range for Google's services lies apart from the subnets of its network."""
    length, start = as_number(view.value("prefixLength")), view.text("address")
    own = _network(f"{start}/{length:.0f}") if start and length is not None else None
    network = view.referred("network", GCP_NETWORK)
    if start and length is not None and own is None:
        view.error(
            "gcp-range", "address", f"{start}/{length:.0f}", allowed="the first address of a range of that length"
        )
    for subnet in view.stack.of_type(GCP_SUBNETWORK) if own is not None and network is not None else ():
        if subnet.referred("network", GCP_NETWORK) is not network:
            continue
        for _, taken in ranges_of(subnet):
            if own is not None and taken.overlaps(own):
                view.error(
                    "gcp-range-overlap", "address", f"{own} overlaps {taken} of {subnet.name}", allowed="elsewhere"
                )


def zone(view: View) -> None:
    """A zone's name ends where DNS ends."""
    name = view.text("dnsName")
    if name is not None and not name.endswith("."):
        view.error("gcp-dns", "dnsName", show(name), allowed=f"{name}.")


def records(view: View) -> None:
    """A record's name is whole and of its zone, and its data are what its type has."""
    name, kind = view.text("name"), view.text("type")
    if name is not None and not name.endswith("."):
        view.error("gcp-dns", "name", show(name), allowed=f"{name}.")
    of = view.referred("managedZone", GCP_DNS_ZONE)
    within = of.text("dnsName") if of is not None else None
    if name and within and within.endswith(".") and name.endswith(".") and not f".{name}".endswith(f".{within}"):
        view.error("gcp-dns", "name", f"{name} is not of zone {within}", allowed=f"a name that ends in .{within}")
    for key in ("forwardingConfig", "peeringConfig") if of is not None else ():
        if of is not None and of.mapping(key):
            words = f"zone {of.name} has {key}: its names are asked elsewhere, and it holds no records"
            view.error("gcp-dns", "managedZone", words, allowed=f"a zone without {key}")
    data = view.texts("rrdatas")
    for index, text in enumerate(data):
        if (wanted := _unlike(kind, text)) is not None:
            view.error("gcp-dns", f"rrdatas[{index}]", f"{show(text)} of type {kind}", allowed=wanted)
    if kind == "CNAME" and len(view.entries("rrdatas")) > 1:
        view.error("gcp-dns", "rrdatas", f"{len(data)} names of type CNAME", allowed="one")


def _unlike(kind: str | None, text: str) -> str | None:
    """What a record's data have to be, where these are not."""
    if kind in ("A", "AAAA"):
        try:
            return None if ipaddress.ip_address(text).version == (4 if kind == "A" else 6) else f"an address of {kind}"
        except ValueError:
            return "an IPv4 address" if kind == "A" else "an IPv6 address"
    return "a name that ends with a dot" if kind in ("CNAME", "NS", "PTR") and not text.endswith(".") else None


def ranges_of(subnet: View) -> Iterator[tuple[str, ipaddress.IPv4Network]]:
    """The ranges of a subnet that can be read, each with its input."""
    found = [("ipCidrRange", subnet.text("ipCidrRange"))]
    found += [(f"{path}.ipCidrRange", item.get("ipCidrRange")) for path, item in subnet.items("secondaryIpRanges")]
    for path, text in found:
        network = _network(text if isinstance(text, str) else None)
        if network is not None:
            yield path, network


def _network(text: str | None) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(text) if text is not None else None
    except ValueError:
        return None


RULES: Rules = {
    region_of_nat: (GCP_NAT,),
    cluster: (GKE_CLUSTER,),
    shared_network: (GKE_CLUSTER,),
    node_pool: (GKE_NODE_POOL,),
    fast_network_rule: (GCP_FIREWALL,),
    ip_filter: (GCP_BUCKET,),
    address: (GCP_GLOBAL_ADDRESS,),
    zone: (GCP_DNS_ZONE,),
    records: (GCP_DNS_RECORDS,),
}
