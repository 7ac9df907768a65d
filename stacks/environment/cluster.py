"""What runs on the cluster: from the plan and a `CloudLayer` to the components of `trainyard.components.k8s`."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from trainyard.components.k8s.autoscaler import ClusterAutoscaler
from trainyard.components.k8s.charts import ChartArgs
from trainyard.components.k8s.drivers import StorageDrivers, StorageDriversArgs
from trainyard.components.k8s.gpu import GpuEnablement, GpuEnablementArgs
from trainyard.components.k8s.kueue import Kueue
from trainyard.components.k8s.lustre_folders import LustreFolders
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.mlflow_pod import PORT as MLFLOW_PORT
from trainyard.components.k8s.runtimes import TrainingRuntimes
from trainyard.components.k8s.teams import TeamNamespaces, TeamNamespacesArgs
from trainyard.components.k8s.volumes import TeamVolumes, TeamVolumesArgs
from trainyard.conventions import CAPACITIES
from trainyard.plan.parts import ClusterPlan, NodeGroupPlan, Plan
from trainyard.stacks.environment.aws import ARTIFACTS_PREFIX, MLFLOW_NAMESPACE, CloudLayer
from trainyard.stacks.environment.smoke import smoke_jobs


@dataclass(frozen=True)
class Workloads:
    """What the stack's outputs need of the workloads."""

    tracking_uri: pulumi.Output[str] | None
    queues: dict[str, pulumi.Output[str]]
    """Name of the LocalQueue, by team."""
    smoke_jobs: dict[str, pulumi.Output[str]]
    """Name of the smoke job, by node group; empty where the settings turn it off."""


def build(plan: Plan, cloud: CloudLayer) -> Workloads:
    """Makes the cluster-side half of the environment."""
    (planned,) = plan.clusters
    on_cluster = pulumi.ResourceOptions(providers=cloud.providers)

    def with_roles(*workloads: str) -> pulumi.ResourceOptions:
        # A pod that starts before its role's association runs without rights until somebody restarts it.
        roles = [cloud.pod_roles[workload] for workload in workloads if workload in cloud.pod_roles]
        return pulumi.ResourceOptions(providers=cloud.providers, depends_on=roles)

    scaler = _autoscaler(plan, planned, cloud, with_roles("autoscaler"))
    gpu = _gpu_enablement(plan, planned, on_cluster)
    teams = _teams(plan, planned, with_roles(*(f"team-{team.name}" for team in planned.teams)))
    drivers = _storage_drivers(plan, with_roles("fsx-driver", "efs-driver"))
    with_drivers = pulumi.ResourceOptions(providers=cloud.providers, depends_on=drivers.releases)
    volumes = _volumes(plan, cloud, teams, with_drivers)
    folders = _lustre_folders(plan, cloud, with_drivers)
    queues = _queues(plan, planned, teams, on_cluster)
    TrainingRuntimes(
        "runtimes",
        {
            "jobset_chart": _chart(plan, "jobset"),
            "trainer_chart": _chart(plan, "kubeflow-trainer"),
            "image": plan.core.pins.image("pytorch"),
            "mounts": dict(planned.smoke.mounts),
        },
        on_cluster,
    )
    server = _mlflow(plan, cloud, teams, with_roles("mlflow"))
    # A smoke job needs what a user's job needs.
    needs = [part for part in (scaler, gpu, teams, volumes, folders, queues, server) if part is not None]
    return Workloads(
        tracking_uri=server.tracking_uri if server else None,
        queues=queues.local_queues,
        smoke_jobs=smoke_jobs(plan, planned, cloud, teams, needs),
    )


def _chart(plan: Plan, name: str) -> ChartArgs:
    pin = plan.core.pins.chart(name)
    return {"chart": pin.chart, "version": pin.version, "repository": pin.repository}


def _autoscaler(plan: Plan, planned: ClusterPlan, cloud: CloudLayer, opts: pulumi.ResourceOptions) -> ClusterAutoscaler:
    return ClusterAutoscaler(
        "autoscaler",
        {
            "chart": _chart(plan, "cluster-autoscaler"),
            "cluster_name": cloud.cluster_name,
            "image_tag": planned.control_plane.autoscaler_image_tag,
            "region": plan.ground.region,
            "node_groups": {
                capacity: [
                    cloud.gpu_node_groups[group.name] for group in planned.node_groups if group.capacity == capacity
                ]
                for capacity in CAPACITIES
            },
        },
        opts,
    )


def _gpu_enablement(plan: Plan, planned: ClusterPlan, opts: pulumi.ResourceOptions) -> GpuEnablement:
    with_fabric = sorted(
        {kind for pool in planned.pools if pool.node.fabric for kind in _instance_types(pool.node_groups)}
    )
    args: GpuEnablementArgs = {
        "region": plan.ground.region,
        "pools": [pool.name for pool in planned.pools],
        "efa_instance_types": with_fabric,
        "device_plugin_chart": _chart(plan, "nvidia-device-plugin"),
        "dcgm_exporter_chart": _chart(plan, "dcgm-exporter"),
    }
    if with_fabric:
        args["efa_plugin_chart"] = _chart(plan, "aws-efa-k8s-device-plugin")
    return GpuEnablement("gpu", args, opts)


def _instance_types(groups: tuple[NodeGroupPlan, ...]) -> set[str]:
    return {kind for group in groups for kind in group.instance_types}


def _teams(plan: Plan, planned: ClusterPlan, opts: pulumi.ResourceOptions) -> TeamNamespaces:
    args: TeamNamespacesArgs = {
        "teams": [
            {
                "name": team.name,
                "namespace": team.namespace,
                "cpu_limit": team.cpu_limit,
                "memory_limit_gib": team.memory_limit_gib,
                "pods": team.pods,
            }
            for team in planned.teams
        ]
    }
    if plan.core.mlflow.enabled:
        args["mlflow"] = {"namespace": MLFLOW_NAMESPACE, "port": MLFLOW_PORT}
    return TeamNamespaces("teams", args, opts)


def _storage_drivers(plan: Plan, opts: pulumi.ResourceOptions) -> StorageDrivers:
    args: StorageDriversArgs = {"region": plan.ground.region, "s3_chart": _chart(plan, "aws-mountpoint-s3-csi-driver")}
    if plan.ground.lustre is not None:
        args["fsx_chart"] = _chart(plan, "aws-fsx-csi-driver")
    if plan.ground.shared_file_system:
        args["efs_chart"] = _chart(plan, "aws-efs-csi-driver")
    return StorageDrivers("drivers", args, opts)


def _volumes(plan: Plan, cloud: CloudLayer, teams: TeamNamespaces, opts: pulumi.ResourceOptions) -> TeamVolumes:
    args: TeamVolumesArgs = {
        "teams": [{"name": team.name, "namespace": teams.namespaces[team.name]} for team in plan.core.teams],
        "region": plan.ground.region,
        "checkpoints_bucket": cloud.checkpoints_bucket,
    }
    if cloud.lustre is not None:
        args["lustre"] = cloud.lustre
    else:
        args["data_bucket"] = cloud.data_bucket
    if cloud.shared is not None:
        args["shared"] = cloud.shared
    return TeamVolumes("volumes", args, opts)


def _lustre_folders(plan: Plan, cloud: CloudLayer, opts: pulumi.ResourceOptions) -> LustreFolders | None:
    if cloud.lustre is None:
        return None
    return LustreFolders(
        "lustre-folders",
        {
            "lustre": cloud.lustre,
            "teams": [team.name for team in plan.core.teams],
            "image": plan.core.pins.image("pytorch"),
        },
        opts,
    )


def _queues(plan: Plan, planned: ClusterPlan, teams: TeamNamespaces, opts: pulumi.ResourceOptions) -> Kueue:
    return Kueue(
        "kueue",
        {
            "chart": _chart(plan, "kueue"),
            "cohort": planned.scheduling.cohort,
            "flavors": [
                {"name": flavor.name, "capacity": flavor.capacity, "node_labels": dict(flavor.node_labels)}
                for flavor in planned.scheduling.flavors
            ],
            "queues": [
                {
                    "team": team.name,
                    "namespace": teams.namespaces[team.name],
                    "cluster_queue": team.cluster_queue,
                    "local_queue": team.local_queue,
                    "quotas": [{"flavor": quota.flavor, "gpus": quota.gpus} for quota in team.quotas],
                }
                for team in planned.teams
            ],
            "priorities": [
                {"name": priority.name, "value": priority.value, "description": priority.description}
                for priority in planned.scheduling.priorities
            ],
            "pods_ready_timeout_minutes": planned.scheduling.pods_ready_timeout_minutes,
            "requeue_limit": planned.scheduling.requeue_limit,
        },
        opts,
    )


def _mlflow(plan: Plan, cloud: CloudLayer, teams: TeamNamespaces, opts: pulumi.ResourceOptions) -> MlflowServer | None:
    if cloud.database is None:
        return None
    return MlflowServer(
        "mlflow",
        {
            "namespace": MLFLOW_NAMESPACE,
            "image": plan.core.pins.image("mlflow"),
            "replicas": plan.core.mlflow.replicas,
            "workers": plan.core.mlflow.workers,
            "cpu": plan.core.mlflow.cpu,
            "memory": plan.core.mlflow.memory,
            "database": cloud.database,
            "database_cidrs": [zone.isolated_cidr for zone in plan.ground.network.zones],
            "artifacts_bucket": cloud.artifacts_bucket,
            "artifacts_prefix": ARTIFACTS_PREFIX,
            "region": plan.ground.region,
            "team_namespaces": {team.name: teams.namespaces[team.name] for team in plan.core.teams},
        },
        opts,
    )
