"""Routes that no listener of their Gateway takes or no certificate is for, and checks of pods' health at a wrong port.

Sources: Gateway API, "HTTPRoute" and "Gateway" (a route is attached where its namespace is allowed, `Same` where
nothing is said, and one of its hostnames is the listener's); GKE, "Deploying Gateways" and "Secure a Gateway" (the
annotation `networking.gke.io/certmap`), "Configure Gateway resources using Policies"; Certificate Manager, "Certificate
map entries"; as generally known in 2026-11. Whether network policies let the probes in is asked as a needed flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.health_checks import asked_ports
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import UnreadableInput, as_number
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import GCP_CERTIFICATE_MAP, GCP_CERTIFICATE_MAP_ENTRY
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_ROUTES: Final = ("HTTPRoute", "GRPCRoute", "TLSRoute")
_CERTIFICATES: Final = "networking.gke.io/certmap"


def check(cluster: Cluster) -> None:
    """Every route whose Gateway is recorded, and every policy of health checks."""
    for route in cluster.of(*_ROUTES):
        for path, gateway, listeners in _attached(route, cluster):
            _takes(route, path, gateway, listeners, cluster)
            _certified(route, gateway)
    for policy in cluster.of("HealthCheckPolicy.networking.gke.io"):
        _port(policy, cluster)


def _attached(route: View, cluster: Cluster) -> Iterator[tuple[str, View, list[Mapping[str, Any]]]]:
    """The recorded Gateways of a route, with the listeners that it names; nothing where one of them is not known."""
    for path, parent in route.items("spec.parentRefs"):
        name, namespace = parent.get("name"), parent.get("namespace") or place(route)
        if not isinstance(name, str) or not isinstance(namespace, str) or parent.get("kind") not in (None, "Gateway"):
            continue
        gateway = cluster.find("Gateway", "" if namespace == "default" else namespace, name)
        if gateway is None or gateway.blurred("spec.listeners") or has_unknown(gateway.value("spec.listeners")):
            continue
        section, port = parent.get("sectionName"), as_number(parent.get("port"))
        meant = [
            one
            for _, one in gateway.items("spec.listeners")
            if section in (None, one.get("name")) and port in (None, as_number(one.get("port")))
        ]
        if UNKNOWN not in (section, parent.get("port")):
            yield path, gateway, meant


def _takes(route: View, path: str, gateway: View, listeners: list[Mapping[str, Any]], cluster: Cluster) -> None:
    """Some listener that a route names takes it: of its namespace, and of its hosts."""
    names = [str(one.get("name")) for _, one in gateway.items("spec.listeners")]
    title = f"Gateway {gateway.text('metadata.name')}"
    if not listeners:
        words = f"{title} has no such listener: it takes no call for the route"
        key = "sectionName" if route.has(f"{path}.sectionName") else "port"
        said = route.text(f"{path}.{key}") or ""
        route.error("reference-route", f"{path}.{key}", words, allowed=", ".join(names), hint=nearest(said, names))
        return
    if not any(_allows(one, route, gateway, cluster) for one in listeners):
        words = f"its listener {listeners[0].get('name')} takes no routes of namespace {place(route) or 'default'}: "
        route.error(
            "reference-route", path, f"{words}{title} has none of this one's calls",
            allowed="allowedRoutes.namespaces that mean the route's namespace",
        )  # fmt: skip
        return
    hosts = _hosts(route)
    given = [one.get("hostname") for one in listeners]
    are_named = bool(hosts) and all(isinstance(one, str) and one for one in given)
    if are_named and not any(_meet(str(one), host) for one in given for host in hosts):
        words = f"{hosts[0]} is none of the hosts of {title}, which takes {given[0]}: no call comes"
        route.error("reference-route", "spec.hostnames", words, allowed=", ".join(map(str, given)))


def _allows(listener: Mapping[str, Any], route: View, gateway: View, cluster: Cluster) -> bool:
    """Whether a listener takes routes of a route's namespace; also where that is not known."""
    allowed = listener.get("allowedRoutes")
    spaces = allowed.get("namespaces") if isinstance(allowed, Mapping) else None
    said = spaces if isinstance(spaces, Mapping) else {}
    own = place(route)
    whence = said.get("from", "Same")
    if own is None or whence == "All":
        return True
    if whence == "Same":
        return own == place(gateway)
    labels = cluster.labels_of_namespaces.get(own or "default")
    selector = said.get("selector")
    if whence != "Selector" or labels is None or not isinstance(selector, Mapping):
        return True
    try:
        return selects(selector, labels)
    except UnreadableInput:
        return True


def _hosts(route: View) -> list[str]:
    return (
        [] if route.blurred("spec.hostnames") or route.is_unknown("spec.hostnames") else route.texts("spec.hostnames")
    )


def _meet(one: str, other: str) -> bool:
    """Whether two hosts have a name in common; one that begins with a star is of every name below."""
    one, other = one.lower(), other.lower()
    if one.startswith("*.") and other.startswith("*."):
        return one[1:].endswith(other[1:]) or other[1:].endswith(one[1:])
    if one.startswith("*."):
        return other.endswith(one[1:])
    return one.endswith(other[1:]) if other.startswith("*.") else one == other


def _certified(route: View, gateway: View) -> None:
    """The map of certificates has one for each host."""
    named = gateway.mapping("metadata.annotations").get(_CERTIFICATES)
    stack = route.stack
    maps = [one for one in stack.of_type(GCP_CERTIFICATE_MAP) if one.text("name") == named and not one.resource.read]
    if len(maps) != 1:
        return
    entries = [
        one for one in stack.of_type(GCP_CERTIFICATE_MAP_ENTRY) if one.referred("map", GCP_CERTIFICATE_MAP) is maps[0]
    ]
    if not entries or any(one.text("hostname") is None for one in entries):  # a primary one is for every host
        return
    hosts = [str(one.text("hostname")) for one in entries]
    for index, host in enumerate(_hosts(route)):
        if not any(_covers(one, host) for one in hosts):
            words = (
                f"the certificates of {named} are for {', '.join(hosts[:3])}: a client of {show(host)} is given none"
            )
            allowed = "a CertificateMapEntry of that host"
            route.error("reference-certificate", f"spec.hostnames[{index}]", words, allowed=allowed)


def _covers(entry: str, host: str) -> bool:
    """Whether an entry is for a host; a star stands for one label."""
    if host.startswith("*."):
        return True  # it may have others for single names
    return entry.lower() == host.lower() or (
        entry.startswith("*.") and host.lower().partition(".")[2] == entry[2:].lower()
    )


def _targets(service: View, cluster: Cluster) -> Iterator[tuple[int, list[Pod], set[int]]]:
    """Ports of a service, the pods that it means, and the ports of theirs that it leads to; of known pods alone."""
    selector, namespace = service.value("spec.selector"), place(service)
    if namespace is None or not isinstance(selector, Mapping) or not selector or has_unknown(selector):
        return
    try:
        pods = cluster.selected({"matchLabels": selector}, namespace)
        if not pods or cluster.selected_of_charts({"matchLabels": selector}, namespace):
            return
    except UnreadableInput:
        return
    if any(pod.labels is None or not pod.ports_are_known for pod in pods) or service.blurred("spec.ports"):
        return
    for _, entry in service.items("spec.ports"):
        number = as_number(entry.get("port"))
        target = entry.get("targetPort", number)
        if number is None or target is UNKNOWN:
            continue
        led = {pod.port_names().get(target) if isinstance(target, str) else int(as_number(target) or 0) for pod in pods}
        yield int(number), pods, {one for one in led if one}


def _port(policy: View, cluster: Cluster) -> None:
    """The port that pods are asked at is one of theirs: the service's own is not."""
    namespace, name = place(policy), policy.text("spec.targetRef.name")
    service = cluster.find("Service", namespace, name) if namespace is not None and name is not None else None
    path, asked = next(asked_ports(policy.inputs), ("", None))
    if service is None or asked is None or policy.text("spec.targetRef.kind") not in (None, "Service"):
        return
    for number, pods, led in _targets(service, cluster):
        declared = {port for pod in pods for port in pod.port_numbers()}
        if asked == number and led and asked not in led | declared:
            said = ", ".join(map(str, sorted(led)))
            words = f"is {asked}, the port of Service {name}: pods are asked, which listen on {said}, and none is "
            allowed = f"{said}, or portSpecification USE_SERVING_PORT"
            policy.error("reference-health-port", path, f"{words}well", allowed=allowed)
