"""Addresses of the stack's own services: with TLS where the server speaks it, without where it does not.

What a server speaks is what its probes ask it for on the same port: `scheme: HTTPS`, or HTTP, which is the default
(Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes", 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_ADDRESS: Final = re.compile(
    r"\b(https?)://([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?(?::(\d+))?(?=[/\s\"',]|$)"
)
_USUAL: Final = {"http": 80, "https": 443}


def check(cluster: Cluster) -> None:
    """Every address of a recorded service in what programs are told."""
    speaks = spoken(cluster)
    if not speaks:
        return
    for view, path, text in told(cluster):
        if "://" not in text:
            continue
        for scheme, name, namespace, port in dict.fromkeys(_ADDRESS.findall(text)):
            wanted = speaks.get((namespace, name, int(port or _USUAL[scheme])))
            if wanted is not None and wanted != scheme:
                view.error(
                    "programs-scheme",
                    path,
                    f"asks {name}.{namespace} by {scheme}, and its pods speak {wanted} there",
                    allowed=f"{wanted}://{name}.{namespace}",
                )


def spoken(cluster: Cluster) -> dict[tuple[str, str, int], str]:
    """By namespace, name and port of each recorded service what the one server behind it speaks."""
    return cluster.stack.once(_read)


def _read(stack: Stack) -> dict[tuple[str, str, int], str]:
    return dict(_spoken(stack.once(Cluster)))


def _spoken(cluster: Cluster) -> Iterator[tuple[tuple[str, str, int], str]]:
    """Namespace, name and port of each service, and what the one server behind it speaks."""
    for view in cluster.of("Service"):
        name, selector = view.text("metadata.name"), view.mapping("spec.selector")
        namespace = view.text("metadata.namespace")
        if name is None or namespace is None or not selector or UNKNOWN in selector.values():
            continue
        pods = [
            pod
            for pod in cluster.pods_by_namespace.get(namespace, ())
            if pod.labels is not None and selects({"matchLabels": dict(selector)}, pod.labels)
        ]
        for _, port in view.items("spec.ports"):
            number = as_number(port.get("port"))
            schemes = {_scheme(pod, port.get("targetPort", number)) for pod in pods}
            if number is not None and len(schemes) == 1 and (scheme := schemes.pop()):
                yield (namespace, name, int(number)), scheme


def _scheme(pod: Pod, target: object) -> str:
    """What the probes of a pod ask a port for; empty where none asks."""
    numbers = pod.port_names()
    wanted = numbers.get(target) if isinstance(target, str) else as_number(target)
    found = {
        str(probe.get("scheme") or "HTTP").lower()
        for container in pod.containers
        for probe in _probes(container)
        if wanted is not None and wanted in (numbers.get(str(probe.get("port"))), as_number(probe.get("port")))
    }
    return found.pop() if len(found) == 1 else ""


def _probes(container: Container) -> Iterator[Mapping[str, object]]:
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container.body.get(kind)
        asked = probe.get("httpGet") if isinstance(probe, Mapping) else None
        if isinstance(asked, Mapping):
            yield asked
