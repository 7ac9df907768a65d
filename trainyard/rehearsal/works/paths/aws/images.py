"""Registries on the internet that a stack's images come from, and the nodes that get there."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.catalog.versions import pins
from trainyard.recorded.model import UNKNOWN, RecordedResource, bare
from trainyard.recorded.read import follow
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup
from trainyard.rehearsal.works.workloads.model import HOLDING
from trainyard.rehearsal.works.workloads.read import workloads

DOCKER_HUB: Final = "docker.io"
_PUBLIC: Final = re.compile(
    r"(docker\.io|quay\.io|ghcr\.io|nvcr\.io|public\.ecr\.aws|registry\.k8s\.io|mcr\.microsoft\.com|(.+\.)?gcr\.io|.+\.pkg\.dev)"
)
"""Registries that are on the internet alone. One of AWS's accounts is behind its endpoints, one of a name that is not
here may be in somebody's own network."""

_MIRRORED: Final = (b"mirror", b"certs.d", b"hosts.toml")
"""What user data says where nodes take images from somewhere else than their names say."""


def public_registries(stack: Stack) -> dict[str, str]:
    """Registries on the internet that recorded pods' images name, each with one of those images."""
    found: dict[str, str] = {}
    for workload in workloads(stack.resources):
        if workload.is_template:
            continue
        for kind in HOLDING:
            containers = follow(workload.spec, kind)
            for container in containers if isinstance(containers, list) else ():
                image = follow(container, "image")
                if isinstance(image, str) and _PUBLIC.fullmatch(registry_of(image)):
                    found.setdefault(registry_of(image), image)
    for release in stack.resources.of(HELM_RELEASE):
        for image in (*_named(follow(bare(dict(release.inputs)), "values")), *_of_chart(release)):
            if _PUBLIC.fullmatch(registry_of(image)):
                found.setdefault(registry_of(image), image)
    return found


def _of_chart(release: RecordedResource) -> Iterator[str]:
    """Images that a chart runs of itself, where its values say nothing of where they come from."""
    inputs = bare(dict(release.inputs))
    name = str(inputs.get("chart") or "").rstrip("/").rpartition("/")[2]
    pin, values = dict(pins().charts).get(name), {} if inputs.get("values") is None else inputs["values"]
    if pin is None or pin.version != inputs.get("version") or not isinstance(values, Mapping):
        return  # of another version, or values that are not known
    if any(key in _EVERYWHERE for holder in (values, values.get("global")) for key in holder or ()):
        return
    for path, image in pin.images:
        *above, _ = path.split(".")
        parts = [follow(values, *above[: depth + 1]) for depth in range(len(above))]
        switch = follow(values, _SWITCHES.get(above[0], above[0]), "enabled")
        off = switch is not None and switch is not True
        off |= any(isinstance(part, Mapping) and part.get("enabled", True) is not True for part in parts)
        said = parts[-1] is UNKNOWN or (isinstance(parts[-1], Mapping) and any(key in _PLACES for key in parts[-1]))
        if not off and not said and UNKNOWN not in parts:
            yield image


_EVERYWHERE: Final = ("imageRegistry", "image_registry")
"""Values by which every image of a chart comes from another registry."""
_PLACES: Final = ("registry", "repository", "name")
_SWITCHES: Final = {"kube-state-metrics": "kubeStateMetrics", "prometheus-node-exporter": "nodeExporter"}
"""Charts below kube-prometheus-stack that a value of another name switches off (its values.yaml)."""


def _named(values: object) -> Iterator[str]:
    """Images that a chart's values name with their registry."""
    if isinstance(values, Mapping):
        repository, registry = values.get("repository"), values.get("registry")
        if isinstance(repository, str) and "/" in repository:
            image = f"{registry}/{repository}" if isinstance(registry, str) and registry else repository
            if "." in image.partition("/")[0]:
                yield image
        for item in values.values():
            yield from _named(item)


def registry_of(image: str) -> str:
    """The registry that an image is pulled from: `docker.io` of `python:3`."""
    head, slash, _ = image.partition("/")
    return head if slash and ("." in head or ":" in head) else DOCKER_HUB


def check(network: Network, groups: list[NodeGroup], registries: dict[str, str]) -> None:
    """Notes nodes that pull nothing, because a registry is on the internet and they do not get there."""
    if any(_may_mirror(group) for group in groups):
        return
    closed = {group.view.resource.urn: dict(_closed(network, group)) for group in groups}
    everywhere = bool(groups) and all(
        group.subnets and len(closed[group.view.resource.urn]) == len(group.view.entries("subnetIds"))
        for group in groups
    )
    for group in groups:
        shut = closed[group.view.resource.urn]
        if not shut or not (everywhere or _opens_elsewhere(network, group)):
            continue  # a group that is apart on purpose may run what lies in the account's own registry
        subnet, why = next(iter(shut.items()))
        where = f"nodes in subnet {network.subnets[subnet].name} do not get to the internet ({why})"
        if registries:
            registry, image = next(iter(registries.items()))
            group.view.error(
                "paths-image-out-of-reach",
                "subnetIds",
                f"{where}, where {registry} is: {image.partition('@')[0]} cannot be pulled there",
                allowed="a route to a NAT gateway, or images of a registry of the account",
            )
        elif not everywhere:
            group.view.warning(
                "paths-zone-apart",
                "subnetIds",
                f"{where}, while those in the group's other subnets do",
                allowed="the same way out for every subnet of a node group",
            )


def _closed(network: Network, group: NodeGroup) -> Iterator[tuple[str, str]]:
    for subnet in group.subnets:
        way = network.internet(subnet, public=group.is_public(network, subnet))
        if way.open is False and not network.leads_elsewhere(subnet):
            yield subnet, way.why


def _opens_elsewhere(network: Network, group: NodeGroup) -> bool:
    return any(network.internet(one, public=group.is_public(network, one)).open for one in group.subnets)


def _may_mirror(group: NodeGroup) -> bool:
    if group.template is None or not group.template.has("userData"):
        return False
    try:
        text = base64.b64decode(group.template.text("userData") or "bWlycm9y")
    except (binascii.Error, ValueError):
        return True
    return any(word in text for word in _MIRRORED)
