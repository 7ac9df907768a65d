"""Ports that a program's configuration has it listen on, against those that its container, probes and services name.

Sources: Squid's configuration reference, `http_port` (6.6); nginx documentation, `listen` (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_PROGRAMS: Final = {
    "squid": re.compile(r"^\s*https?_port\s+(?:[\w.\[\]:*]*:)?(\d+)\b", re.MULTILINE),
    "nginx": re.compile(r"^\s*listen\s+(?:[\w.\[\]:*]*:)?(\d+)\b", re.MULTILINE),
}
"""What in a configuration says the port, by the program's name."""
_NEAR_PORTS: Final = 100
"""How far apart two ports are at most of which one is a slip for the other; a lone number may be a count as well."""


def check(cluster: Cluster) -> None:
    """Every container whose configuration is a recorded config map."""
    for pod in cluster.pods:
        if pod.namespace is None or pod.spec.get("hostNetwork"):
            continue
        for container in pod.containers:
            _container(pod, container, cluster)
            _argument(pod, container)


def _container(pod: Pod, container: Container, cluster: Cluster) -> None:
    words = f"{container.body.get('command')} {container.body.get('args')} {container.body.get('image')}"
    declared = {int(number) for port in container.ports if (number := as_number(port.get("containerPort"))) is not None}
    if not declared or not container.ports_are_known:
        return
    for program, pattern in _PROGRAMS.items():
        if not re.search(rf"\b{program}\b", words):
            continue
        found = [
            (view, path, {int(one) for one in pattern.findall(text)})
            for view, path, text in configurations(pod, container, cluster)
        ]
        told = {number for _, _, numbers in found for number in numbers}
        for probe, asked in _probed(container) if told else ():
            if asked not in told | declared:
                pod.view.error(
                    "programs-port", probe,
                    f"asks port {asked}, and {program} listens on {', '.join(map(str, sorted(told)))}: {pod.title} is "
                    "never ready, or started anew without end", allowed=", ".join(map(str, sorted(told))),
                )  # fmt: skip
        for view, path, numbers in found if told and declared.isdisjoint(told) else ():
            if numbers:
                view.error(
                    "programs-port",
                    path,
                    f"has {program} listen on {', '.join(map(str, sorted(numbers)))}, and container "
                    f"{container.name!r} of {pod.title} is asked on {', '.join(map(str, sorted(declared)))}",
                    allowed=", ".join(map(str, sorted(declared))),
                )


def _probed(container: Container) -> Iterator[tuple[str, int]]:
    """The ports that probes ask by number."""
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        for action in ("tcpSocket", "httpGet"):
            number = as_number(follow(container.body, probe, action, "port"))
            if number is not None:
                yield f"{container.path}.{probe}.{action}.port", int(number)


def _argument(pod: Pod, container: Container) -> None:
    """A program whose only argument is a port, and that is asked on another one."""
    words = [*listed(container.body.get("args"))]
    probed = {number for _, number in _probed(container)}
    declared = {int(number) for port in container.ports if (number := as_number(port.get("containerPort"))) is not None}
    if len(words) != 1 or not re.fullmatch(r"\d{4,5}", str(words[0])) or not probed or not probed <= declared:
        return
    if int(words[0]) not in declared and abs(int(words[0]) - next(iter(probed))) < _NEAR_PORTS:
        # What a program does with a number nobody here knows.
        pod.view.warning(
            "programs-port", f"{container.path}.args[0]",
            f"is {words[0]}, and container {container.name!r} of {pod.title} is asked on "
            f"{', '.join(map(str, sorted(probed)))}", allowed=", ".join(map(str, sorted(probed))),
        )  # fmt: skip


def configurations(pod: Pod, container: Container, cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    """The texts of config maps that a container mounts."""
    volumes = {
        str(volume.get("name")): volume for volume in listed(pod.spec.get("volumes")) if isinstance(volume, Mapping)
    }
    for mount in listed(container.body.get("volumeMounts")):
        held = volumes.get(str(mount.get("name"))) if isinstance(mount, Mapping) else None
        name: Any = follow(held, "configMap", "name")
        view = cluster.find("ConfigMap", pod.namespace or "", name) if isinstance(name, str) else None
        for key, text in view.mapping("data").items() if view is not None else ():
            if view is not None and isinstance(text, str) and mount.get("subPath") in (None, key):
                yield view, f"data.{key}", text
