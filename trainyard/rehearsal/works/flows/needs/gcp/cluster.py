"""What a cluster of GKE and its pods need: the control plane, Google's services, identities, databases, images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from trainyard.conventions.gcp import LUSTRE_DRIVER
from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.read import known_texts, value_at
from trainyard.recorded.types import CLOUD_SQL, GCP_LUSTRE, GKE_CLUSTER, SERVICE_ACCOUNT, VOLUME
from trainyard.rehearsal.works.flows.gcp.network import control_plane as addresses_of_control_plane
from trainyard.rehearsal.works.flows.gcp.places import (
    API,
    GOOGLE,
    LUSTRE_PORT,
    METADATA,
    places_of_nodes,
    private_services,
)
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Port
from trainyard.rehearsal.works.flows.needs.kubernetes.calls import bound_accounts, called
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import Scene
from trainyard.rehearsal.works.rights.gcp.grants import grants
from trainyard.rehearsal.works.rights.gcp.members import ACCOUNT_ANNOTATION, pod_of

_OF_GOOGLE: Final = re.compile(r"([a-z0-9-]+\.)?(gcr\.io|pkg\.dev)/")


def control_plane(scene: Scene) -> Iterator[Need]:
    """Between the API, nodes, controllers and the pods that the API calls, where its private addresses are recorded."""
    clusters = [found for found in scene.resources.of(GKE_CLUSTER) if not found.read]
    api = scene.places.get(API)
    if len(clusters) != 1 or api is None or not addresses_of_control_plane(clusters[0]):
        return
    plane = replace(api, addresses=addresses_of_control_plane(clusters[0]))
    for pool, nodes in places_of_nodes(scene.resources):
        yield Need("nodes-to-api", nodes, plane, HTTPS, pool)
        yield Need("kubelet", plane, nodes, KUBELET, pool)
    for port, actor in called(scene):
        yield Need("webhooks", plane, actor.place, Port(port), actor.resource, whole=True)
    bound = bound_accounts(scene)
    for actor in scene.actors:
        if "api" in actor.needs or ((actor.namespace, actor.account) in bound and actor.mounts_token):
            yield Need("api", actor.place, api, HTTPS, actor.resource)
        for number in actor.from_api:
            yield Need("webhooks", plane, actor.place, Port(number), actor.resource, whole=True)


def nodes(scene: Scene) -> Iterator[Need]:
    """Nodes to Google's services, and to the registries of others that images of recorded pods are in."""
    google, internet = scene.places.get(GOOGLE), scene.places.get("internet")
    if google is None or internet is None:
        return
    elsewhere = any(_is_elsewhere(image) for actor in scene.actors for image in _images(actor.resource.inputs))
    for pool, place in places_of_nodes(scene.resources):
        yield Need("google", place, google, HTTPS, pool)
        if elsewhere:
            yield Need("images", place, internet, HTTPS, pool)


def _images(inputs: object) -> Iterator[str]:
    for path, text in known_texts(inputs):
        if path.endswith(".image"):
            yield text


def _is_elsewhere(image: str) -> bool:
    return _OF_GOOGLE.match(image) is None


def identities(scene: Scene) -> Iterator[Need]:
    """Pods with rights of their own on Google Cloud, to the metadata server, which gives them their tokens."""
    server = scene.places.get(METADATA)
    if server is None:
        return
    pods = bound_pods(scene)
    for actor in scene.actors:
        if (actor.namespace, actor.account) in pods:
            yield Need("identity", actor.place, server, Port(80), actor.resource)
    for place in scene.teams.values():
        namespace = place.pods.namespace if place.pods else ""
        if any(where == namespace for where, _ in pods) and namespace in scene.namespaces:
            yield Need("identity", place, server, Port(80), scene.namespaces[namespace])


def bound_pods(scene: Scene) -> set[tuple[str, str]]:
    """Service accounts that a grant names, or that take an account of Google Cloud, by namespace and name."""
    members = (member for grant in grants(scene.resources) for member in grant.members)
    found = {(pod[1].namespace, pod[1].service_account) for member in members if (pod := pod_of(member)) is not None}
    for account in scene.resources.of(SERVICE_ACCOUNT):
        metadata = value_at(account.inputs, "metadata", default={})
        if value_at(metadata, "annotations", ACCOUNT_ANNOTATION, unknown=None):
            found.add((str(value_at(metadata, "namespace", default="default")), str(value_at(metadata, "name"))))
    return found


def stores(scene: Scene) -> Iterator[Need]:
    """Pods that name an object of Cloud Storage and have rights, and teams whose volumes are buckets: their pods have
    the driver's sidecar, which asks for the objects; and nodes that mount a file system of the stack's."""
    yield from _file_systems(scene)
    google = scene.places.get(GOOGLE)
    if google is None:
        return
    pods = bound_pods(scene)
    for actor in scene.actors:
        if (actor.namespace, actor.account) in pods and any("gs://" in text for text in actor.texts):
            yield Need("object-store", actor.place, google, HTTPS, actor.resource)
    for volume in scene.resources.of(VOLUME):
        if value_at(volume.inputs, "spec", "csi", "driver") == FUSE_DRIVER:
            namespace = value_at(volume.inputs, "spec", "claimRef", "namespace")
            for place in scene.teams.values():
                if place.pods is not None and place.pods.namespace == namespace:
                    yield Need("object-store", place, google, HTTPS, volume)


def _file_systems(scene: Scene) -> Iterator[Need]:
    """Servers of Managed Lustre and the nodes whose pods have a volume of it."""
    mounted = any(
        value_at(found.inputs, "spec", "csi", "driver") == LUSTRE_DRIVER for found in scene.resources.of(VOLUME)
    )
    if not mounted or not private_services(scene.resources):
        return
    for found in scene.resources.of(GCP_LUSTRE):
        servers = scene.places.get(f"Lustre {found.name}")
        if servers is None:
            continue
        for _, nodes_ in places_of_nodes(scene.resources):
            yield Need("managed-lustre", servers, nodes_, LUSTRE_PORT, found)
            yield Need("managed-lustre", nodes_, servers, LUSTRE_PORT, found)


def databases(scene: Scene) -> Iterator[Need]:
    """Pods that are told the private address of a recorded database."""
    for found in scene.resources.of(CLOUD_SQL):
        address, place = found.outputs.get("privateIpAddress"), scene.places.get(f"database {found.name}")
        for actor in scene.actors:
            told = isinstance(address, str) and any(address in text for text in actor.texts)
            if told and place is not None:
                yield from (
                    Need("database", actor.place, place, port, actor.resource, whole=not place.guessed)
                    for port in place.ports
                )
