"""The node groups without GPUs: the platform's own, and those of people's pods.

The platform's nodes have a taint, so that no pod of a team's runs beside what admits, counts and records it. People's
pods need nothing to get to theirs, which have none, and which start when the first of them waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import pulumi
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks

from trainyard.components.aws import nodes
from trainyard.conventions import CPU_NODES, CPU_POOL, SYSTEM_NODES, SYSTEM_POOL, SYSTEM_TAINT


class SystemNodesArgs(TypedDict):
    """The CPU nodes of the platform's own pods. They have a taint, `CriticalAddonsOnly=true:NoSchedule`."""

    instance_types: Sequence[str]
    """Instance types (x86-64) of the nodes, the first preferred."""
    min_nodes: int
    """Nodes that always run, and that it starts with; at least 1."""
    max_nodes: int
    """Nodes that the autoscaler may go up to."""
    disk_gib: int
    """Size of a node's root volume, GiB."""


class CpuPoolArgs(TypedDict):
    """The CPU nodes of people's pods without GPUs, which the label `ml.platform/pool: cpu` selects."""

    instance_types: Sequence[str]
    """Instance types (x86-64) of the nodes, the first preferred."""
    min_nodes: int
    """Nodes that always run, and that it starts with; 0 starts the first when a pod waits for it."""
    max_nodes: int
    """Nodes that the autoscaler may go up to."""
    disk_gib: int
    """Size of a node's root volume, GiB."""


def check_size(what: str, args: SystemNodesArgs | CpuPoolArgs, fewest: int) -> None:
    """Raises ValueError, naming `what`, for a range of nodes that cannot be, or that begins below the fewest."""
    least, most = args["min_nodes"], args["max_nodes"]
    if not fewest <= least <= most or most < 1:
        raise ValueError(f"{what}: {least} to {most} nodes; the minimum is {fewest} or more, the maximum no less")


@dataclass(frozen=True, kw_only=True)
class _Group:
    """What tells the two node groups apart."""

    pool: str
    description: str
    labels: Mapping[str, str]
    taints: Sequence[eks.NodeGroupTaintArgsDict]
    template: Mapping[str, str]  # what the autoscaler is told of a node while there is none


class CpuNodeGroups:
    """Makes the node groups without GPUs of one cluster, as children of the component in `opts`."""

    def __init__(
        self,
        name: str,
        *,
        cluster_name: pulumi.Output[str],
        security_group_id: pulumi.Input[str],
        kubernetes_version: pulumi.Input[str],
        node_release: pulumi.Input[str] | None,
        node_role_arn: pulumi.Input[str],
        subnet_ids: Sequence[pulumi.Input[str]],
        key_arn: pulumi.Input[str],
        tags: Mapping[str, pulumi.Input[str]],
        changing_tags: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions,
    ) -> None:
        self._name = name
        self._cluster_name = cluster_name
        self._security_group_id = security_group_id
        self._version = kubernetes_version
        self._release = node_release
        self._role = node_role_arn
        self._subnets = list(subnet_ids)
        self._key = key_arn
        self._tags = tags
        self._changing_tags = changing_tags
        self._after = opts
        self._child = pulumi.ResourceOptions(parent=opts.parent)

    def system(self, args: SystemNodesArgs) -> eks.NodeGroup:
        """The platform's own. There is always one to look at, so the autoscaler is told nothing."""
        taint: eks.NodeGroupTaintArgsDict = {
            "key": SYSTEM_TAINT["key"],
            "value": SYSTEM_TAINT["value"],
            "effect": nodes.TAINT_EFFECTS[SYSTEM_TAINT["effect"]],
        }
        group = _Group(
            pool=SYSTEM_POOL,
            description="System nodes: the platform's own pods",
            labels=SYSTEM_NODES,
            taints=[taint],
            template={},
        )
        return self._make(group, args)

    def cpu_pool(self, args: CpuPoolArgs) -> eks.NodeGroup:
        """People's, without a taint."""
        scratch = {"ephemeral-storage": f"{int(args['disk_gib'] * nodes.USABLE_LOCAL_STORAGE)}Gi"}
        group = _Group(
            pool=CPU_POOL,
            description="CPU pool: people's pods without GPUs",
            labels=CPU_NODES,
            taints=[],
            template=nodes.node_template_tags(CPU_NODES, [], scratch),
        )
        return self._make(group, args)

    def _make(self, group: _Group, args: SystemNodesArgs | CpuPoolArgs) -> eks.NodeGroup:
        full_name = f"{self._name}-{group.pool}"
        nodes.check_node_group_name(full_name)
        launch = ec2.LaunchTemplate(
            f"{full_name}-template",
            description=group.description,
            update_default_version=True,
            vpc_security_group_ids=[self._security_group_id],
            block_device_mappings=[nodes.root_volume(args["disk_gib"], self._key)],
            metadata_options=nodes.metadata_options(),
            monitoring={"enabled": True},
            tag_specifications=nodes.tag_specifications(full_name, self._tags),
            opts=self._child,
        )
        made = eks.NodeGroup(
            full_name,
            cluster_name=self._cluster_name,
            node_role_arn=self._role,
            subnet_ids=self._subnets,
            version=self._version,
            release_version=self._release,
            ami_type="AL2023_x86_64_STANDARD",
            capacity_type="ON_DEMAND",
            instance_types=list(args["instance_types"]),
            launch_template={"id": launch.id, "version": launch.latest_version.apply(str)},
            scaling_config={
                "desired_size": args["min_nodes"],
                "max_size": args["max_nodes"],
                "min_size": args["min_nodes"],
            },
            update_config={"max_unavailable": 1},
            node_repair_config={"enabled": True},
            labels=dict(group.labels),
            taints=list(group.taints) or None,
            tags=self._cluster_name.apply(lambda known: nodes.autoscaler_tags(known, group.template)),
            opts=pulumi.ResourceOptions.merge(
                self._after, pulumi.ResourceOptions(ignore_changes=["scalingConfig.desiredSize"])
            ),
        )
        nodes.tag_autoscaling_group(full_name, made, self._cluster_name, group.template, self._child)
        nodes.hand_on_tags(full_name, made, self._changing_tags, self._child)
        return made
