"""GPU node groups: a managed node group and its launch template for each pool in each capacity.

A pool is one kind of node; it is bought reserved (an On-Demand Capacity Reservation or a Capacity Block), as spot and
on demand, one node group each, which the queues try in that order. Every group can shrink to nothing: the autoscaler
learns from tags what a node of it would offer.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.autoscaling as autoscaling
import pulumi_aws.ec2 as ec2
import pulumi_aws.eks as eks
import pulumi_aws.vpc as vpc

from trainyard.components.aws import gpu_launch as launch
from trainyard.components.aws import nodes
from trainyard.components.outputs import register


class GpuNodeGroupsArgs(TypedDict):
    """What `GpuNodeGroups` needs."""

    cluster_name: pulumi.Input[str]
    """Name of the EKS cluster that the nodes join."""
    cluster_security_group_id: pulumi.Input[str]
    """The security group that EKS made for the cluster: nodes and control plane talk within it."""
    kubernetes_version: pulumi.Input[str]
    """Version of the nodes, such as `1.35`."""
    node_release: NotRequired[pulumi.Input[str]]
    """Release of the nodes' image, such as `1.35.6-20260714`. Default: the newest, whenever a launch template
    changes."""
    node_role_arn: pulumi.Input[str]
    """ARN of the IAM role of the nodes."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC, for the security group of the fabric."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Zone name to the id of its private subnet."""
    key_arn: pulumi.Input[str]
    """KMS key of the root volumes; its policy must admit Auto Scaling."""
    pools: Sequence[launch.GpuPoolArgs]
    """The GPU pools. Plain values: they name resources."""
    tags: Mapping[str, pulumi.Input[str]]
    """Tags of the instances, volumes and interfaces that the groups make. Another value of one starts every node
    anew."""
    changing_tags: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Tags of the instances that may change, such as `owner`: nodes that run keep what they have. Default: none."""


class GpuNodeGroups(pulumi.ComponentResource):
    """Node groups of all pools; `opts.depends_on` (what nodes need of the cluster) reaches each of them."""

    node_group_names: dict[str, pulumi.Output[str]]
    """Name of each node group in EKS by its own name, in the pools' order."""
    node_images: dict[str, pulumi.Output[str]]
    """What a new node of each node group starts with, by the group's own name: "1.35.2-20260714, template 3"."""
    efa_security_group_id: pulumi.Output[str] | None
    """Security group of the fabric; None when no pool has one."""

    def __init__(self, name: str, args: GpuNodeGroupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError, naming the node group, for what `gpu_launch.check_node_group` refuses, for a zone
        without a subnet and for a name that is used twice or too long."""
        super().__init__("trainyard:index:GpuNodeGroups", name, None, opts)
        self._name = name
        self._args = args
        # A component's children do not inherit its depends_on.
        self._wait_for = opts.depends_on if opts is not None else None
        self.node_group_names, self.node_images = {}, {}
        fabric = any(pool["efa_interfaces"] > 0 for pool in args["pools"])
        self._fabric_group = self._make_fabric_group() if fabric else None
        self.efa_security_group_id = self._fabric_group.id if self._fabric_group is not None else None
        for pool in args["pools"]:
            for group in pool["node_groups"]:
                if group["name"] in self.node_group_names:
                    raise ValueError(f"node group {group['name']!r}: two pools have a group of this name")
                launch.check_node_group(pool, group)
                made = self._make_node_group(pool, group)
                self.node_group_names[group["name"]] = made.node_group_name
                self.node_images[group["name"]] = _node_image(made)
        register(self)

    def _make_fabric_group(self) -> ec2.SecurityGroup:
        """The adapters' own group. Their traffic bypasses the kernel, and passes only between members of a group
        that allows everything to and from itself."""
        group = ec2.SecurityGroup(
            f"{self._name}-efa",
            vpc_id=self._args["vpc_id"],
            description="Elastic Fabric Adapters of the GPU nodes: everything among themselves",
            tags={"Name": f"{self._name}-efa"},
            opts=pulumi.ResourceOptions(parent=self),
        )
        vpc.SecurityGroupIngressRule(
            f"{self._name}-efa-in",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol="-1",
            description="Fabric traffic from other GPU nodes",
            opts=pulumi.ResourceOptions(parent=self),
        )
        vpc.SecurityGroupEgressRule(
            f"{self._name}-efa-out",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol="-1",
            description="Fabric traffic to other GPU nodes",
            opts=pulumi.ResourceOptions(parent=self),
        )
        return group

    def _make_launch_template(
        self, pool: launch.GpuPoolArgs, group: launch.GpuNodeGroupArgs, full_name: str
    ) -> ec2.LaunchTemplate:
        cluster_group = self._args["cluster_security_group_id"]
        capacity_block = launch.in_capacity_block(group)
        interfaces = None
        if self._fabric_group is not None and pool["efa_interfaces"] > 0:
            interfaces = launch.network_interfaces(pool, [cluster_group, self._fabric_group.id])
        placement: ec2.LaunchTemplatePlacementArgsDict | None = None
        if group["placement_group"]:
            packed = ec2.PlacementGroup(
                f"{full_name}-placement", strategy="cluster", opts=pulumi.ResourceOptions(parent=self)
            )
            placement = {"group_name": packed.name}
        # No image: the node group's AMI type chooses it, and keeps it in step with the Kubernetes version.
        return ec2.LaunchTemplate(
            f"{full_name}-template",
            description=f"{group['capacity']} nodes of pool {pool['name']}",
            update_default_version=True,
            instance_type=group["instance_types"][0] if capacity_block else None,
            instance_market_options={"market_type": "capacity-block"} if capacity_block else None,
            capacity_reservation_specification=launch.capacity_reservation(group),
            placement=placement,
            network_interfaces=interfaces,
            vpc_security_group_ids=[cluster_group] if interfaces is None else None,
            block_device_mappings=[nodes.root_volume(pool["root_disk_gib"], self._args["key_arn"])],
            metadata_options=nodes.metadata_options(),
            monitoring={"enabled": True},
            user_data=launch.user_data(pool),
            tag_specifications=nodes.tag_specifications(full_name, self._args["tags"]),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _make_node_group(self, pool: launch.GpuPoolArgs, group: launch.GpuNodeGroupArgs) -> eks.NodeGroup:
        full_name = f"{self._name}-{group['name']}"
        nodes.check_node_group_name(full_name)
        cluster_name = self._args["cluster_name"]
        labels, taints = launch.node_labels(pool, group), launch.node_taints(group)
        node_template = nodes.node_template_tags(labels, taints, launch.node_resources(pool))
        template = self._make_launch_template(pool, group, full_name)
        node_group = eks.NodeGroup(
            full_name,
            cluster_name=cluster_name,
            node_role_arn=self._args["node_role_arn"],
            subnet_ids=[self._subnet_id(group, zone) for zone in group["zones"]],
            version=self._args["kubernetes_version"],
            release_version=self._args.get("node_release"),
            ami_type="AL2023_x86_64_NVIDIA",
            capacity_type=launch.capacity_type(group),
            # A Capacity Block's type stands in the launch template, and EKS refuses it in both places.
            instance_types=None if launch.in_capacity_block(group) else list(group["instance_types"]),
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config={
                "desired_size": group["min_nodes"],
                "max_size": group["max_nodes"],
                "min_size": group["min_nodes"],
            },
            # There is no spare GPU node to start first: end the old one, then start the new one, one at a time.
            update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            node_repair_config={"enabled": True, "max_parallel_nodes_repaired_count": 1},
            labels=labels,
            taints=taints,
            tags=pulumi.Output.from_input(cluster_name).apply(
                lambda known: nodes.autoscaler_tags(known, node_template)
            ),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=self._wait_for, ignore_changes=["scalingConfig.desiredSize"]
            ),
        )
        child = pulumi.ResourceOptions(parent=self)
        nodes.tag_autoscaling_group(full_name, node_group, cluster_name, node_template, child)
        nodes.hand_on_tags(full_name, node_group, self._args.get("changing_tags", {}), child)
        self._empty_before_its_end(full_name, group, node_group)
        return node_group

    def _empty_before_its_end(self, name: str, group: launch.GpuNodeGroupArgs, node_group: eks.NodeGroup) -> None:
        """Takes away the nodes of a Capacity Block before AWS does, and lets none come again.

        Once it is past there is no such action: Auto Scaling forgets it and takes none that is over.
        """
        reservation = group.get("reservation")
        empty_at = reservation.get("empty_at", "") if reservation is not None else ""
        if not empty_at or datetime.fromisoformat(empty_at) <= datetime.now(UTC):
            return
        autoscaling.Schedule(
            f"{name}-end",
            scheduled_action_name="end-of-block",
            autoscaling_group_name=nodes.autoscaling_group_name(node_group),
            start_time=empty_at,
            min_size=0,
            max_size=0,
            desired_capacity=0,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _subnet_id(self, group: launch.GpuNodeGroupArgs, zone: str) -> pulumi.Input[str]:
        try:
            return self._args["subnet_ids"][zone]
        except KeyError:
            known = ", ".join(self._args["subnet_ids"])
            raise ValueError(f"node group {group['name']!r}: zone {zone!r} has no subnet; there are {known}") from None


def _node_image(group: eks.NodeGroup) -> pulumi.Output[str]:
    """Release of the image, which brings kernel, GPU driver and container runtime, and the launch template's version.

    EKS keeps a node group at its release until somebody updates it, and reports what it has; an update made outside of
    the engine is seen after a refresh.
    """
    template = group.launch_template.apply(lambda found: found.version if found else "")
    return pulumi.Output.format("{0}, template {1}", group.release_version, template)
