"""Daemons of a node's fast network in pods: what of a pod's privileges is theirs, and so is no finding.

A daemon is the one that the conventions know, in all that it says, from an image that is one (`conventions/gpudirect`).
Whether nobody else may have the like in a team's namespace, `namespace-without-pod-security` asks of the guards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.conventions.gpudirect import INJECTOR, INSTALLER_NAMESPACE, TRANSPORTS, Transport, installer, of_image
from trainyard.policies import pods
from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.read import list_at, value_at

AGENTS = [f"{INSTALLER_NAMESPACE}/{name}" for name in (*map(installer, TRANSPORTS), INJECTOR)]
"""What prepares the nodes, as namespace/name: it writes on their disks and gives containers their devices."""


class Allowed(NamedTuple):
    """What a pod has for its daemon's sake."""

    container: str
    volumes: frozenset[str]


NOTHING = Allowed("", frozenset())


def allowed(spec: Any) -> Allowed:
    """The daemon of a pod, where it is as it has to be and no other container has what is its own."""
    for container in list_at(spec, "initContainers"):
        image = value_at(container, "image")
        transport = of_image(image) if isinstance(image, str) else None
        if transport is not None and _is(container, transport) and _leaves_alone(spec, transport):
            names = frozenset(volume["name"] for volume in transport.volumes)
            return Allowed(transport.daemon, names if _are_its(spec, transport) else frozenset())
    return NOTHING


def daemons(resources: list[RecordedResource]) -> Iterator[tuple[Any, Any]]:
    """The daemons in the pod templates of objects, each with the pod's spec, one of a name."""
    seen = set()
    for resource in resources:
        for _, spec in pods.pod_specs(resource):
            for container in list_at(spec, "initContainers"):
                image, name = value_at(container, "image"), value_at(container, "name")
                known = not has_unknown(container) and not has_unknown(value_at(spec, "volumes"))
                if known and isinstance(image, str) and of_image(image) is not None and name not in seen:
                    seen.add(name)
                    yield container, spec


def _is(container: Any, transport: Transport) -> bool:
    wanted = transport.container(value_at(container, "image"))
    kept = {key: value for key, value in wanted.items() if key != "resources"}
    return {key: value_at(container, key) for key in kept} == kept and set(container) <= set(wanted)


def _are_its(spec: Any, transport: Transport) -> bool:
    wanted = {volume["name"]: volume for volume in transport.volumes}
    found = {value_at(volume, "name"): volume for volume in list_at(spec, "volumes")}
    return all(found.get(name) == volume for name, volume in wanted.items())


def _leaves_alone(spec: Any, transport: Transport) -> bool:
    return not any(
        value_at(mount, "name") in transport.node_folders
        for kind in ("initContainers", "containers")
        for container in list_at(spec, kind)
        if value_at(container, "name") != transport.daemon
        for mount in list_at(container, "volumeMounts")
    )
