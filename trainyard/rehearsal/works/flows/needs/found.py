"""Every flow that a recorded stack needs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queues import LOCAL_QUEUE
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.works.flows.aws.places import interfaces_of, node_interfaces
from trainyard.rehearsal.works.flows.gcp.places import node_interfaces as interfaces_on_google
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.kubernetes.pods import Workload, of_charts, of_objects
from trainyard.rehearsal.works.flows.model import Pods
from trainyard.rehearsal.works.flows.needs.aws import cluster as aws
from trainyard.rehearsal.works.flows.needs.gcp import balancers
from trainyard.rehearsal.works.flows.needs.gcp import cluster as gcp
from trainyard.rehearsal.works.flows.needs.kubernetes import pods
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import (
    NAME_SERVER,
    NAME_SERVER_OF_GKE,
    Actor,
    Scene,
    actor_of,
    config_maps_of,
    namespaces_of,
    selector_of,
)
from trainyard.rehearsal.works.flows.reach import Flows, of_pods


def scene_of(resources: Resources, flows: Flows) -> Scene:
    """The recorded pods with what they say they need, and those that members of a team, or of a queue, make.

    Raises:
        UnknownInput: a part of it is not known yet.
    """
    on_google = bool(resources.of(GKE_CLUSTER))
    interfaces = interfaces_on_google(resources) if on_google else node_interfaces(resources)
    config_maps = config_maps_of(resources)
    actors = [
        actor_of(
            workload,
            of_pods(workload, interfaces if on_google else interfaces_of(resources, selector_of(workload), interfaces)),
            config_maps,
        )
        for workload in (*of_objects(resources), *of_charts(resources))
    ]
    for cluster_of_eks in resources.of(EKS_CLUSTER):
        if not any(actor.place.name == NAME_SERVER for actor in actors) and brings_add_ons(cluster_of_eks):
            server = Workload(NAME_SERVER, Pods("kube-system", {"k8s-app": "kube-dns"}, {}, ((53, 53),)), ())
            actors.append(Actor(of_pods(server, interfaces), "kube-system", cluster_of_eks))
    for cluster_of_gke in resources.of(GKE_CLUSTER)[:1]:
        server = Workload(NAME_SERVER_OF_GKE, Pods("kube-system", {"k8s-app": "kube-dns"}, {}, ((53, 53),)), ())
        actors.append(Actor(of_pods(server, interfaces), "kube-system", cluster_of_gke))
    own = {place.pods.namespace for place in flows.teams.values() if place.pods}
    queued = {
        str(value_at(found.inputs, "metadata", "namespace", default="default")) for found in resources.of(LOCAL_QUEUE)
    }
    others = {
        name: of_pods(Workload(f"pods of namespace {name}", Pods(name, None), ()), interfaces)
        for name in sorted(queued - own)
    }
    return Scene(resources, flows.places, {**others, **flows.teams}, tuple(actors), namespaces_of(resources))


def brings_add_ons(cluster_of_eks: RecordedResource) -> bool:
    """Whether EKS puts CoreDNS on a cluster by itself."""
    return value_at(cluster_of_eks.inputs, "bootstrapSelfManagedAddons") is not False


def needs_of(scene: Scene, policies: NetworkPolicies) -> Iterator[Need]:
    """Yields them from the control plane down to the rules of single policies. Raises UnknownInput."""
    cluster = gcp if scene.resources.of(GKE_CLUSTER) else aws
    yield from cluster.control_plane(scene)
    yield from cluster.nodes(scene)
    yield from pods.names(scene, policies)
    yield from cluster.identities(scene)
    yield from cluster.stores(scene)
    yield from cluster.databases(scene)
    yield from pods.services(scene)
    yield from pods.ranks(scene)
    yield from pods.hubs(scene)
    yield from pods.gossip(scene)
    yield from aws.mounts(scene)
    yield from balancers.probes(scene)
    yield from pods.both_sides(scene, policies)
