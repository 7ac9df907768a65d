"""What tags of an Auto Scaling group tell the cluster autoscaler of its nodes, against what the nodes will be.

Of a group with no node the autoscaler reckons with its tags (cluster-autoscaler, cloudprovider/aws, "Auto-Discovery
Setup", 2026-11): with wrong ones it starts nodes for pods that they do not take, or none for those that they would.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import follow
from trainyard.recorded.taints import EFFECTS
from trainyard.rehearsal.context import Stack, View, show

TAG: Final = "aws:autoscaling/tag:Tag"
_TEMPLATE: Final = "k8s.io/cluster-autoscaler/node-template/"


def check_tags(stack: Stack) -> None:
    """A label or a taint in a tag that the nodes of the group will not have."""
    groups = {name: group for group in stack.of_type(EKS_NODE_GROUP) for name in _names(group)}
    for tag in stack.of_type(TAG):
        key, value = tag.text("tag.key"), tag.text("tag.value")
        group = groups.get(tag.text("autoscalingGroupName") or "")
        if group is None or key is None or value is None or not key.startswith(_TEMPLATE):
            continue
        kind, _, name = key.removeprefix(_TEMPLATE).partition("/")
        if kind == "label":
            _label(tag, group, name, value)
        elif kind == "taint":
            _taint(tag, group, name, value)


def _names(group: View) -> list[str]:
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
