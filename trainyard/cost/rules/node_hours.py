"""How many nodes of a node group run on average.

| nodes | floor | expected | ceiling |
| --- | --- | --- | --- |
| GPU, on demand and spot | the fewest | utilisation of the most | the most, on demand |
| GPU, reserved | all, from the reservation's creation | all | all |
| without GPUs | the fewest | and a part of the room above | the most |

A pool that has both spot and on-demand nodes shares its expected hours between them by the spot share, as far as
either side has room.
"""

from __future__ import annotations

from trainyard.cost.context import PriceContext
from trainyard.cost.model import Amounts, always
from trainyard.recorded.node_groups import NodeGroup


def billed_nodes(group: NodeGroup, context: PriceContext) -> Amounts:
    """Nodes that are paid for: floor, expected, ceiling."""
    if group.capacity == "reserved" and not group.in_capacity_block:
        return always(float(group.max_nodes))
    return running_nodes(group, context)


def running_nodes(group: NodeGroup, context: PriceContext) -> Amounts:
    """Nodes that are there, with their disks and metrics: a reserved machine is billed unused, without these."""
    fewest, most = float(group.min_nodes), float(group.max_nodes)
    if not group.gpu_models and group.capacity != "reserved":
        used = context.assumed("system_nodes_used_percent").value / 100
        return Amounts(fewest, fewest + used * (most - fewest), most)
    used = context.assumed("utilisation_percent").value / 100
    if group.capacity != "reserved":
        peers = [peer for peer in context.node_groups if peer.pool == group.pool and peer.gpu_models]
        spot = [peer for peer in peers if peer.capacity == "spot"]
        rest = [peer for peer in peers if peer.capacity == "on-demand"]
        if spot and rest and group.capacity in ("spot", "on-demand"):
            on_spot, on_demand = _split(spot, rest, used, context.assumed("spot_share_percent").value / 100)
            mine, total = (spot, on_spot) if group.capacity == "spot" else (rest, on_demand)
            return Amounts(fewest, _part(group, mine, total), most)
    return Amounts(fewest, max(fewest, used * most), most)


def _split(spot: list[NodeGroup], rest: list[NodeGroup], used: float, share: float) -> tuple[float, float]:
    """Nodes on spot and on demand: `share` of the nodes in use, as far as either side has room."""
    spot_fewest, spot_most = sum(group.min_nodes for group in spot), sum(group.max_nodes for group in spot)
    rest_fewest, rest_most = sum(group.min_nodes for group in rest), sum(group.max_nodes for group in rest)
    nodes = max(used * (spot_most + rest_most), spot_fewest + rest_fewest)
    lowest, highest = max(nodes - rest_most, spot_fewest), min(spot_most, nodes - rest_fewest)
    on_spot = min(max(share * nodes, lowest), highest)
    return on_spot, nodes - on_spot


def _part(group: NodeGroup, peers: list[NodeGroup], nodes: float) -> float:
    """A group's part of the nodes of its kind: its fewest, and of the rest by the room that it has."""
    room = sum(peer.max_nodes - peer.min_nodes for peer in peers)
    above = nodes - sum(peer.min_nodes for peer in peers)
    return group.min_nodes + (above * (group.max_nodes - group.min_nodes) / room if room else 0.0)
