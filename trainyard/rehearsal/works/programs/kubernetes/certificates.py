"""Certificates that the program makes: how long they hold, who issues them, and which pods show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.programs.kubernetes import certificate_names
from trainyard.rehearsal.works.programs.kubernetes.certificate_names import Certificate
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place
from trainyard.rehearsal.works.references.kubernetes.keys import sources

_SIGNED: Final = "tls:index/locallySignedCert:LocallySignedCert"
_SELF_SIGNED: Final = "tls:index/selfSignedCert:SelfSignedCert"
_REQUEST: Final = "tls:index/certRequest:CertRequest"
_MANAGED: Final = "Certificate.cert-manager.io"
_LEAST_HOURS: Final = 720
"""A month: a program of infrastructure is run more seldom than every day (as generally known)."""
_ENDS: Final = re.compile(r"-----END [A-Z ]+-----")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every certificate whose names are known, by the pods that mount it."""
    _times(stack)
    _renewed(cluster)
    for certificate in [*_of_provider(stack, cluster), *_of_controller(cluster)]:
        pods = [pod for pod in cluster.pods if _mounts(pod, certificate)]
        for pod in pods:
            certificate_names.check(pod, certificate, cluster)


def _times(stack: Stack) -> None:
    """How long certificates of the provider hold: it makes them anew at a run of the program, no sooner."""
    authorities = {
        str(view.resource.outputs.get("certPem")): view.number("validityPeriodHours")
        for view in stack.of_type(_SELF_SIGNED)
        if view.flag("isCaCertificate")
    }
    for view in [*stack.of_type(_SIGNED), *stack.of_type(_SELF_SIGNED)]:
        whole, early = view.number("validityPeriodHours"), view.number("earlyRenewalHours")
        if whole is None:
            continue
        if early is not None and early >= whole:
            view.error(
                "programs-certificate", "earlyRenewalHours",
                f"is {early:g} of {whole:g} hours: it is due as it is made, and every run replaces it",
                allowed=f"less than {whole:g}",
            )  # fmt: skip
        elif whole < _LEAST_HOURS:
            view.warning(
                "programs-certificate", "validityPeriodHours",
                f"is {whole:g}: nothing but a run of the program makes it anew, and callers refuse it after that",
                allowed=f"{_LEAST_HOURS} or more",
            )  # fmt: skip
        authority = authorities.get(str(view.value("caCertPem"))) if view.type == _SIGNED else None
        if authority is not None and authority < whole:
            view.error(
                "programs-certificate", "validityPeriodHours",
                f"is {whole:g}, and its authority ends after {authority:g} hours: nobody believes it from then on",
                allowed=f"at most {authority:g}",
            )  # fmt: skip


def _renewed(cluster: Cluster) -> None:
    """Certificates of cert-manager: renewed before they end, by an issuer that there is."""
    issuers = [*cluster.of("Issuer.cert-manager.io"), *cluster.of("ClusterIssuer.cert-manager.io")]
    known = {(view.text("kind"), view.text("metadata.name")) for view in issuers}
    for view in cluster.of(_MANAGED):
        whole = _hours(view.text("spec.duration") or "2160h")
        before = _hours(view.text("spec.renewBefore") or "")
        if whole is not None and before is not None and before >= whole:
            view.error(
                "programs-certificate", "spec.renewBefore",
                f"is {before:g} of {whole:g} hours: it is due as it is issued", allowed=f"less than {whole:g}h",
            )  # fmt: skip
        kind, name = view.text("spec.issuerRef.kind") or "Issuer", view.text("spec.issuerRef.name")
        is_own = view.text("spec.issuerRef.group") in (None, "cert-manager.io")
        if (
            name is not None
            and is_own
            and known
            and (kind, name) not in known
            and None not in {one for _, one in known}
        ):
            hint = nearest(name, [str(one) for of, one in known if of == kind])
            others = ", ".join(f"{of} {one}" for of, one in sorted(known, key=str))
            view.warning(
                "programs-certificate", "spec.issuerRef",
                f"no {kind} {show(name)} is made: it is never issued unless somebody else makes one",
                allowed=f"one of {others}", hint=hint,
            )  # fmt: skip


def _hours(text: str) -> float | None:
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|m|s)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * {"h": 1, "m": 1 / 60, "s": 1 / 3600}[unit] for number, unit in parts)


def _of_provider(stack: Stack, cluster: Cluster) -> Iterator[Certificate]:
    requests = {str(view.resource.outputs.get("certRequestPem")): view for view in stack.of_type(_REQUEST)}
    for view in [*stack.of_type(_SIGNED), *stack.of_type(_SELF_SIGNED)]:
        asked = view if view.type == _SELF_SIGNED else requests.get(view.text("certRequestPem") or "-")
        pem = view.resource.outputs.get("certPem")
        uses = view.texts("allowedUses")
        if asked is None or not isinstance(pem, str) or view.flag("isCaCertificate") or "server_auth" not in uses:
            continue
        if asked.blurred("dnsNames") or asked.is_unknown("subject"):
            continue
        names = _named(asked, "dnsNames", "subject.commonName")
        held = tuple(secret for secret in cluster.of("Secret") if _holds(secret, pem))
        if names and held:
            yield Certificate(asked, "dnsNames", names, held, ("", ""))


def _named(view: View, listed: str, common: str) -> frozenset[str]:
    """The names that callers compare; the common name where there is no list of others."""
    return frozenset(view.texts(listed)) or frozenset({view.text(common) or ""}) - {""}


def _holds(secret: View, pem: str) -> bool:
    """Whether a secret's text begins with a certificate: that of the server comes first in a chain."""
    first = _ENDS.split(pem)[0].strip()
    return any(
        isinstance(text, str) and text.strip().startswith(first)
        for part in ("data", "stringData")
        for text in secret.mapping(part).values()
    )


def _of_controller(cluster: Cluster) -> Iterator[Certificate]:
    for view in cluster.of(_MANAGED):
        namespace, secret = place(view), view.text("spec.secretName")
        known = not any(view.is_unknown(f"spec.{key}") or view.blurred(f"spec.{key}") for key in ("dnsNames", "uris"))
        usages = view.texts("spec.usages")
        names = _named(view, "spec.dnsNames", "spec.commonName")
        if namespace is None or secret is None or not known or not names or view.flag("spec.isCA"):
            continue
        if not usages or "server auth" in usages:
            yield Certificate(view, "spec.dnsNames", names, (), (namespace, secret))


def _mounts(pod: Pod, certificate: Certificate) -> bool:
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
