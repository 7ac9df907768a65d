"""The node groups that a stack makes, with the network that their nodes stand in."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.types import EKS_CLUSTER
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.paths.aws.network import Network


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One of EKS, as far as its network is known."""

    view: View
    template: View | None
    subnets: tuple[str, ...]  # that the stack makes, or looks up
    cluster: View | None

    def is_public(self, network: Network, subnet: str) -> bool:
        """Whether its nodes have, or may have, a public address in a subnet."""
        mapped = network.subnets[subnet]
        if mapped.is_unknown("mapPublicIpOnLaunch") or (mapped.resource.read and mapped.lacks("mapPublicIpOnLaunch")):
            return True
        if self.template is not None:
            for path, _ in self.template.items("networkInterfaces"):
                asked = self.template.flag(f"{path}.associatePublicIpAddress")
                if asked is not None or self.template.is_unknown(f"{path}.associatePublicIpAddress"):
                    return asked is not False
        elif self.view.has("launchTemplate"):
            return True  # a template of somebody else's may say so
        return mapped.flag("mapPublicIpOnLaunch") is True


def node_groups(network: Network) -> list[NodeGroup]:
    """Every recorded one."""
    found = []
    for view in network.stack.of_type(EKS_NODE_GROUP):
        if view.resource.read:
            continue
        subnets = tuple(subnet for subnet in view.texts("subnetIds") if subnet in network.subnets)
        template = view.referred("launchTemplate", LAUNCH_TEMPLATE)
        found.append(NodeGroup(view, template, subnets, cluster_of(network, view)))
    return found


def cluster_of(network: Network, view: View) -> View | None:
    """The cluster that a node group or add-on names."""
    named = view.text("clusterName")
    clusters = [cluster for cluster in network.stack.of_type(EKS_CLUSTER) if not cluster.resource.read]
    return next(
        (cluster for cluster in clusters if named is not None and named in (cluster.text("name"), cluster.resource.id)),
        view.referred("clusterName", EKS_CLUSTER) if named is None else None,
    )


def is_blurred(view: View, path: str) -> bool:
    """Whether a list has entries that are not known."""
    return any(item is UNKNOWN for item in view.entries(path)) or view.blurred(path)
