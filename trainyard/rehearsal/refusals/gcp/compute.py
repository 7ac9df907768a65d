"""Networks, subnets, NAT, firewall rules, reservations and private services access.

Source: validators of the provider (terraform-provider-google-beta, 2026-08-21), discovery documents
(google-api-python-client 2.202.0, autumn 2026).
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import (
    GCP_CONNECTION,
    GCP_FIREWALL,
    GCP_GLOBAL_ADDRESS,
    GCP_NAT,
    GCP_NETWORK,
    GCP_RESERVATION,
    GCP_SUBNETWORK,
)
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

PROTOCOLS: Final = ("tcp", "udp", "icmp", "esp", "ah", "sctp", "ipip", "all")
"""Protocols that a firewall's rule may call by name (pulumi_gcp 10.2.0, `protocol`; VPC, "Protocols and ports")."""


def network(view: View) -> None:
    """Packets of a size that a network takes."""
    mtu = view.number("mtu")
    if mtu is not None and not 1300 <= mtu <= 8896:
        view.error("gcp-mtu", "mtu", show(mtu), allowed="1300 to 8896 bytes")


def subnetwork(view: View) -> None:
    """Ranges that are networks, lie apart, and have names of their own."""
    ranges = list(_ranges(view))
    for path, text in ranges:
        found = _network(text)
        if found is None and ":" in text:
            continue  # an address of six, of which the provider says more
        if found is None:
            view.error("gcp-range", path, show(text), allowed="a network address with its prefix, like 10.0.0.0/20")
        elif found.prefixlen > 29:
            view.error("gcp-range", path, f"{text} has {found.num_addresses} addresses", allowed="a /29 or larger")
    known = [(path, found) for path, text in ranges if (found := _network(text)) is not None]
    for (_, one), (path, other) in itertools.combinations(known, 2):
        if one.overlaps(other):
            view.error("gcp-range-overlap", path, f"{other} overlaps {one}", allowed="ranges that lie apart")
    names = [entry.get("rangeName") for _, entry in view.items("secondaryIpRanges")]
    for index, name in enumerate(names):
        if isinstance(name, str) and name in names[:index]:
            view.error("gcp-range-name", f"secondaryIpRanges[{index}].rangeName", show(name), allowed="each name once")
    sampling = view.number("logConfig.flowSampling")
    if sampling is not None and not 0 <= sampling <= 1:
        view.error(
            "gcp-flow-sampling", "logConfig.flowSampling", show(sampling), allowed="0 to 1: a share, not percent"
        )


def _ranges(view: View) -> Iterator[tuple[str, str]]:
    primary = view.text("ipCidrRange")
    if primary is not None:
        yield "ipCidrRange", primary
    for path, entry in view.items("secondaryIpRanges"):
        if isinstance(entry.get("ipCidrRange"), str):
            yield f"{path}.ipCidrRange", entry["ipCidrRange"]


def _network(text: str) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(text, strict=False)  # bits below the prefix are told where forms are
    except ValueError:
        return None


def nat(view: View) -> None:
    """Ports in powers of two, and a choice of subnets that says which."""
    dynamic = view.flag("enableDynamicPortAllocation")
    for path in ("minPortsPerVm", "maxPortsPerVm"):
        ports = view.number(path)
        whole = ports is not None and ports == int(ports)
        if ports is not None and dynamic and (not whole or int(ports) < 32 or int(ports) & (int(ports) - 1)):
            view.error("gcp-nat-ports", path, show(ports), allowed="a power of two from 32 on")
    low, high = view.number("minPortsPerVm"), view.number("maxPortsPerVm")
    if low is not None and high is not None and low >= high:
        view.error(
            "gcp-nat-ports", "maxPortsPerVm", f"{high:.0f}; minPortsPerVm is {low:.0f}", allowed="more than that"
        )
    if high is not None and dynamic is False:
        view.error(
            "gcp-nat-ports", "maxPortsPerVm", "without dynamic allocation", allowed="enableDynamicPortAllocation"
        )
    if dynamic and view.flag("enableEndpointIndependentMapping"):
        path = "enableEndpointIndependentMapping"
        view.error("gcp-nat-ports", path, "with dynamic allocation of ports", allowed="one of both")
    chosen = view.value("sourceSubnetworkIpRangesToNat") == "LIST_OF_SUBNETWORKS"
    if chosen and view.lacks("subnetworks"):
        view.error("gcp-nat-subnets", "subnetworks", "is missing", allowed="the subnets, with LIST_OF_SUBNETWORKS")
    if view.has("subnetworks") and not chosen and not view.is_unknown("sourceSubnetworkIpRangesToNat"):
        path = "sourceSubnetworkIpRangesToNat"
        view.error("gcp-nat-subnets", path, show(view.value(path)), allowed="LIST_OF_SUBNETWORKS beside subnetworks")
    if view.value("natIpAllocateOption") == "MANUAL_ONLY" and view.lacks("natIps"):
        view.error("gcp-nat-addresses", "natIps", "is missing", allowed="addresses, with MANUAL_ONLY")
    if view.value("natIpAllocateOption") == "AUTO_ONLY" and view.entries("natIps"):
        view.error("gcp-nat-addresses", "natIps", "with AUTO_ONLY", allowed="nothing, or MANUAL_ONLY")


def firewall(view: View) -> None:
    """Allows or denies, from somewhere, with targets of one kind."""
    if view.has("allows") == view.has("denies") and not view.is_unknown("allows") and not view.is_unknown("denies"):
        what = "both" if view.has("allows") else "neither"
        view.error("gcp-firewall", "allows", f"{what} of allows and denies", allowed="exactly one of both")
    sources = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
    egress = view.value("direction") == "EGRESS"
    if egress:
        for path in sources[:3]:
            if path != "sourceRanges" and view.has(path):
                view.error("gcp-firewall-source", path, "on EGRESS", allowed="destinationRanges")
    elif all(view.lacks(path) for path in sources) and not view.is_unknown("direction"):
        allowed = "sourceRanges, sourceTags or sourceServiceAccounts"
        view.error("gcp-firewall-source", "sourceRanges", "an INGRESS rule has no source", allowed=allowed)
    tags = any(view.has(path) for path in ("sourceTags", "targetTags"))
    accounts = any(view.has(path) for path in ("sourceServiceAccounts", "targetServiceAccounts"))
    if tags and accounts:
        path = "targetServiceAccounts" if view.has("targetServiceAccounts") else "sourceServiceAccounts"
        view.error("gcp-firewall-target", path, "beside tags", allowed="tags or service accounts")
    priority = view.number("priority")
    if priority is not None and not 0 <= priority <= 65535:
        view.error("gcp-firewall-priority", "priority", show(priority), allowed="0 to 65535")
    for path, entry in (*view.items("allows"), *view.items("denies")):
        protocol = entry.get("protocol")
        number = isinstance(protocol, str) and protocol.isdigit() and int(protocol) <= 255
        if isinstance(protocol, str) and protocol.lower() not in PROTOCOLS and not number:
            allowed, hint = f"{', '.join(PROTOCOLS)}, or a protocol's number", nearest(protocol, PROTOCOLS)
            view.error("gcp-firewall-protocol", f"{path}.protocol", show(protocol), allowed=allowed, hint=hint)
        for index, port in enumerate(listed(entry.get("ports"))):
            if isinstance(port, str) and not _is_ports(port):
                view.error("gcp-firewall-port", f"{path}.ports[{index}]", show(port), allowed="a port, or FIRST-LAST")


def _is_ports(text: str) -> bool:
    first, dash, last = text.partition("-")
    ends = [first, last] if dash else [first]
    if not all(end.isdigit() and int(end) <= 65535 for end in ends):
        return False
    return not dash or int(first) <= int(last)


def peering_range(view: View) -> None:
    """A range for private services has a network and a length."""
    if view.value("purpose") != "VPC_PEERING":
        return
    for path in ("network", "prefixLength"):
        if view.lacks(path):
            view.error("gcp-peering-range", path, "is missing", allowed="what VPC_PEERING needs")
    if view.value("addressType") == "EXTERNAL":
        view.error("gcp-peering-range", "addressType", "EXTERNAL", allowed="INTERNAL")
    length = view.number("prefixLength")
    if length is not None and not 8 <= length <= 29:
        view.error("gcp-peering-range", "prefixLength", show(length), allowed="8 to 29; a /24 for one database")


def connection(view: View) -> None:
    """Ranges by name: a CIDR block is none. Its service is a host."""
    service = view.text("service")
    if service is not None and "." not in service:
        view.error("gcp-peering", "service", show(service), allowed="servicenetworking.googleapis.com")
    for index, name in enumerate(view.texts("reservedPeeringRanges")):
        if "/" in name:
            path = f"reservedPeeringRanges[{index}]"
            view.error("gcp-peering", path, show(name), allowed="the name of a GlobalAddress")


def reservation(view: View) -> None:
    """A reservation counts machines of one zone."""
    count = view.number("specificReservation.count")
    if count is not None and count < 1:
        view.error("gcp-reservation", "specificReservation.count", show(count), allowed="at least 1")


RULES: Rules = {
    network: (GCP_NETWORK,),
    subnetwork: (GCP_SUBNETWORK,),
    nat: (GCP_NAT,),
    firewall: (GCP_FIREWALL,),
    peering_range: (GCP_GLOBAL_ADDRESS,),
    connection: (GCP_CONNECTION,),
    reservation: (GCP_RESERVATION,),
}
