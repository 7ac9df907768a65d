"""Names in a certificate, against the services whose pods show it and what callers are told to ask.

A caller compares the name that it called with the names in the certificate; where it has a list of them, the common
name is not read (RFC 6125, 6.4.4). What is called from outside the cluster, by a name of a load balancer or an ingress,
is not told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import UnreadableInput, as_number
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_URL: Final = re.compile(
    r"\bhttps://([a-z0-9-]+)\.([a-z0-9-]+)(\.svc\.cluster\.local|\.svc|)(?::(\d+))?(?=[/\s\"',]|$)"
)
_UNCHECKED: Final = re.compile(r"insecure|skip.?(?:tls|ssl|cert)|verif|server_?name|fingerprint", re.IGNORECASE)
"""Words of those who look at no name, or at another than they called."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """One that a server shows, and where it is held."""

    view: View  # that says the names
    path: str
    names: frozenset[str]
    secrets: tuple[View, ...]  # recorded ones that hold it
    secret: tuple[str, str]  # namespace and name of one that a controller fills


def check(pod: Pod, certificate: Certificate, cluster: Cluster) -> None:
    """One pod that shows it, by its services: they need a name each, and that by which somebody asks."""
    services = [service for service in cluster.of("Service") if _selects(service, pod)]
    if not services or any(_is_outside(service, cluster) for service in services):
        return
    if any(_is_named(service, certificate.names) for service in services):
        for service in services:
            _called(service, pod, certificate, cluster)
        return
    name = str(services[0].text("metadata.name"))
    certificate.view.error(
        "programs-certificate",
        certificate.path,
        f"is for {', '.join(sorted(certificate.names)[:4])}; {pod.title} shows it, and is called as Service "
        f"{show(name)} in {show(pod.namespace or 'default')}: no caller believes it",
        allowed=f"{name}.{pod.namespace or 'default'}.svc among its names",
    )


def _called(service: View, pod: Pod, certificate: Certificate, cluster: Cluster) -> None:
    """Names by which programs are told to ask: none may be missing, though another of the service is there."""
    name, space = str(service.text("metadata.name")), place(service) or "default"
    ports = {as_number(port.get("port")) for _, port in service.items("spec.ports")}
    for host, view in _asked(name, space, ports, pod, cluster).items():
        if host not in certificate.names and f"*.{host.partition('.')[2]}" not in certificate.names:
            certificate.view.error(
                "programs-certificate",
                certificate.path,
                f"is for {', '.join(sorted(certificate.names)[:4])}; {view.name} is told to ask {pod.title} as "
                f"{host}, and does not believe it",
                allowed=f"{host} among its names",
            )


def _asked(name: str, space: str, ports: set[float | None], pod: Pod, cluster: Cluster) -> dict[str, View]:
    """By name that is asked for, who is told it first. What the server itself is told are names that it answers to."""
    found: dict[str, View] = {}
    for view, _, text in told(cluster):
        if "https://" not in text or view is pod.view:
            continue
        for its_name, its_space, rest, port in _URL.findall(text):
            if (its_name, its_space) == (name, space) and int(port or 443) in ports and not _looks_away(view):
                found.setdefault(f"{name}.{space}{rest}", view)
    return found


def _looks_away(view: View) -> bool:
    return any(_UNCHECKED.search(path) or _UNCHECKED.search(text) for path, text in view.known_texts)


def _selects(service: View, pod: Pod) -> bool:
    selector = service.value("spec.selector")
    if not isinstance(selector, Mapping) or not selector or has_unknown(selector) or place(service) != pod.namespace:
        return False
    try:
        return pod.labels is not None and selects({"matchLabels": selector}, pod.labels)
    except UnreadableInput:
        return False


def _is_outside(service: View, cluster: Cluster) -> bool:
    """Whether people call it by another name."""
    if service.is_unknown("spec.type") or service.text("spec.type") not in (None, "ClusterIP"):
        return True
    name = str(service.text("metadata.name"))
    routed = [
        *cluster.of("Ingress"),
        *(view for view in cluster.objects if (view.text("kind") or "").endswith("Route")),
    ]
    return any(
        name in str(view.value("spec")) or has_unknown(view.value("spec"))
        for view in routed
        if place(view) in (place(service), None)
    )


def _is_named(service: View, names: frozenset[str]) -> bool:
    name, space = str(service.text("metadata.name")), place(service) or "default"
    forms = {name, f"{name}.{space}", f"{name}.{space}.svc", f"{name}.{space}.svc.cluster.local"}
    wild = {f"*.{form.partition('.')[2]}" for form in forms if "." in form} | {f"*.{form}" for form in forms}
    return bool(names & (forms | wild))
