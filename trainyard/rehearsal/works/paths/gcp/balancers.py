"""Groups of machines behind a load balancer, or that a health check heals: who looks at them, and by which door.

Sources: Cloud Load Balancing, "Health checks overview" (ranges that probes come from, by kind of balancer; a rule
has to let them in), "Named ports" (a backend service asks for its port by a name that the group has), "Proxy-only
subnets"; Compute Engine, "Set up an application-based health check"; as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, Final

from trainyard.conventions.gcp import PROBE_RANGES
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_BACKEND,
    GCP_FIREWALL,
    GCP_FIREWALL_RULES,
    GCP_FORWARDING_RULE,
    GCP_MACHINE_GROUP,
    GCP_MACHINES,
    GCP_NETWORK,
    GCP_REGIONAL_BACKEND,
    GCP_REGIONAL_MACHINE_GROUP,
    GCP_SUBNETWORK,
)
from trainyard.rehearsal.context import Stack, View, show

RULE: Final = "path-balancer"
_GROUPS: Final = (
    GCP_MACHINE_GROUP,
    GCP_REGIONAL_MACHINE_GROUP,
)
_TEMPLATES: Final = GCP_MACHINES[1:]
_CHECKS: Final = ("gcp:compute/healthCheck:HealthCheck", "gcp:compute/regionHealthCheck:RegionHealthCheck")
_BACKENDS: Final = (
    GCP_BACKEND,
    GCP_REGIONAL_BACKEND,
)
_OF_PACKETS: Final = ("35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22")
"""The same of a region's balancer that passes packets from the internet on as they come."""
_KINDS: Final = ("httpHealthCheck", "httpsHealthCheck", "http2HealthCheck", "tcpHealthCheck", "sslHealthCheck")
_PORTS: Final = {"httpHealthCheck": 80, "httpsHealthCheck": 443, "http2HealthCheck": 443, "sslHealthCheck": 443}
_BY_PORT_NAME: Final = ("HTTP", "HTTPS", "HTTP2", "TCP", "SSL", "H2C", "GRPC")
_REGIONAL: Final = _BACKENDS[1]
_SCHEMES: Final = dict(zip(_BACKENDS, ("EXTERNAL", "INTERNAL"), strict=True))
"""By type, the scheme of a backend service that says none."""
_PROXIED: Final = ("INTERNAL_MANAGED", "EXTERNAL_MANAGED")
"""Schemes of a region's proxies. Of its others packets go to the machines as they come, and a named port is of no use;
what is of all regions is a proxy by every scheme."""
_OF_PROXIES: Final = ("REGIONAL_MANAGED_PROXY", "INTERNAL_HTTPS_LOAD_BALANCER")
_BY_DEFAULT: Final = 1000
_PORT: Final = re.compile(r"\d+(-\d+)?")


@dataclass(frozen=True, slots=True)
class Machines:
    """The machines of a group, as its template makes them."""

    network: View
    tags: frozenset[str]
    accounts: frozenset[str]


def check(stack: Stack) -> None:
    """Every group of machines of the recording, and every regional proxy."""
    for backend, groups in stack.once(_backends):
        _named_port(backend, groups)
    for type_ in _GROUPS:
        for group in stack.of_type(type_):
            _seen(group)
    for front in stack.of_type(GCP_FORWARDING_RULE):
        _proxies(front)


def _referred(view: View, path: str, types: tuple[str, ...]) -> View | None:
    found = [one for type_ in types if (one := view.referred(path, type_)) is not None]
    return found[0] if len(found) == 1 else None


def _backends(stack: Stack) -> list[tuple[View, list[View]]]:
    """Every backend service, with the recorded groups that it sends to."""
    groups = [
        (group, {str(group.resource.outputs.get("instanceGroup")), str(group.resource.id)})
        for type_ in _GROUPS
        for group in stack.of_type(type_)
    ]
    found = []
    for type_ in _BACKENDS:
        for backend in stack.of_type(type_):
            named = {text for path, text in backend.known_texts if path.endswith(".group")}
            found.append((backend, [group for group, names in groups if named & names]))
    return found


def _scheme(backend: View) -> str | None:
    """The scheme of a backend service; None where it is not known."""
    path = "loadBalancingScheme"
    return _SCHEMES[backend.type] if backend.lacks(path) else backend.text(path)


def _named_port(backend: View, groups: list[View]) -> None:
    protocol = backend.text("protocol") or ("HTTP" if backend.lacks("protocol") else "")
    scheme = _scheme(backend)
    is_proxy = scheme is not None and (backend.type != _REGIONAL or scheme in _PROXIED)
    if protocol not in _BY_PORT_NAME or not is_proxy or backend.is_unknown("portName"):
        return
    name = backend.text("portName") or protocol.lower()
    for group in groups:
        names = [str(port.get("name")) for _, port in group.items("namedPorts")]
        if name not in names and not group.blurred("namedPorts"):
            has = ", ".join(names) or "none"
            words = f"asks for the port {show(name)} of {group.name}, which has {has}: nothing is sent to it"
            backend.error(RULE, "portName", words, allowed=has)


def _machines(group: View) -> Machines | None:
    """Whom the firewall takes a group's machines for; None where that is not known."""
    paths = [f"{at}.instanceTemplate" for at, _ in group.items("versions")] or ["instanceTemplate"]
    template = next((one for path in paths if (one := _referred(group, path, _TEMPLATES)) is not None), None)
    if template is None or template.blurred("tags") or template.blurred("networkInterfaces"):
        return None
    interfaces = [at for at, _ in template.items("networkInterfaces")]
    if len(interfaces) != 1:
        return None
    network = template.referred(f"{interfaces[0]}.network", GCP_NETWORK)
    subnet = template.referred(f"{interfaces[0]}.subnetwork", GCP_SUBNETWORK)
    if network is None and subnet is not None:
        network = subnet.referred("network", GCP_NETWORK)
    if network is None or network.resource.read:
        return None
    account = template.text("serviceAccount.email")
    return Machines(network, frozenset(template.texts("tags")), frozenset([account] if account else []))


def _seen(group: View) -> None:
    """Probes reach the machines; who has none to answer is made anew for ever, or gets no traffic."""
    stack, machines = group.stack, _machines(group)
    if machines is None or any(stack.of_type(type_) for type_ in GCP_FIREWALL_RULES):
        return
    rules = [one for one in stack.of_type(GCP_FIREWALL) if one.referred("network", GCP_NETWORK) is machines.network]
    if not rules or any(_is_unread(rule) for rule in rules):
        return
    probed: list[tuple[View, str, tuple[str, ...]]] = [(group, "autoHealingPolicies.healthCheck", PROBE_RANGES)]
    for backend, groups in stack.once(_backends):
        if (ranges := _ranges(backend)) and group in groups:
            probed.append((backend, "healthChecks", ranges))
    for view, path, ranges in probed:
        found = _referred(view, path, _CHECKS)
        port = _port(found, group) if found is not None else None
        if port is None:
            continue
        shut = [one for one in ranges if not _comes_in(rules, machines, str(ip_network(one)[1]), port)]
        if shut:
            words = f"its probes come from {shut[0]} to TCP {port} of {group.name}, and no firewall rule lets them in"
            allowed = f"a rule for {', '.join(ranges[:-1])} and {ranges[-1]} to that port of its machines"
            view.error(RULE, path, words, allowed=allowed)


def _ranges(backend: View) -> tuple[str, ...]:
    """Where the probes of a backend service come from; empty where its scheme is not known."""
    scheme = _scheme(backend)
    if scheme is None:
        return ()
    return _OF_PACKETS if backend.type == _REGIONAL and scheme == "EXTERNAL" else PROBE_RANGES


def _is_unread(rule: View) -> bool:
    keys = ("sourceRanges", "targetTags", "targetServiceAccounts", "allows", "denies", "priority", "disabled")
    return any(rule.is_unknown(key) or rule.blurred(key) for key in keys) or any(
        _is_unread_entry(entry) for key in ("allows", "denies") for _, entry in rule.items(key)
    )


def _is_unread_entry(entry: Mapping[str, Any]) -> bool:
    """Whether it is not known which ports an entry is about, or they are written as the API does not read them."""
    ports = entry.get("ports")
    return UNKNOWN in (entry.get("protocol"), ports) or any(
        port is UNKNOWN or not _PORT.fullmatch(str(port)) for port in ports or ()
    )


def _port(found: View, group: View) -> int | None:
    """The port that a check asks; None where that is not known."""
    kind = next((one for one in _KINDS if found.has(one)), None)
    if kind is None or found.text(f"{kind}.portSpecification") == "USE_SERVING_PORT":
        return None
    name = found.text(f"{kind}.portName")
    if name is not None:
        ports = [entry.get("port") for _, entry in group.items("namedPorts") if entry.get("name") == name]
        return int(ports[0]) if ports and isinstance(ports[0], (int, float)) else None
    port = found.number(f"{kind}.port")
    return int(port) if port is not None else (_PORTS.get(kind) if found.lacks(f"{kind}.port") else None)


def _comes_in(rules: list[View], machines: Machines, address: str, port: int) -> bool:
    """Whether the rule of the lowest number that is about it lets it in; what none is about stays outside."""
    deciding: list[tuple[float, bool]] = []
    for rule in rules:
        tags, accounts = set(rule.texts("targetTags")), set(rule.texts("targetServiceAccounts"))
        meant = (not tags or bool(tags & machines.tags)) and (not accounts or bool(accounts & machines.accounts))
        if rule.text("direction") == "EGRESS" or rule.flag("disabled") or not meant or not _from(rule, address):
            continue
        priority = _BY_DEFAULT if rule.lacks("priority") else rule.number("priority")
        for key, allows in (("allows", True), ("denies", False)):
            if any(_about(entry, port) for _, entry in rule.items(key)):
                deciding.append((priority or 0, allows))
    return min(deciding)[1] if deciding else False


def _from(rule: View, address: str) -> bool:
    ranges = rule.texts("sourceRanges")
    if not ranges:
        return not rule.has("sourceTags") and not rule.has("sourceServiceAccounts")
    try:
        return any(ip_address(address) in ip_network(text, strict=False) for text in ranges)
    except ValueError:
        return True  # told where ranges are


def _about(entry: Mapping[str, Any], port: int) -> bool:
    if str(entry.get("protocol")).lower() not in ("all", "tcp", "6"):
        return False
    ports = [str(text) for text in entry.get("ports") or ()]
    for text in ports:
        first, _, last = text.partition("-")
        ends = as_number(first), as_number(last or first)
        if ends[0] is None or ends[1] is None or ends[0] <= port <= ends[1]:
            return True  # of what is no port the check of values tells
    return not ports


def _proxies(front: View) -> None:
    """A regional proxy needs a subnet of its network and region for itself: without one it is refused."""
    network, region = front.referred("network", GCP_NETWORK), front.text("region")
    if front.text("loadBalancingScheme") not in _PROXIED or network is None or network.resource.read or region is None:
        return
    for subnet in front.stack.of_type(GCP_SUBNETWORK):
        known = subnet.text("purpose") in _OF_PROXIES or subnet.is_unknown("purpose")
        if known and subnet.text("region") in (region, None) and subnet.referred("network", GCP_NETWORK) is network:
            return
    words = f"{network.name} has no subnet for proxies in {region}"
    front.error(RULE, "network", words, allowed="a Subnetwork of purpose REGIONAL_MANAGED_PROXY and role ACTIVE there")
