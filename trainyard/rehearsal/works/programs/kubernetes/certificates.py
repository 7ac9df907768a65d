"""Certificates that the program makes, against the services whose pods show them.

A caller compares the name that it called with the names in the certificate. What is called from outside the cluster, by
a name of a load balancer or an ingress, is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place
from trainyard.rehearsal.works.references.kubernetes.keys import sources

_SIGNED: Final = "tls:index/locallySignedCert:LocallySignedCert"
_SELF_SIGNED: Final = "tls:index/selfSignedCert:SelfSignedCert"
_REQUEST: Final = "tls:index/certRequest:CertRequest"
_MANAGED: Final = "Certificate.cert-manager.io"
_ENDS: Final = re.compile(r"-----END [A-Z ]+-----")


@dataclass(frozen=True, slots=True)
class _Certificate:
    view: View  # that says the names
    path: str
    names: frozenset[str]
    secrets: tuple[View, ...]  # recorded ones that hold it
    secret: tuple[str, str]  # namespace and name of one that a controller fills


def check(stack: Stack, cluster: Cluster) -> None:
    """Every certificate whose names are known, by the pods that mount it."""
    for certificate in [*_of_provider(stack, cluster), *_of_controller(cluster)]:
        pods = [pod for pod in cluster.pods if _mounts(pod, certificate)]
        for pod in pods:
            _services(pod, certificate, cluster)


def _of_provider(stack: Stack, cluster: Cluster) -> Iterator[_Certificate]:
    requests = {str(view.resource.outputs.get("certRequestPem")): view for view in stack.of_type(_REQUEST)}
    for view in [*stack.of_type(_SIGNED), *stack.of_type(_SELF_SIGNED)]:
        asked = view if view.type == _SELF_SIGNED else requests.get(view.text("certRequestPem") or "-")
        pem = view.resource.outputs.get("certPem")
        uses = view.texts("allowedUses")
        if asked is None or not isinstance(pem, str) or view.flag("isCaCertificate") or "server_auth" not in uses:
            continue
        if asked.blurred("dnsNames") or asked.is_unknown("subject"):
            continue
        names = frozenset({*asked.texts("dnsNames"), asked.text("subject.commonName") or ""}) - {""}
        held = tuple(secret for secret in cluster.of("Secret") if _holds(secret, pem))
        if names and held:
            yield _Certificate(asked, "dnsNames", names, held, ("", ""))


def _holds(secret: View, pem: str) -> bool:
    """Whether a secret's text begins with a certificate: that of the server comes first in a chain."""
    first = _ENDS.split(pem)[0].strip()
    return any(
        isinstance(text, str) and text.strip().startswith(first)
        for part in ("data", "stringData")
        for text in secret.mapping(part).values()
    )


def _of_controller(cluster: Cluster) -> Iterator[_Certificate]:
    for view in cluster.of(_MANAGED):
        namespace, secret = place(view), view.text("spec.secretName")
        known = not any(view.is_unknown(f"spec.{key}") or view.blurred(f"spec.{key}") for key in ("dnsNames", "uris"))
        usages = view.texts("spec.usages")
        names = frozenset({*view.texts("spec.dnsNames"), view.text("spec.commonName") or ""}) - {""}
        if namespace is None or secret is None or not known or not names or view.flag("spec.isCA"):
            continue
        if not usages or "server auth" in usages:
            yield _Certificate(view, "spec.dnsNames", names, (), (namespace, secret))


def _mounts(pod: Pod, certificate: _Certificate) -> bool:
    """Whether the pods of a server have it: those that trust it mount it without its key."""
    named = {source.name for source in sources(pod) if source.kind == "Secret"}
    if certificate.secret[1]:
        return pod.namespace == certificate.secret[0] and certificate.secret[1] in named
    return any(
        place(secret) == pod.namespace and secret.text("metadata.name") in named and _has_key(secret)
        for secret in certificate.secrets
    )


def _has_key(secret: View) -> bool:
    return any(
        "PRIVATE KEY" in str(text) or key.endswith((".key", "key.pem"))
        for part in ("data", "stringData")
        for key, text in secret.mapping(part).items()
    )


def _services(pod: Pod, certificate: _Certificate, cluster: Cluster) -> None:
    services = [service for service in cluster.of("Service") if _selects(service, pod)]
    if not services or any(_is_outside(service, cluster) for service in services):
        return
    if any(_is_named(service, certificate.names) for service in services):
        return
    name = str(services[0].text("metadata.name"))
    certificate.view.error(
        "programs-certificate",
        certificate.path,
        f"is for {', '.join(sorted(certificate.names)[:4])}; {pod.title} shows it, and is called as Service "
        f"{show(name)} in {show(pod.namespace or 'default')}: no caller believes it",
        allowed=f"{name}.{pod.namespace or 'default'}.svc among its names",
    )


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
