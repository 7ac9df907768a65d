"""What only AWS needs on its cluster: autoscaler, storage drivers, the fabric's plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from trainyard.components.aws.identity import PodRole
from trainyard.components.aws.on_cluster.autoscaler import ClusterAutoscaler
from trainyard.components.aws.on_cluster.block_storage import BlockStorage
from trainyard.components.aws.on_cluster.drivers import StorageDrivers, StorageDriversArgs
from trainyard.components.aws.on_cluster.fabric import efa_device_plugin
from trainyard.components.aws.on_cluster.team_logs import TeamLogGroup, TeamLogs
from trainyard.components.k8s.gpu import DevicePluginArgs
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.conventions import STANDING
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.ground import chart, resource_prefix


@dataclass(frozen=True)
class OnCluster:
    """What was made on the cluster for AWS alone."""

    drivers: StorageDrivers
    ready: list[pulumi.Resource]
    """The resources that a job waits for."""
    block_storage_class: pulumi.Output[str] | None
    """The StorageClass of the platform's own volumes, where there are any."""


def build(
    plan: Plan[AwsPlan],
    planned: ClusterPlan,
    *,
    providers: Sequence[pulumi.ProviderResource],
    node_groups: Mapping[str, pulumi.Output[str]],
    log_group: TeamLogGroup | None,
    addresses: AddressesArgs,
    roles: Mapping[str, PodRole],
    volume_key: pulumi.Input[str],
) -> OnCluster:
    """Makes it. `node_groups` are the names of the GPU node groups in EKS by their names in the plan; `roles` those of
    pods by workload."""
    prefix = resource_prefix(plan, planned)

    def after(*waited_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(providers=list(providers), depends_on=list(waited_for))

    scaler = ClusterAutoscaler(
        f"{prefix}autoscaler",
        {
            "chart": chart(plan, "cluster-autoscaler"),
            "cluster_name": planned.name,
            "image_tag": plan.ground.control_plane(planned.name).autoscaler_image_tag,
            "region": plan.ground.region,
            "scale_down_after_minutes": planned.scheduling.scale_down_after_minutes,
            "node_groups": {
                capacity: [node_groups[group.name] for group in planned.node_groups if group.capacity == capacity]
                for capacity in STANDING
            },
        },
        after(roles["autoscaler"]),
    )
    drivers = StorageDrivers(
        f"{prefix}drivers",
        _drivers(plan, addresses),
        after(*(roles[driver] for driver in ("fsx-driver", "efs-driver", "efs-mounts") if driver in roles)),
    )
    if log_group is not None:
        TeamLogs(
            f"{prefix}team-logs",
            {
                "namespaces": [team.namespace for team in planned.teams],
                "log_group_name": log_group.log_group_name,
                "region": plan.ground.region,
                "image": plan.core.pins.image("fluent-bit"),
            },
            after(roles["team-logs"]),
        )
    blocks: BlockStorage | None = None
    if planned.monitoring is not None:
        blocks = BlockStorage(f"{prefix}blocks", {"key_arn": volume_key, "tags": dict(plan.core.tags)}, after())
    return OnCluster(drivers, [scaler], blocks.storage_class if blocks else None)


def _drivers(plan: Plan[AwsPlan], addresses: AddressesArgs) -> StorageDriversArgs:
    args: StorageDriversArgs = {
        "region": plan.ground.region,
        "s3_chart": chart(plan, "aws-mountpoint-s3-csi-driver"),
        "addresses": addresses,
    }
    if plan.ground.lustre is not None:
        args["fsx_chart"] = chart(plan, "aws-fsx-csi-driver")
    if plan.ground.shared_file_system:
        args["efs_chart"] = chart(plan, "aws-efs-csi-driver")
    return args


def device_plugins(plan: Plan[AwsPlan], planned: ClusterPlan) -> list[DevicePluginArgs]:
    """The plugin of the Elastic Fabric Adapters, where a pool has any."""
    on_fabric = [group for pool in planned.pools if pool.node.fabric for group in pool.node_groups]
    types = {kind for group in on_fabric for kind in group.instance_types}
    if not types:
        return []
    return [efa_device_plugin(plan.ground.region, sorted(types), chart(plan, "aws-efa-k8s-device-plugin"))]
