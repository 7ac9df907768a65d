"""Every check of AWS's ways, over one index of the network."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.paths.aws import endpoints, nodes, routes
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups, fabric
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import node_groups


def check(stack: Stack) -> None:
    """Notes what is certain alone: a stack that makes no VPC has nothing to say here."""
    network = Network(stack)
    groups = Groups(network)
    fabric(groups)
    if not network.vpcs:
        return
    all_nodes = node_groups(network)
    found = Endpoints(network)
    routes.check(network)
    nodes.check(network, found, all_nodes)
    endpoints.check(found, groups, all_nodes)
