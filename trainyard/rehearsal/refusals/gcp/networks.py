"""Networks: ranges that may be used, rules that say what they mean, times and numbers of NAT, names of DNS.

Source: Google's documentation of VPC, Cloud NAT and Cloud DNS as generally known (autumn 2026).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_CONNECTION,
    GCP_DNS_RECORDS,
    GCP_DNS_ZONE,
    GCP_FIREWALL,
    GCP_GLOBAL_ADDRESS,
    GCP_NAT,
    GCP_NETWORK,
    GCP_RESERVATION,
    GCP_SUBNETWORK,
    GKE_CLUSTER,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.compute import PROTOCOLS
from trainyard.rehearsal.refusals.rules import Rules

_PROHIBITED: Final = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "199.36.153.4/30",
        "199.36.153.8/30",
    )
)  # fmt: skip
"""What no subnet may be (VPC, "Prohibited IPv4 subnet ranges")."""
OWN: Final = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
    )
)  # fmt: skip
"""Ranges of one's own: beyond these a range is somebody's on the internet."""
_TAG: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_WITH_PORTS: Final = ("tcp", "udp", "sctp", "6", "17", "132")


def network(view: View) -> None:
    """A profile of a zone, by its name."""
    profile = view.text("networkProfile")
    if profile is None:
        return
    name = profile.rpartition("/")[2]
    if not re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z0-9]+-vpc-(roce|roce-metal|falcon)", name):
        allowed = "projects/PROJECT/global/networkProfiles/ZONE-vpc-roce"
        view.error("gcp-network-profile", "networkProfile", show(profile), allowed=allowed)
        return
    region = name.split("-vpc-")[0].rpartition("-")[0]
    for subnet in view.stack.of_type(GCP_SUBNETWORK):
        place = subnet.text("region")
        if subnet.referred("network", GCP_NETWORK) is view and place is not None and place != region:
            words = f"of {region}; {subnet.name} is in {place}"
            view.error("gcp-network-profile", "networkProfile", words, allowed=f"a zone of {place}")


def subnetwork(view: View) -> None:
    """Ranges that a network may have."""
    ranges = [("ipCidrRange", view.text("ipCidrRange"))]
    ranges += [
        (f"{path}.ipCidrRange", entry["ipCidrRange"])
        for path, entry in view.items("secondaryIpRanges")
        if isinstance(entry.get("ipCidrRange"), str)
    ]
    for path, text in ranges:
        try:
            found = ipaddress.IPv4Network(text) if text else None
        except ValueError:
            continue
        if found is None:
            continue
        if any(found.overlaps(each) for each in _PROHIBITED):
            view.error("gcp-range", path, f"{found} is kept by Google or by the protocol", allowed="a private range")
        elif not any(found.subnet_of(each) for each in OWN):
            view.warning("gcp-range", path, f"{found} is not private: somebody has it", allowed="like 10.0.0.0/20")
        elif found.prefixlen < 8:
            view.error("gcp-range", path, f"{found} is too large", allowed="a /8 or smaller")
    for index, _ in enumerate(view.entries("secondaryIpRanges")):
        name = view.text(f"secondaryIpRanges[{index}].rangeName")
        if name is not None and not _TAG.fullmatch(name):
            path, allowed = f"secondaryIpRanges[{index}].rangeName", "1 to 63 of a-z, 0-9 and '-', a letter first"
            view.error("gcp-range-name", path, show(name), allowed=allowed)


_PROXIES: Final = ("REGIONAL_MANAGED_PROXY", "GLOBAL_MANAGED_PROXY", "INTERNAL_HTTPS_LOAD_BALANCER")
"""Purposes of subnets that only Google's own proxies are in."""
_ALONE: Final = (*_PROXIES, "PRIVATE_SERVICE_CONNECT", "PRIVATE_NAT")
"""Purposes of subnets that no machine is in."""


def purpose(view: View) -> None:
    """What a subnet is for: a role is a proxies' subnet's, and nobody else stands in one."""
    own, role = view.text("purpose"), view.text("role")
    if view.is_unknown("purpose"):
        return
    if role and own not in _PROXIES:
        view.error("gcp-subnet-purpose", "role", f"{show(role)} of a subnet that is no proxies'", allowed="nothing")
    if own in _ALONE:
        for path in ("secondaryIpRanges", "logConfig", "privateIpGoogleAccess"):
            if view.value(path) not in (None, False, [], {}):
                note = view.error if own in _PROXIES else view.warning
                note("gcp-subnet-purpose", path, f"of a subnet for {own}", allowed="nothing")
    if own in _ALONE:
        for cluster in view.stack.of_type(GKE_CLUSTER):
            if cluster.referred("subnetwork", GCP_SUBNETWORK) is view:
                words = f"{own}: no machine is in it, and {cluster.name} is to be"
                view.error("gcp-subnet-purpose", "purpose", words, allowed="nothing, or PRIVATE")


_NAT_NUMBERS: Final[Mapping[str, tuple[float, float]]] = {
    "udpIdleTimeoutSec": (1, 86_400),
    "icmpIdleTimeoutSec": (1, 86_400),
    "tcpEstablishedIdleTimeoutSec": (1, 86_400),
    "tcpTransitoryIdleTimeoutSec": (1, 86_400),
    "tcpTimeWaitTimeoutSec": (1, 86_400),
    "minPortsPerVm": (2, 57_344),
    "maxPortsPerVm": (64, 65_536),
}


def nat(view: View) -> None:
    """Times and ports within their bounds."""
    for path, (low, high) in _NAT_NUMBERS.items():
        number = view.number(path)
        if number is not None and not low <= number <= high:
            view.error("gcp-nat-ports", path, show(number), allowed=f"{low} to {high}")
    if view.text("type") == "PRIVATE":
        for path in ("natIpAllocateOption", "natIps", "autoNetworkTier", "initialNatIps"):
            if view.has(path):
                view.error("gcp-nat-addresses", path, "of a private NAT", allowed="nothing, or type PUBLIC")
                break
    for path, entry in view.items("subnetworks"):
        chosen = entry.get("sourceIpRangesToNats")
        listed = "LIST_OF_SECONDARY_IP_RANGES" in chosen if isinstance(chosen, list) else False
        if listed and not entry.get("secondaryIpRangeNames"):
            view.error("gcp-nat-subnets", f"{path}.secondaryIpRangeNames", "is missing", allowed="the ranges' names")


def _is_number(text: str) -> bool:
    return text.isdigit() and int(text) <= 255


def firewall(view: View) -> None:
    """Ports of protocols that have them, tags that are tags, ranges of the rule's direction."""
    for path, entry in (*view.items("allows"), *view.items("denies")):
        protocol, ports = entry.get("protocol"), entry.get("ports")
        if isinstance(protocol, str) and protocol.lower() not in PROTOCOLS and not _is_number(protocol):
            allowed = f"{', '.join(PROTOCOLS)}, or the protocol's number"
            view.error("gcp-firewall-protocol", f"{path}.protocol", show(protocol), allowed=allowed)
            continue
        if isinstance(protocol, str) and ports and protocol.lower() not in _WITH_PORTS:
            view.error("gcp-firewall-port", f"{path}.ports", f"of protocol {protocol}", allowed="tcp, udp or sctp")
    for key in ("sourceTags", "targetTags"):
        for index, tag in enumerate(view.texts(key)):
            if not _TAG.fullmatch(tag):
                view.error(
                    "gcp-tag", f"{key}[{index}]", show(tag), allowed="1 to 63 of a-z, 0-9 and '-', a letter first"
                )
    sources = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
    ingress = view.value("direction") in (None, "INGRESS")
    if ingress and view.has("destinationRanges") and all(view.lacks(path) for path in sources):
        view.error("gcp-firewall-source", "destinationRanges", "alone on INGRESS", allowed="sourceRanges")
    if view.value("direction") == "EGRESS" and view.has("sourceRanges") and view.lacks("destinationRanges"):
        view.error("gcp-firewall-source", "sourceRanges", "alone on EGRESS", allowed="destinationRanges")


def address(view: View) -> None:
    """An address that is one, private where it has to be."""
    text = view.text("address")
    if text is None:
        return
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        view.error("gcp-address", "address", show(text), allowed="an address, like 10.0.16.0")
        return
    if view.value("purpose") == "PRIVATE_SERVICE_CONNECT" and view.has("prefixLength"):
        view.error("gcp-address", "prefixLength", "of an address for PRIVATE_SERVICE_CONNECT", allowed="nothing")
    peering = view.value("purpose") == "VPC_PEERING" and isinstance(found, ipaddress.IPv4Address)
    if peering and not any(found in each for each in OWN):
        view.error("gcp-address", "address", f"{found} is not private", allowed="an address of a private range")


def connection(view: View) -> None:
    """A connection has at least one range; the service is one of those that are reached so."""
    service = view.text("service")
    known = ("servicenetworking.googleapis.com", "netapp.servicenetworking.goog")
    if service is not None and "." in service and not service.endswith((*known, ".servicenetworking.goog")):
        view.error("gcp-peering", "service", show(service), allowed=", ".join(known))
    if view.value("reservedPeeringRanges") == []:
        view.error("gcp-peering", "reservedPeeringRanges", "is empty", allowed="the name of a GlobalAddress")


def records(view: View) -> None:
    """How long an answer may be kept; names that DNS takes."""
    ttl = as_number(view.value("ttl"))
    if ttl is not None and not 0 <= ttl <= 2_147_483_647:
        view.error("gcp-dns", "ttl", show(ttl), allowed="0 to 2147483647 seconds")
    for path in ("name", "dnsName"):
        name = view.text(path)
        parts = name.rstrip(".").split(".") if name else []
        odd = [part for part in parts if not re.fullmatch(r"\*|[A-Za-z0-9_]([-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?", part)]
        if odd and (path == "dnsName" or view.type.endswith("RecordSet")):
            view.error("gcp-dns", path, show(name), allowed="labels of letters, digits and '-'")


def zone(view: View) -> None:
    """A private zone is seen from somewhere; a public one from everywhere."""
    visibility = view.value("visibility")
    for key in ("privateVisibilityConfig", "forwardingConfig", "peeringConfig"):
        if visibility in (None, "public") and view.mapping(key) and not view.is_unknown("visibility"):
            view.error("gcp-dns", key, "of a public zone", allowed="visibility: private")
    name = view.text("dnsName") or ""
    if visibility in (None, "public") and not view.is_unknown("visibility") and f".{name}".endswith(_GOOGLES):
        view.error("gcp-dns", "visibility", f"public, and {name} is Google's own", allowed="private, for own networks")
    if visibility == "private" and view.mapping("dnssecConfig") and view.value("dnssecConfig.state") == "on":
        view.error("gcp-dns", "dnssecConfig.state", "of a private zone", allowed="nothing")
    records(view)


def reservation(view: View) -> None:
    """What is reserved: whole machines, with the accelerators that these have, for a time to come."""
    for path, entry in view.items("specificReservation.instanceProperties.guestAccelerators"):
        count = as_number(entry.get("acceleratorCount"))
        if count is not None and count < 1:
            view.error("gcp-reservation", f"{path}.acceleratorCount", show(count), allowed="at least 1")


_GOOGLES: Final = tuple(f".{name}." for name in ("googleapis.com", "gcr.io", "pkg.dev", "run.app", "google.com"))
"""Names that Google answers for: a public zone of one is refused, as nobody else can prove it theirs."""

RULES: Rules = {
    network: (GCP_NETWORK,),
    subnetwork: (GCP_SUBNETWORK,),
    purpose: (GCP_SUBNETWORK,),
    nat: (GCP_NAT,),
    firewall: (GCP_FIREWALL,),
    address: (GCP_GLOBAL_ADDRESS, "gcp:compute/address:Address"),
    connection: (GCP_CONNECTION,),
    records: (GCP_DNS_RECORDS,),
    zone: (GCP_DNS_ZONE,),
    reservation: (GCP_RESERVATION,),
}
