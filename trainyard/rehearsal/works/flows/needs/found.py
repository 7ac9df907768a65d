"""Every flow that a recorded stack needs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.flows.aws.places import node_interfaces
from trainyard.rehearsal.works.flows.kubernetes.network_policies import NetworkPolicies
from trainyard.rehearsal.works.flows.kubernetes.pods import of_charts, of_objects
from trainyard.rehearsal.works.flows.needs.aws import cluster
from trainyard.rehearsal.works.flows.needs.kubernetes import pods
from trainyard.rehearsal.works.flows.needs.model import Need
from trainyard.rehearsal.works.flows.needs.scene import Scene, actor_of, config_maps_of, namespaces_of
from trainyard.rehearsal.works.flows.reach import Flows, of_pods


def scene_of(resources: Resources, flows: Flows) -> Scene:
    """The recorded pods, with what they say they need. Raises UnknownInput."""
    interfaces = node_interfaces(resources)
    config_maps = config_maps_of(resources)
    actors = [
        actor_of(workload, of_pods(workload, interfaces), config_maps)
        for workload in (*of_objects(resources), *of_charts(resources))
    ]
    return Scene(resources, flows.places, flows.teams, tuple(actors), namespaces_of(resources))


def needs_of(scene: Scene, policies: NetworkPolicies) -> Iterator[Need]:
    """Yields them from the control plane down to the rules of single policies. Raises UnknownInput."""
    yield from cluster.control_plane(scene)
    yield from cluster.nodes(scene)
    yield from pods.names(scene, policies)
    yield from cluster.identities(scene)
    yield from cluster.stores(scene)
    yield from cluster.databases(scene)
    yield from pods.services(scene)
    yield from pods.ranks(scene)
    yield from cluster.mounts(scene)
    yield from pods.both_sides(scene, policies)
