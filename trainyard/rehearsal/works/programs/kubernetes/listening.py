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


def check(cluster: Cluster) -> None:
    """Every container whose configuration is a recorded config map."""
    for pod in cluster.pods:
        if pod.namespace is None or pod.spec.get("hostNetwork"):
            continue
        for container in pod.containers:
            _container(pod, container, cluster)


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
        for view, path, numbers in found if told and declared.isdisjoint(told) else ():
            if numbers:
                view.error(
                    "programs-port",
                    path,
                    f"has {program} listen on {', '.join(map(str, sorted(numbers)))}, and container "
                    f"{container.name!r} of {pod.title} is asked on {', '.join(map(str, sorted(declared)))}",
                    allowed=", ".join(map(str, sorted(declared))),
                )


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
