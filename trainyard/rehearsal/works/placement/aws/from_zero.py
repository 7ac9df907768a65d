"""Pods that nodes of a group would take, and for which the cluster autoscaler starts none of them.

Of a group with no node it reckons with the machine's CPU, memory and GPUs, and with nothing else but what tags tell it
(cluster-autoscaler 1.35, cloudprovider/aws, `buildNodeFromTemplate`; README, "Auto-Discovery Setup", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.aws import EFA_RESOURCE
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.quantities import quantity
from trainyard.recorded.types import AUTOSCALING_TAG, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.placement.autoscaler import AUTOSCALER
from trainyard.rehearsal.works.placement.aws.scaling_tags import TEMPLATE, names_of
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.kubernetes.said import amount_text
from trainyard.rehearsal.works.placement.world import World
from trainyard.rehearsal.works.workloads.charts import chart_of

_RESOURCES: Final = f"{TEMPLATE}resources/"


def check_from_zero(stack: Stack, world: World, views: Mapping[str, View]) -> None:
    """Pods whose groups all begin with no node, each of which is told of less than they request."""
    if not any(chart_of(release.resource) == AUTOSCALER for release in stack.of_type(HELM_RELEASE)):
        return
    told = _told(stack)
    for verdict in world.verdicts:
        workload, asked = verdict.workload, {key: one for key, one in verdict.requests.items() if _by_tags(key)}
        if workload.every_node or workload.replicas == 0 or not any(asked.values()) or told is None:
            continue
        short = [next(_short(nodes, asked, told, views), None) for nodes in verdict.groups]
        found = [one for one in short if one is not None]
        if found and len(found) == len(short):
            nodes, name, amount = found[0]
            knows = f"of {amount_text(name, amount)}" if amount else "of none"
            view = views[workload.resource.urn]
            view.warning(
                "placement-scaling-tag", workload.at("containers"),
                f"{workload.told()} requests {amount_text(name, asked[name])} of {name}, and of nodes of {nodes.name} "
                f"to come the autoscaler knows {knows}: while there is none it starts none",
                allowed=f"a tag {_RESOURCES}{name} of the group with what its nodes have",
            )  # fmt: skip


def _by_tags(name: str) -> bool:
    return name in ("ephemeral-storage", EFA_RESOURCE) or name.startswith("hugepages-")


def _short(
    nodes: Nodes, asked: Mapping[str, float], told: Mapping[str, Mapping[str, float]], views: Mapping[str, View]
) -> Iterator[tuple[Nodes, str, float]]:
    """What a group without a node is told too little of, with how much."""
    group = views.get(nodes.resource.urn)
    if group is None or group.type != EKS_NODE_GROUP or nodes.least != 0 or nodes.desired or group.blurred("tags"):
        return
    names = names_of(group)
    for name, amount in asked.items() if names else ():
        own = quantity(group.mapping("tags").get(f"{_RESOURCES}{name}", 0)) or 0.0
        knows = max(own, *(told.get(one, {}).get(name, 0.0) for one in names))
        if amount > knows:
            yield nodes, name, knows


def _told(stack: Stack) -> dict[str, dict[str, float]] | None:
    """By Auto Scaling group what its tags tell of a node to come; None where one of them is not known."""
    found: dict[str, dict[str, float]] = {}
    for tag in stack.of_type(AUTOSCALING_TAG):
        key, value, name = tag.text("tag.key"), tag.text("tag.value"), tag.text("autoscalingGroupName")
        if key is None or name is None:
            return None
        if key.startswith(_RESOURCES):
            amount = quantity(value) if value is not None else None
            if amount is None:
                return None
            found.setdefault(name, {})[key.removeprefix(_RESOURCES)] = amount
    return found
