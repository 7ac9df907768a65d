"""Every check of AWS's ways, over one index of the network."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.paths.aws import (
    acls,
    api,
    calls,
    doors,
    endpoints,
    fronts,
    images,
    names,
    nodes,
    peers,
    places,
    room,
    routes,
    told_names,
    workers,
)
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups, fabric
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import node_groups


def check(stack: Stack) -> None:
    """Notes what is certain alone: a stack that neither makes nor names a network has nothing to say here."""
    network = Network(stack)
    groups = Groups(network)
    fabric(groups)
    api.check(groups)
    if not network.vpcs and not network.subnets:
        return
    all_nodes = node_groups(network)
    found = Endpoints(network)
    routes.check(network)
    nodes.check(network, found, all_nodes, groups)
    endpoints.check(found, groups, all_nodes)
    places.check(network, all_nodes, found, groups)
    peers.check(network)
    room.check(network, all_nodes)
    acls.check(network, all_nodes)
    workers.check(network)
    calls.check(network)
    doors.check(network, groups)
    fronts.check(network)
    told_names.check(network, groups)
    registries = images.public_registries(stack)
    images.check(network, all_nodes, registries)
    names.check(network, all_nodes, [service["name"] for service in nodes.asked_services(stack)], list(registries))
