"""Probes, hooks and the ports that they ask.

Source: Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes", as generally known. A probe by
number on a port that no container declares may still be answered: a container listens where it pleases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, known_texts
from trainyard.rehearsal.context import show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_TLS_NAMES: Final = frozenset({"https", "tls", "ssl"})
_HTTP_NAMES: Final = frozenset({"http", "web"})
_NUMBER: Final = re.compile(r"\d+")
_OF_HOSTS: Final = re.compile(r"(?!localhost:)\b[a-z][\w.-]*:\d+")
"""Ports behind a name: of servers that a program calls, or of names that it answers to."""
_LISTENS: Final = re.compile(r"(?:^|\s)--port[= ](\d+)\b")


def check(cluster: Cluster) -> None:
    """Every check of a probe."""
    for pod in cluster.pods:
        for container in pod.containers:
            for path, asked in _asked(container):
                _port(pod, container, path, asked)
                _path(pod, path, asked)
                _scheme(pod, container, path, asked)
            _alike(pod, container)
            _listens(pod, container)


def _asked(container: Container) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What is asked of a container: each probe's and hook's action."""
    for probe in _PROBES:
        body = container.body.get(probe)
        for action in ("httpGet", "tcpSocket", "grpc"):
            found = body.get(action) if isinstance(body, Mapping) else None
            if isinstance(found, Mapping):
                yield f"{container.path}.{probe}.{action}", found
    lifecycle = container.body.get("lifecycle")
    for hook in ("postStart", "preStop"):
        body = lifecycle.get(hook) if isinstance(lifecycle, Mapping) else None
        for action in ("httpGet", "tcpSocket"):
            found = body.get(action) if isinstance(body, Mapping) else None
            if isinstance(found, Mapping):
                yield f"{container.path}.lifecycle.{hook}.{action}", found


def _port(pod: Pod, container: Container, path: str, asked: Mapping[str, Any]) -> None:
    port, number = asked.get("port"), as_number(asked.get("port"))
    if port is UNKNOWN or not container.ports_are_known or asked.get("host") not in (None, "", "127.0.0.1"):
        return
    names = [found["name"] for found in container.ports if isinstance(found.get("name"), str)]
    if isinstance(port, str) and number is None:
        if port not in names and not any(found.get("name") is UNKNOWN for found in container.ports):
            pod.view.error(
                "reference-probe-port",
                f"{path}.port",
                f"container {show(container.name)} has no port named {show(port)}",
                allowed=f"one of {', '.join(names)}" if names else "a port by its number, or one that it names",
                hint=nearest(port, names),
            )
        return
    others = {as_number(found.get("containerPort")) for found in container.ports}
    if number is None or number in others or not others or None in others:
        return
    listed = ", ".join(f"{other:g}" for other in sorted(found for found in others if found is not None))
    if _is_slip(container, number, {other for other in others if other is not None}):
        pod.view.error(
            "reference-probe-port",
            f"{path}.port",
            f"asks port {number:g}, and container {show(container.name)} has {listed}",
            allowed=f"one of {listed}",
        )


def _is_slip(container: Container, number: float, declared: set[float]) -> bool:
    """Whether a port that is not declared is surely none that the program listens on.

    Programs have ports for their health that nobody declares. What tells is a number whose digits are those of a
    declared one in another order, or a command line that names a declared port and not this one; of that several probes
    that ask the same are above suspicion: it is where the program answers of its health.
    """
    if any(sorted(f"{other:g}") == sorted(f"{number:g}") for other in declared):
        return True
    if sum(as_number(asked.get("port")) == number for _, asked in _asked(container)) > 1:
        return False
    words = set(_NUMBER.findall(str([container.body.get(key) for key in ("command", "args", "env")])))
    return f"{number:g}" not in words and any(f"{other:g}" in words for other in declared)


def _path(pod: Pod, path: str, asked: Mapping[str, Any]) -> None:
    found = asked.get("path")
    if not path.endswith("httpGet") or not isinstance(found, str) or not found:
        return
    if "://" in found:
        pod.view.error("reference-probe-path", f"{path}.path", f"got {show(found)}", allowed="a path, as /health")
    elif " " in found or "\\" in found:
        pod.view.error("reference-probe-path", f"{path}.path", f"got {show(found)}", allowed="a path without spaces")


def _scheme(pod: Pod, container: Container, path: str, asked: Mapping[str, Any]) -> None:
    """A port that is named for TLS answers no plain request, nor the other way round."""
    scheme, port = asked.get("scheme", "HTTP"), asked.get("port")
    if not path.endswith("httpGet") or scheme is UNKNOWN or port is UNKNOWN:
        return
    name = next(
        (
            str(found.get("name"))
            for found in container.ports
            if found.get("name") == port or (as_number(port) is not None and found.get("containerPort") == port)
        ),
        "",
    )
    first = name.partition("-")[0]
    if first in _TLS_NAMES and scheme == "HTTP":
        pod.view.error(
            "reference-probe-scheme",
            f"{path}.scheme",
            f"asks port {show(name)} without TLS",
            allowed="HTTPS",
        )
    elif first in _HTTP_NAMES and scheme == "HTTPS":
        pod.view.error("reference-probe-scheme", f"{path}.scheme", f"asks port {show(name)} with TLS", allowed="HTTP")


def _listens(pod: Pod, container: Container) -> None:
    """A program that is told a port which its container does not declare, while it declares another."""
    declared = [as_number(port.get("containerPort")) for port in container.ports]
    spoken = [text for key in ("command", "args") for _, text in known_texts(container.body.get(key))]
    words = " ".join(spoken)
    told = {int(found) for found in _LISTENS.findall(words)}
    numbers = set(_NUMBER.findall(_OF_HOSTS.sub(" ", words)))
    is_known = bool(declared) and container.ports_are_known and None not in declared
    if is_known and len(told) == 1 and numbers.isdisjoint(f"{number:g}" for number in declared if number is not None):
        pod.view.error(
            "reference-container-port",
            f"{container.path}.ports",
            f"declares {', '.join(f'{number:g}' for number in declared if number is not None)}, and the program of "
            f"container {show(container.name)} is told to listen on {next(iter(told))}",
        )


def _alike(pod: Pod, container: Container) -> None:
    """Probes of one port that speak to it in two ways."""
    schemes: dict[Any, dict[str, str]] = {}
    for path, asked in _asked(container):
        if path.endswith("httpGet") and asked.get("port") is not UNKNOWN:
            by_scheme = schemes.setdefault(str(asked.get("port")), {})
            by_scheme.setdefault(str(asked.get("scheme", "HTTP")), path)
    for port, found in schemes.items():
        if (
            len(found) > 1
            and {"HTTP", "HTTPS"} <= set(found)
            and port.partition("-")[0] not in _TLS_NAMES | _HTTP_NAMES
        ):
            pod.view.error(
                "reference-probe-scheme",
                f"{found['HTTP']}.scheme",
                f"asks port {port} without TLS, and another probe of container {show(container.name)} with it",
                allowed="the same scheme",
            )
