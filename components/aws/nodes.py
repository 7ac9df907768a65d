"""What every managed node group has in common: how its machines start, and what the cluster autoscaler reads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws.autoscaling as autoscaling
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks
import pulumi_aws.eks.outputs as eks_outputs

from trainyard.components.aws.policy_documents import allow
from trainyard.conventions.aws import SESSION_AGENT_ACTIONS

ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"

LONGEST_NODE_GROUP_NAME = 55
"""Longest logical name of a node group, in characters: EKS takes 63 and Pulumi appends `-` and seven digits."""

_AUTOSCALER = "k8s.io/cluster-autoscaler"
TAINT_EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
}
"""What EKS calls the effects of Kubernetes."""

_OF_KUBERNETES = {theirs: effect for effect, theirs in TAINT_EFFECTS.items()}

# The rest of the disk is the file system's own and what the kubelet keeps back for eviction.
USABLE_LOCAL_STORAGE = 0.9


def agent_sessions() -> dict[str, Any]:
    """The statement by which the agent of Session Manager on an instance asks for sessions."""
    return allow("Sessions", SESSION_AGENT_ACTIONS, ["*"])


def metadata_options() -> ec2.LaunchTemplateMetadataOptionsArgsDict:
    """IMDSv2 only, and one hop: pods cannot reach the node's credentials, and with Pod Identity need not."""
    return {"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1}


def root_volume(size_gib: int, key_arn: pulumi.Input[str]) -> ec2.LaunchTemplateBlockDeviceMappingArgsDict:
    """The root volume of an Amazon Linux 2023 node: gp3, encrypted with the environment's key."""
    return {
        "device_name": "/dev/xvda",
        "ebs": {
            "volume_size": size_gib,
            "volume_type": "gp3",
            "encrypted": "true",
            "kms_key_id": key_arn,
            "delete_on_termination": "true",
        },
    }


def tag_specifications(
    name: str, tags: Mapping[str, pulumi.Input[str]]
) -> list[ec2.LaunchTemplateTagSpecificationArgsDict]:
    """The environment's tags on what an Auto Scaling group makes: no provider's default tags reach it.

    Only tags that last: another value is another version of the launch template, and EKS then ends every node of the
    group to start it anew. What may change is for `hand_on_tags`.
    """
    return [
        {"resource_type": kind, "tags": {"Name": name, **tags}} for kind in ("instance", "volume", "network-interface")
    ]


def node_template_tags(
    labels: Mapping[str, str], taints: Sequence[eks.NodeGroupTaintArgsDict], resources: Mapping[str, str]
) -> dict[str, str]:
    """What the autoscaler must be told of a node group that has no node to look at (chart 9.59.0).

    `resources` are extended resources and ephemeral storage, as Kubernetes quantities; it knows CPU and memory.
    """
    template = f"{_AUTOSCALER}/node-template"
    tags = {f"{template}/label/{key}": value for key, value in labels.items()}
    for taint in taints:
        tags[f"{template}/taint/{taint['key']}"] = f"{taint.get('value', '')}:{_OF_KUBERNETES[str(taint['effect'])]}"
    tags.update({f"{template}/resources/{key}": value for key, value in resources.items()})
    return tags


def autoscaler_tags(cluster_name: str, template: Mapping[str, str]) -> dict[str, str]:
    """Discovery tags of a node group, and its node template."""
    return {f"{_AUTOSCALER}/enabled": "true", f"{_AUTOSCALER}/{cluster_name}": "owned", **template}


def autoscaling_group_name(node_group: eks.NodeGroup) -> pulumi.Output[str]:
    """Name of the Auto Scaling group that EKS made; unknown until the node group stands."""

    def first(resources: Sequence["eks_outputs.NodeGroupResource"]) -> str:
        names = [group.name for resource in resources for group in resource.autoscaling_groups or () if group.name]
        if not names:
            raise LookupError("EKS reported a node group without an Auto Scaling group")
        return names[0]

    return node_group.resources.apply(first)


def tag_autoscaling_group(
    name: str,
    node_group: eks.NodeGroup,
    cluster_name: pulumi.Input[str],
    template: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> list[autoscaling.Tag]:
    """Puts the autoscaler's tags on the Auto Scaling group itself.

    The autoscaler discovers groups by these, and asks EKS about labels and taints only while a group has never had
    a node. They are made whatever the group's name, which is unknown at the first preview. Not propagated to
    instances: they describe the group.
    """
    group_name = autoscaling_group_name(node_group)
    tags: Iterable[tuple[str, pulumi.Input[str], str]] = [
        ("enabled", f"{_AUTOSCALER}/enabled", "true"),
        ("cluster", pulumi.Output.concat(f"{_AUTOSCALER}/", cluster_name), "owned"),
        *((_slug(key.removeprefix(f"{_AUTOSCALER}/node-template/")), key, value) for key, value in template.items()),
    ]
    return [
        autoscaling.Tag(
            f"{name}-{suffix}",
            autoscaling_group_name=group_name,
            tag={"key": key, "value": value, "propagate_at_launch": False},
            opts=opts,
        )
        for suffix, key, value in tags
    ]


def hand_on_tags(
    name: str, node_group: eks.NodeGroup, tags: Mapping[str, pulumi.Input[str]], opts: pulumi.ResourceOptions
) -> list[autoscaling.Tag]:
    """Tags that may change, on the Auto Scaling group, which hands them to every instance that it starts from then on.

    Changing one changes a tag and no launch template, so no node goes. Auto Scaling tags no volumes: those are told
    apart by the tags that last.
    """
    group_name = autoscaling_group_name(node_group)
    return [
        autoscaling.Tag(
            f"{name}-tag-{_slug(key)}",
            autoscaling_group_name=group_name,
            tag={"key": key, "value": value, "propagate_at_launch": True},
            opts=opts,
        )
        for key, value in tags.items()
    ]


def check_node_group_name(name: str) -> None:
    """Raises ValueError for a logical name that EKS refuses once Pulumi has put its suffix on."""
    if len(name) > LONGEST_NODE_GROUP_NAME:
        raise ValueError(
            f"node group {name!r}: {len(name)} characters, a node group's name holds at most {LONGEST_NODE_GROUP_NAME}"
        )


def _slug(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
