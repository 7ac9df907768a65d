"""What a cluster of EKS and its pods need of AWS: the control plane, nodes, identities, databases and file systems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, gpu_node_groups
from trainyard.recorded.read import as_number, known_texts, mapping_at, value_at
from trainyard.recorded.types import (
    ADD_ON,
    DATABASE,
    DATABASE_CLUSTER,
    EFS_MOUNT_TARGET,
    EKS_CLUSTER,
    LUSTRE,
    POD_IDENTITY_ASSOCIATION,
    VOLUME,
)
from trainyard.rehearsal.works.flows.addresses import INTERNET
from trainyard.rehearsal.works.flows.aws.places import (
    LUSTRE_PORTS,
    NFS,
    places_of_nodes,
    service_addresses,
)
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Place, Port
from trainyard.rehearsal.works.flows.needs.kubernetes.calls import bound_accounts, called
from trainyard.rehearsal.works.flows.needs.kubernetes.pods import DNS, RANKS
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import Scene

_MOUNTED: Final[Mapping[str, str]] = {"fsx.csi.aws.com": LUSTRE, "efs.csi.aws.com": EFS_MOUNT_TARGET}
"""Types of what volumes of a driver are on."""


def control_plane(scene: Scene) -> Iterator[Need]:
    """Between the API, nodes, controllers and the pods that the API calls."""
    clusters = [found for found in scene.resources.of(EKS_CLUSTER) if not found.read]
    api = scene.places.get("Kubernetes API")
    if len(clusters) != 1 or api is None:
        return
    (cluster,) = clusters
    plane = replace(api, addresses=api.addresses - service_addresses(scene.resources))  # it calls from its own subnets
    private = value_at(cluster.inputs, "vpcConfig", "endpointPrivateAccess") is True
    for group, nodes in places_of_nodes(scene.resources):
        if private:
            yield Need("nodes-to-api", nodes, api, HTTPS, group)
        yield Need("kubelet", plane, nodes, KUBELET, group)
    for port, actor in called(scene):
        yield Need("webhooks", plane, actor.place, Port(port), actor.resource, whole=True)
    bound = bound_accounts(scene) if private else set()
    for actor in scene.actors:
        if private and ("api" in actor.needs or ((actor.namespace, actor.account) in bound and actor.mounts_token)):
            yield Need("api", actor.place, api, HTTPS, actor.resource)
        for number in actor.from_api:
            yield Need("webhooks", plane, actor.place, Port(number), actor.resource, whole=True)
        if "kubelet" in actor.needs and "nodes" in scene.places:
            yield Need("kubelet", actor.place, scene.places["nodes"], KUBELET, actor.resource, whole=True)
        if "names-outside" in actor.needs and "the VPC's name service" in scene.places:
            resolver = scene.places["the VPC's name service"]
            yield Need("names-outside", actor.place, resolver, DNS[0], actor.resource)


def nodes(scene: Scene) -> Iterator[Need]:
    """Nodes of each group and those that the name server's pods may run on; GPU nodes of a group among themselves."""
    places = {group.urn: place for group, place in places_of_nodes(scene.resources)}
    groups = {found.urn: found for found in scene.resources.of(EKS_NODE_GROUP)}
    for group, place in _with_gpus(scene, ((groups[urn], place) for urn, place in places.items())):
        if (as_number(value_at(group.inputs, "scalingConfig", "maxSize")) or 0) > 1:
            yield from (Need("ranks", place, place, port, group) for port in RANKS)
    hosts = [places[urn] for urn, found in groups.items() if _hosts_names(scene, found)]
    if not hosts:
        return
    host = replace(
        hosts[0],
        name="nodes that the name server's pods run on",
        security_groups=frozenset(group for place in hosts for group in place.security_groups),
    )
    for urn, place in places.items():
        yield Need("nodes-to-names", place, host, DNS[0], groups[urn])


def identities(scene: Scene) -> Iterator[Need]:
    """Pods with a role of Pod Identity, to the agent on their node."""
    agent = scene.places.get("Pod Identity agent")
    found = scene.resources.of(POD_IDENTITY_ASSOCIATION)
    if agent is None:
        return
    pairs = {(value_at(one.inputs, "namespace"), value_at(one.inputs, "serviceAccount")): one for one in found}
    spaces = {namespace for namespace, _ in pairs}
    for actor in scene.actors:
        known = (actor.namespace, actor.account) in pairs
        if known or ("identity" in actor.needs and actor.namespace in spaces):
            yield Need("identity", actor.place, agent, Port(80), actor.resource)
    for place in scene.teams.values():
        own = next(
            (one for (namespace, _), one in pairs.items() if place.pods and namespace == place.pods.namespace), None
        )
        if own is not None:
            yield Need("identity", place, agent, Port(80), own)


def stores(scene: Scene) -> Iterator[Need]:
    """Pods that name an object of S3 and have a role, to S3: any public address of it, since nobody here knows all."""
    store = scene.places.get("object store")
    if store is None:
        return
    roles = {
        (value_at(one.inputs, "namespace"), value_at(one.inputs, "serviceAccount"))
        for one in scene.resources.of(POD_IDENTITY_ASSOCIATION)
    }
    somewhere = replace(store, addresses=INTERNET)
    for actor in scene.actors:
        named = (actor.namespace, actor.account) in roles and any("s3://" in text for text in actor.texts)
        if named or "object-store" in actor.needs:
            yield Need("object-store", actor.place, somewhere, HTTPS, actor.resource)


def databases(scene: Scene) -> Iterator[Need]:
    """Pods that are told the address of a recorded database."""
    told = {
        str(found.outputs[key]).partition(":")[0]: found
        for found in scene.resources.of(DATABASE, DATABASE_CLUSTER)
        for key in ("address", "endpoint")
        if isinstance(found.outputs.get(key), str)
    }
    for actor in scene.actors:
        for address, found in told.items():
            place = scene.places.get(f"database {found.name}")
            if place is not None and any(address in text for text in actor.texts):
                for port in place.ports:
                    yield Need("database", actor.place, place, port, actor.resource, whole=not place.guessed)


def mounts(scene: Scene) -> Iterator[Need]:
    """Nodes, and the file systems that volumes of the cluster are on."""
    mounted = _mounted(scene)
    groups = list(places_of_nodes(scene.resources))
    if not groups:
        return
    nodes_of = _with_gpus(scene, groups) or groups
    for found in scene.resources.of(LUSTRE):
        place = scene.places.get(f"Lustre {found.name}")
        if place is None or found.id not in mounted:
            continue
        for port in (LUSTRE_PORTS[0], LUSTRE_PORTS[1], LUSTRE_PORTS[-1]):
            for group, nodes_place in nodes_of:
                yield Need("lustre", nodes_place, place, port, group)
                yield Need("lustre", place, nodes_place, port, group)
            yield Need("lustre", place, place, port, found)
    for system in {str(value_at(one.inputs, "fileSystemId")) for one in scene.resources.of(EFS_MOUNT_TARGET)}:
        if system not in mounted:
            continue
        name = next((one.name for one in scene.resources.all if one.id == system), system)
        place = scene.places.get(f"EFS {name}")
        if place is not None:
            yield from (Need("nfs", nodes_place, place, NFS, group) for group, nodes_place in nodes_of)


def _with_gpus(scene: Scene, groups: Iterable[tuple[RecordedResource, Place]]) -> list[tuple[RecordedResource, Place]]:
    """Those whose nodes train: what else there is may do without the data."""
    training = {found.resource.urn for found in gpu_node_groups(scene.resources)}
    return [(group, place) for group, place in groups if group.urn in training]


def _mounted(scene: Scene) -> set[str]:
    """Ids of file systems that a volume of the cluster is on."""
    found = set()
    for volume in scene.resources.of(VOLUME):
        if value_at(volume.inputs, "spec", "csi", "driver") in _MOUNTED:
            handle = str(value_at(volume.inputs, "spec", "csi", "volumeHandle", default=""))
            found.add("-".join(handle.partition("::")[0].partition(":")[0].split("-")[:2]))
    return found


def _hosts_names(scene: Scene, group: RecordedResource) -> bool:
    """Whether the name server's pods may run on a group, as the add-on is configured."""
    for add_on in scene.resources.of(ADD_ON):
        if value_at(add_on.inputs, "addonName") == "coredns":
            wanted = _selector(value_at(add_on.inputs, "configurationValues", default="{}"))
            labels = mapping_at(group.inputs, "labels")
            return all(labels.get(key) == value for key, value in wanted.items())
    return True


def _selector(text: Any) -> Mapping[str, str]:
    try:
        found = json.loads(str(text))
    except ValueError:
        return {}  # the check of add-ons tells it
    return dict(known_texts(found.get("nodeSelector"))) if isinstance(found, Mapping) else {}
