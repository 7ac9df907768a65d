"""Security groups of what the stack makes, asked one end at a time; silent wherever a rule may be somebody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.recorded.node_groups import EFA_INTERFACES, LAUNCH_TEMPLATE
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import DEFAULT_SECURITY_GROUP, EKS_CLUSTER, SECURITY_GROUP
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.aws.security_groups import SecurityGroups, Way, cluster_group
from trainyard.rehearsal.works.flows.model import Place, Port
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup, is_blurred

_EVERY_PORT: Final = Port(65535)


class Groups:
    """The rules of the recorded security groups, and which groups are the stack's own."""

    def __init__(self, network: Network) -> None:
        self.network = network
        stack = network.stack
        self.names: dict[str, str] = {}
        self.own: set[str] = set()
        for view in (*stack.of_type(SECURITY_GROUP), *stack.of_type(DEFAULT_SECURITY_GROUP)):
            if isinstance(view.resource.id, str):
                self.names[view.resource.id] = view.name
                if not view.resource.read and not any(view.blurred(way) for way in ("ingress", "egress")):
                    self.own.add(view.resource.id)
        self.own.update(
            found
            for vpc in network.vpcs.values()
            if isinstance(found := vpc.resource.outputs.get("defaultSecurityGroupId"), str)
        )
        try:
            self.walls: SecurityGroups | None = SecurityGroups.recorded(stack.resources)
        except (UnreadableInput, ValueError):
            self.walls = None  # a rule that is not known yet, or is no block, may be the one that opens

    def of(self, view: View, path: str) -> frozenset[str] | None:
        """The groups that an input lists; None where they are not all known."""
        return None if is_blurred(view, path) or view.is_unknown(path) else frozenset(view.texts(path))

    def default_of(self, vpc: View | None) -> frozenset[str] | None:
        """The group that a VPC comes with: what has no other has this one."""
        found = vpc.resource.outputs.get("defaultSecurityGroupId") if vpc else None
        return frozenset((found,)) if isinstance(found, str) else None

    def of_nodes(self, group: NodeGroup) -> frozenset[str] | None:
        """The groups of the interface that nodes talk through; None where they are not known."""
        template = group.template
        if template is not None:
            for path, interface in template.items("networkInterfaces"):
                if not template.number(f"{path}.deviceIndex") and not template.number(f"{path}.networkCardIndex"):
                    if "securityGroups" in interface:
                        return self.of(template, f"{path}.securityGroups")
                    break
            if template.has("vpcSecurityGroupIds"):
                return self.of(template, "vpcSecurityGroupIds")
        elif group.view.has("launchTemplate"):
            return None
        if group.cluster is None:
            return None
        found = group.cluster.resource.outputs.get("vpcConfig")
        own = found.get("clusterSecurityGroupId") if isinstance(found, dict) else None
        return frozenset((own,)) if isinstance(own, str) else None

    def place_of(self, group: NodeGroup) -> Place | None:
        """The nodes of a group as an end of a flow; None where it is not known where they are."""
        groups = self.of_nodes(group)
        blocks = [self.network.subnets[subnet].text("cidrBlock") for subnet in group.subnets]
        if groups is None or not blocks or None in blocks or is_blurred(group.view, "subnetIds"):
            return None
        if len(group.subnets) < len(group.view.texts("subnetIds")):
            return None
        try:
            addresses = Addresses.of(*(block for block in blocks if block))
        except ValueError:
            return None
        return Place(f"nodes of {group.view.name}", "node", addresses, security_groups=groups)

    def closed_into(self, groups: frozenset[str] | None, source: NodeGroup, port: Port) -> str:
        """Why something with some groups lets nodes not in on a port; empty where it does, or may."""
        place = self.place_of(source)
        if place is None:
            return ""
        return self.closed("ingress", groups, place, port)

    def closed(self, way: Way, groups: frozenset[str] | None, peer: Place, port: Port) -> str:
        """Why no rule of some groups lets a peer in (or out) on a port; empty where one does, or may."""
        if self.walls is None or not groups or not groups <= self.own | self._of_clusters():
            return ""
        rules = [rule for group in sorted(groups) for rule in self.walls.rules.get((group, way), ())]
        if any(rule.opens(port) and (rule.prefix_lists or rule.peers(peer, peer.addresses)) for rule in rules):
            return ""
        names = " and ".join(sorted(self.names.get(group, "of the cluster") for group in groups))
        return f"no rule of security group {names} lets {port} {'in from' if way == 'ingress' else 'out to'} {peer}"

    def lets_nothing_out(self, groups: frozenset[str] | None, port: Port, but_to: Sequence[str] = ()) -> bool:
        """Whether some groups, all of the stack's own making, let nothing out on a port, wherever to (or nowhere but to
        some blocks and to those who have some group).
        """
        if self.walls is None or not groups or not groups <= self.own:
            return False
        opening = [rule for group in groups for rule in self.walls.rules.get((group, "egress"), ()) if rule.opens(port)]
        if not but_to:
            return not opening
        inside = Addresses.of(*but_to)
        return not any(rule.prefix_lists or rule.addresses & inside != rule.addresses for rule in opening)

    def lets_in_elsewhere(self, groups: frozenset[str] | None, port: Port) -> bool:
        """Whether some groups, all of the stack's own making, let somebody in, and nobody on a port."""
        if self.walls is None or not groups or not groups <= self.own:
            return False
        rules = [rule for group in groups for rule in self.walls.rules.get((group, "ingress"), ())]
        return bool(rules) and not any(rule.opens(port) for rule in rules)

    def lets_nothing_in(self, groups: frozenset[str] | None) -> bool:
        """Whether some groups, all of the stack's own making, let nobody in."""
        if self.walls is None or not groups or not groups <= self.own:
            return False
        return not any(self.walls.rules.get((group, "ingress")) for group in groups)

    def _of_clusters(self) -> set[str]:
        return {cluster_group(cluster) for cluster in self.network.stack.resources.of(EKS_CLUSTER)}


def fabric(groups: Groups) -> None:
    """Adapters talk past the VPC's addresses: a rule that names the group itself lets them, one of addresses does not.

    Both ways, all traffic (EC2 user guide, "Get started with EFA", step 1; EKS user guide, "Amazon EKS security group
    requirements", 2026-11).
    """
    if groups.walls is None:
        return
    for template in groups.network.stack.of_type(LAUNCH_TEMPLATE):
        for path, _ in template.items("networkInterfaces"):
            before = len(template.findings)
            if template.text(f"{path}.interfaceType") in EFA_INTERFACES:
                _adapter(groups, groups.walls, template, path)
            if len(template.findings) > before:
                break  # the others mostly have the same groups


def _adapter(groups: Groups, walls: SecurityGroups, template: View, path: str) -> None:
    stated = groups.of(template, f"{path}.securityGroups")
    if not stated or not stated <= groups.own | groups._of_clusters():
        return
    among: dict[Way, set[str]] = {
        way: {
            group
            for group in stated
            for rule in walls.rules.get((group, way), ())
            if not rule.transport and rule.opens(_EVERY_PORT) and rule.groups & stated
        }
        for way in ("ingress", "egress")
    }
    of_clusters = groups._of_clusters()
    own = stated - of_clusters
    if not stated & of_clusters:
        for way, found in among.items():
            if not found:
                _not_among_themselves(groups, template, path, stated, way)
        return
    # The cluster's own group lets them in by itself. A group that is made for the fabric says so one way at least.
    for group in sorted(own):
        given = [way for way, found in among.items() if group in found]
        if len(given) == 1:
            missing: Way = "egress" if given == ["ingress"] else "ingress"
            _not_among_themselves(groups, template, path, frozenset((group,)), missing)


def _not_among_themselves(groups: Groups, template: View, path: str, stated: frozenset[str], way: Way) -> None:
    names = " and ".join(sorted(groups.names.get(group, group) for group in stated))
    where = "out to" if way == "egress" else "in from"
    template.error(
        "paths-fabric-closed",
        f"{path}.securityGroups",
        f"security group {names} lets no fabric traffic {where} itself: collectives hang, or fall back to TCP",
        allowed=f"an {way} rule of all protocols that names the group itself; one of addresses does not do for EFA",
    )
