"""Whether subnets have addresses for as many nodes as their groups may have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from ipaddress import IPv4Network

from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.paths.aws.node_groups import NodeGroup

RESERVED = 5
"""Addresses of every subnet that AWS keeps (VPC user guide, "Subnet CIDR blocks", 2026-11)."""

PREFIX = 16
"""Addresses of the prefix that a node takes before its first pod, where pods have prefixes (EKS user guide, "Assign
more IP addresses to Amazon EKS nodes with prefixes", 2026-11)."""


def check(network: Network, groups: list[NodeGroup]) -> None:
    """Notes groups that cannot grow to their largest size: by what their nodes take at the least, before pods."""
    each = 1 + (PREFIX if _has_prefixes(network) else 0)
    alone: dict[str, int] = {}
    for group in groups:
        most = group.view.number("scalingConfig.maxSize")
        room = _room(network, group.subnets)
        if most is None or room is None or len(group.subnets) < len(group.view.entries("subnetIds")):
            continue
        taken = int(most) * (each + _more_interfaces(group))
        before = alone.get(group.subnets[0], 0) if len(group.subnets) == 1 else 0
        if len(group.subnets) == 1:
            alone[group.subnets[0]] = before + taken
        if before + taken > room:
            names = ", ".join(network.subnets[subnet].name for subnet in group.subnets)
            others = " with the other groups that are in it alone" if before else ""
            group.view.warning(
                "paths-subnet-too-small",
                "subnetIds",
                f"{names} has {room} addresses, and {most:g} nodes take {before + taken} at the least{others}: they "
                "do not all start",
                allowed="a larger subnet, more subnets, or a smaller scalingConfig.maxSize",
            )


def _room(network: Network, subnets: Iterable[str]) -> int | None:
    blocks = [network.subnets[subnet].text("cidrBlock") for subnet in subnets]
    try:
        return sum(IPv4Network(block).num_addresses - RESERVED for block in blocks if block) if all(blocks) else None
    except ValueError:
        return None  # the check of values tells it


def _more_interfaces(group: NodeGroup) -> int:
    """Interfaces with an address beside the first; one that is for the fabric alone has none."""
    if group.template is None:
        return 0
    kinds = [group.template.text(f"{path}.interfaceType") for path, _ in group.template.items("networkInterfaces")]
    return max(0, sum(kind != "efa-only" for kind in kinds) - 1)


def _has_prefixes(network: Network) -> bool:
    for view in network.stack.of_type(ADD_ON):
        if view.text("addonName") == "vpc-cni":
            try:
                found = json.loads(view.text("configurationValues") or "{}")
            except ValueError:
                return False
            values = found.get("env") if isinstance(found, dict) else None
            return isinstance(values, dict) and str(values.get("ENABLE_PREFIX_DELEGATION")).lower() == "true"
    return False
