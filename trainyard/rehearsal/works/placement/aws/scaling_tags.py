"""What tags of an Auto Scaling group tell the cluster autoscaler of its nodes, against what the nodes will be.

Of a group with no node the autoscaler reckons with its tags (cluster-autoscaler, cloudprovider/aws, "Auto-Discovery
Setup", 2026-11): with wrong ones it starts nodes for pods that they do not take, or none for those that they would.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from trainyard.catalog import eks_nodes
from trainyard.conventions import GPU_RESOURCE
from trainyard.conventions.aws import EFA_RESOURCE
from trainyard.problems import count
from trainyard.recorded.node_groups import EFA_INTERFACES, EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow
from trainyard.recorded.taints import EFFECTS
from trainyard.recorded.types import AUTOSCALING_GROUP, AUTOSCALING_TAG, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.placement.autoscaler import AUTOSCALER
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.workloads.charts import chart_of

_PLUGIN, _OPERATOR = "nvidia-device-plugin", "gpu-operator"

_ENABLED: Final = "k8s.io/cluster-autoscaler/enabled"
_OF_CLUSTER: Final = re.compile(r"kubernetes\.io/cluster/(.+)")
TEMPLATE: Final = "k8s.io/cluster-autoscaler/node-template/"
"""Beginning of tags that tell of a node to come."""
_IN_BYTES: Final = ("ephemeral-storage", "memory")
_MUCH_MORE: Final = 1.5
"""How much more than a node has is a mistake, and no other way to count."""
_LEAST_BYTES: Final = 1e6
"""Fewer bytes of memory or storage no node has: a number that lost its unit."""


def check_tags(stack: Stack, nodes: Iterable[Nodes] | None) -> None:
    """A label, taint or resource in a tag that nodes of the group lack. `nodes`: all of a cluster, if known."""
    disks = {
        one.name: max(machine.most["ephemeral-storage"] for machine in one.machines)
        for one in nodes or ()
        if one.machines and all("ephemeral-storage" in machine.most for machine in one.machines)
    }
    groups = {name: group for group in stack.of_type(EKS_NODE_GROUP) for name in names_of(group)}
    if any(chart_of(release.resource) == AUTOSCALER for release in stack.of_type(HELM_RELEASE)):
        _adapters(stack)
        _own_groups(stack)
    for tag in stack.of_type(AUTOSCALING_TAG):
        key, value = tag.text("tag.key"), tag.text("tag.value")
        group = groups.get(tag.text("autoscalingGroupName") or "")
        if group is None or key is None or value is None or not key.startswith(TEMPLATE):
            continue
        kind, _, name = key.removeprefix(TEMPLATE).partition("/")
        if kind == "label":
            _label(tag, group, name, value)
        elif kind == "taint":
            _taint(tag, group, name, value)
        elif kind == "resources":
            _resource(tag, group, name, value, disks)


def _resource(tag: View, group: View, name: str, value: str, disks: Mapping[str, float]) -> None:
    """How much of something a node to come has: a quantity, of devices what its type and its interfaces give."""
    told = quantity(value)
    if told is None or (name in _IN_BYTES and 0 < told < _LEAST_BYTES):
        tag.warning(
            "placement-scaling-tag", "tag.value",
            f"tells the autoscaler of {show(value)} of {name}" + ("" if told is None else ", which is so many bytes")
            + ": it starts no node for a pod that asks for more", allowed="a quantity with its unit, such as 200Gi",
        )  # fmt: skip
        return
    if name == "ephemeral-storage" and (has := disks.get(group.name)) is not None and told > _MUCH_MORE * has:
        tag.warning(
            "placement-scaling-tag", "tag.value",
            f"tells the autoscaler of {show(value)} of storage, and a node of {group.name} has {has / 1e9:.0f} GB for "
            "pods: its local disks are not joined, or there are none",
            allowed=f"{has / 1e9:.0f}G, or RAID0 of its disks",
        )  # fmt: skip
        return
    types, template = group.texts("instanceTypes"), group.referred("launchTemplate.id", LAUNCH_TEMPLATE)
    if name == GPU_RESOURCE:
        found = [eks_nodes.machine(type_) for type_ in types]
        most = max((one.gpus for one in found if one is not None), default=0)
        if not types or None in found or told == most:
            return
        if most and told >= most and told % most == 0 and _may_be_shared(tag.stack, group):
            return  # they count several times
        words = f"{count(most, 'GPU')}"
    elif name == EFA_RESOURCE and template is not None and not template.blurred("networkInterfaces"):
        most = sum(one.get("interfaceType") in EFA_INTERFACES for _, one in template.items("networkInterfaces"))
        if told == most:
            return
        words = f"{most} interfaces of EFA"
    else:
        return
    tag.warning(
        "placement-scaling-tag", "tag.value",
        f"a node of {group.name} has {words}, and the autoscaler is told {told:g} of those to come",
        allowed=f"{most:g}" if most else "no such tag",
    )  # fmt: skip


def _may_be_shared(stack: Stack, group: View) -> bool:
    """Whether pods may take turns on GPUs: not where the stack's own plugin is told nothing of it."""
    releases = [one for one in stack.of_type(HELM_RELEASE) if chart_of(one.resource) in (_PLUGIN, _OPERATOR)]
    return (group.text("amiType") or "").startswith("BOTTLEROCKET") or not (
        len(releases) == 1
        and chart_of(releases[0].resource) == _PLUGIN
        and not releases[0].is_unknown("values")
        and releases[0].lacks("values.config")
        and not releases[0].has("valueYamlFiles")
        and releases[0].text("values.migStrategy") in (None, "none")
    )


def _adapters(stack: Stack) -> None:
    """A group from zero whose nodes have EFA: of that the autoscaler learns by a tag alone, of GPUs by the type."""
    if any(
        tag.is_unknown("autoscalingGroupName") or tag.is_unknown("tag.key") for tag in stack.of_type(AUTOSCALING_TAG)
    ):
        return
    key = f"{TEMPLATE}resources/{EFA_RESOURCE}"
    told = {tag.text("autoscalingGroupName") for tag in stack.of_type(AUTOSCALING_TAG) if tag.text("tag.key") == key}
    for group in stack.of_type(EKS_NODE_GROUP):
        names = names_of(group)
        template = group.referred("launchTemplate.id", LAUNCH_TEMPLATE)
        if template is None or not names or group.number("scalingConfig.minSize") != 0:
            continue
        kinds = {one.get("interfaceType") for _, one in template.items("networkInterfaces")}
        if kinds & set(EFA_INTERFACES) and not told & set(names):
            group.warning(
                "placement-scaling-tag", "launchTemplate",
                f"its nodes have EFA, and no tag of its group tells the autoscaler: with no node there, it starts none "
                f"for pods that ask for {EFA_RESOURCE}", allowed=f"a tag {key} with the number of interfaces",
            )  # fmt: skip


def _own_groups(stack: Stack) -> None:
    """A group of nodes that EKS does not manage, and so does not tag for the autoscaler."""
    for group in stack.of_type(AUTOSCALING_GROUP):
        tags = {str(one.get("key")) for _, one in group.items("tags")}
        least, most = group.number("minSize"), group.number("maxSize")
        of_a_cluster = any(_OF_CLUSTER.fullmatch(key) for key in tags)
        known = not group.blurred("tags") and not any(
            tag.text("tag.key") in (None, _ENABLED) and tag.text("autoscalingGroupName") in (None, group.resource.id)
            for tag in stack.of_type(AUTOSCALING_TAG)
        )
        if of_a_cluster and known and _ENABLED not in tags and least is not None and most is not None and least < most:
            group.warning(
                "placement-scaling-tag", "tags",
                f"has {least:g} to {most:g} nodes and no tag {_ENABLED}: the autoscaler does not find it",
                allowed=f"{_ENABLED} and k8s.io/cluster-autoscaler/CLUSTER",
            )  # fmt: skip


def names_of(group: View) -> list[str]:
    """The Auto Scaling groups of a node group, as EKS says them."""
    found = follow(group.resource.outputs, "resources")
    first = found[0] if isinstance(found, list) and found else None
    names = follow(first, "autoscalingGroups")
    return [
        name for entry in (names if isinstance(names, list) else ()) if isinstance(name := follow(entry, "name"), str)
    ]


def _label(tag: View, group: View, name: str, value: str) -> None:
    given = group.mapping("labels").get(name)
    if not group.blurred("labels") and isinstance(given, str) and given != value:
        tag.warning(
            "placement-scaling-tag", "tag.value",
            f"nodes of {group.name} have {name}={given}, and the autoscaler is told {show(value)} of those to come",
            allowed=given,
        )  # fmt: skip


def _taint(tag: View, group: View, name: str, value: str) -> None:
    if group.is_unknown("taints") or group.blurred("taints"):
        return
    taints = {
        str(entry.get("key")): f"{entry.get('value') or ''}:{EFFECTS.get(str(entry.get('effect')), '')}"
        for _, entry in group.items("taints")
    }
    given = taints.get(name)
    if given is None or given != value:
        tag.warning(
            "placement-scaling-tag", "tag.value",
            f"nodes of {group.name} have {f'the taint {name}={given}' if given else f'no taint {name}'}, and the "
            f"autoscaler is told {show(value)} of those it might start",
            allowed=given or "no such tag",
        )  # fmt: skip
