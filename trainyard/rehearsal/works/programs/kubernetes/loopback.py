"""Programs that listen to their own pod alone, at a port that others are led to.

Source: Kubernetes documentation, "The Kubernetes network model" (a pod's ports are reached at its address, which the
loopback interface is not; probes of the kubelet are too); the options are the programs' own, as generally known
(2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import as_number, follow, known_texts
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.programs.kubernetes.listening import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod, place

_SELF: Final = r"(?:127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)"
_TOGETHER: Final = re.compile(
    rf"(?<![\w-])--?(?P<option>bind|b|listen|address|addr|bind-address|listen-address|web\.listen-address|http-address|bind_address|"
    rf"metrics-bind-address|health-probe-bind-address)[= ](?:https?://)?{_SELF}:(?P<port>\d+)"
)
_APART: Final = re.compile(
    rf"(?<![\w-])--?(?P<option>host|ip|bind|listen|address|addr|bind-address|listen-address|ServerApp\.ip)"
    rf"[= ]{_SELF}(?=\s|$)"
)
_CLIENTS: Final = frozenset({"host", "address", "addr"})
"""Options by which a client is told as well whom to ask: `pg_dump --host 127.0.0.1` listens to nobody."""
_PORT: Final = re.compile(r"(?<![\w-])--?(?:port|p|ServerApp\.port)[= ](?P<port>\d+)")
_CONFIGURED: Final = {
    "squid": re.compile(rf"^\s*https?_port\s+{_SELF}:(?P<port>\d+)\b", re.MULTILINE),
    "nginx": re.compile(rf"^\s*listen\s+{_SELF}:(?P<port>\d+)\b", re.MULTILINE),
    "envoy": re.compile(rf"socket_address:\s*\{{\s*address:\s*{_SELF},\s*port_value:\s*(?P<port>\d+)"),
}
_VARIABLES: Final = frozenset({"HOST", "MLFLOW_HOST", "UVICORN_HOST", "GRAFANA_HOST", "GF_SERVER_HTTP_ADDR", "BIND"})
_PROBES: Final = ("readinessProbe", "livenessProbe", "startupProbe")


def check(cluster: Cluster) -> None:
    """Every container whose command, environment or configuration says where it listens."""
    for pod in cluster.pods:
        if pod.namespace is None or pod.spec.get("hostNetwork"):
            continue
        for container in pod.containers:
            if container.is_init and container.body.get("restartPolicy") != "Always":
                continue
            for view, path, port in _told(pod, container, cluster):
                why = _asked(pod, container, port, cluster)
                if why:
                    view.error(
                        "programs-loopback", path,
                        f"has container {container.name!r} of {pod.title} listen to its own pod alone, and {why}: "
                        "nobody is answered", allowed="0.0.0.0, or no address",
                    )  # fmt: skip


def _told(pod: Pod, container: Container, cluster: Cluster) -> Iterator[tuple[View, str, int | None]]:
    """Where it says so, and the port; None where that is said nowhere."""
    words = " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))
    key = "args" if container.body.get("args") else "command"
    declared = _declared(container)
    for found in _TOGETHER.finditer(words):
        if found["option"] not in _CLIENTS or int(found["port"]) in declared:
            yield pod.view, f"{container.path}.{key}", int(found["port"])
    said = _PORT.search(words)
    port = int(said["port"]) if said else None
    serves = port in declared if said else bool(declared)
    if any(found["option"] not in _CLIENTS or serves for found in _APART.finditer(words)):
        yield pod.view, f"{container.path}.{key}", port
    for index, entry in enumerate(listed(container.body.get("env"))):
        named = isinstance(entry, Mapping) and str(entry.get("name")) in _VARIABLES
        if named and re.fullmatch(_SELF, str(entry.get("value"))):
            yield pod.view, f"{container.path}.env[{index}].value", None
    for program, pattern in _CONFIGURED.items():
        if re.search(rf"\b{program}\b", f"{words} {container.body.get('image')}"):
            for view, path, text in configurations(pod, container, cluster):
                every = [int(found["port"]) for found in pattern.finditer(text)]
                yield from ((view, path, port) for port in every[:1])


def _asked(pod: Pod, container: Container, port: int | None, cluster: Cluster) -> str:
    """Who is led to a port of the pod from outside of it."""
    declared = _declared(container)
    if port is not None and port not in declared and declared:
        return ""  # of its own pod's neighbours alone, as a proxy beside it
    for kind in _PROBES:
        for way in ("httpGet", "tcpSocket", "grpc"):
            given = follow(container.body, kind, way)
            if isinstance(given, Mapping) and "host" not in given and _is_port(given.get("port"), port, container):
                return f"its {kind} asks it at the pod's address"
    for service in cluster.of("Service"):
        selector = service.mapping("spec.selector")
        if place(service) != pod.namespace or not selector or pod.labels is None:
            continue
        if not service.blurred("spec.selector") and selects({"matchLabels": selector}, pod.labels):
            for _, entry in service.items("spec.ports"):
                target: Any = entry.get("targetPort", entry.get("port"))
                if _is_port(target, port, container):
                    return f"Service {service.text('metadata.name')} leads to it"
    return ""


def _declared(container: Container) -> set[int]:
    return {int(number) for one in container.ports if (number := as_number(one.get("containerPort"))) is not None}


def _is_port(target: Any, port: int | None, container: Container) -> bool:
    """Whether a target is the port, or, where that is not said, one that the container declares."""
    names = {str(one.get("name")): as_number(one.get("containerPort")) for one in container.ports}
    number = names.get(target) if isinstance(target, str) and not target.isdigit() else as_number(target)
    return number is not None and (int(number) == port or (port is None and number in names.values()))
