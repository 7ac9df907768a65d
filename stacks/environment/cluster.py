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
from trainyard.plan.model import NodeGroupPlan, Plan
from trainyard.plan.smoke import mounts
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
    on_cluster = pulumi.ResourceOptions(providers=cloud.providers)

    def with_roles(*workloads: str) -> pulumi.ResourceOptions:
        # A pod that starts before its role's association runs without rights until somebody restarts it.
        roles = [cloud.pod_roles[workload] for workload in workloads if workload in cloud.pod_roles]
        return pulumi.ResourceOptions(providers=cloud.providers, depends_on=roles)

    scaler = _autoscaler(plan, cloud, with_roles("autoscaler"))
    gpu = _gpu_enablement(plan, on_cluster)
    teams = _teams(plan, with_roles(*(f"team-{team.name}" for team in plan.teams)))
    drivers = _storage_drivers(plan, with_roles("fsx-driver", "efs-driver"))
    with_drivers = pulumi.ResourceOptions(providers=cloud.providers, depends_on=drivers.releases)
    volumes = _volumes(plan, cloud, teams, with_drivers)
    folders = _lustre_folders(plan, cloud, with_drivers)
    queues = _queues(plan, teams, on_cluster)
    TrainingRuntimes(
        "runtimes",
        {
            "jobset_chart": _chart(plan, "jobset"),
            "trainer_chart": _chart(plan, "kubeflow-trainer"),
            "image": plan.pins.image("pytorch"),
            "mounts": mounts(plan),
        },
        on_cluster,
    )
    server = _mlflow(plan, cloud, teams, with_roles("mlflow"))
    # A smoke job needs what a user's job needs.
    needs = [part for part in (scaler, gpu, teams, volumes, folders, queues, server) if part is not None]
    return Workloads(
        tracking_uri=server.tracking_uri if server else None,
        queues=queues.local_queues,
        smoke_jobs=smoke_jobs(plan, cloud, teams, needs),
    )


def _chart(plan: Plan, name: str) -> ChartArgs:
    pin = plan.pins.chart(name)
    return {"chart": pin.chart, "version": pin.version, "repository": pin.repository}


def _autoscaler(plan: Plan, cloud: CloudLayer, opts: pulumi.ResourceOptions) -> ClusterAutoscaler:
    return ClusterAutoscaler(
        "autoscaler",
        {
            "chart": _chart(plan, "cluster-autoscaler"),
            "cluster_name": cloud.cluster_name,
            "image_tag": plan.cluster.autoscaler_image_tag,
            "region": plan.region,
            "node_groups": {
                capacity: [
                    cloud.gpu_node_groups[group.name] for group in plan.node_groups if group.capacity == capacity
                ]
                for capacity in CAPACITIES
            },
        },
        opts,
    )


def _gpu_enablement(plan: Plan, opts: pulumi.ResourceOptions) -> GpuEnablement:
    with_fabric = sorted({kind for pool in plan.pools if pool.fabric for kind in _instance_types(pool.node_groups)})
    args: GpuEnablementArgs = {
        "region": plan.region,
        "pools": [pool.name for pool in plan.pools],
        "efa_instance_types": with_fabric,
        "device_plugin_chart": _chart(plan, "nvidia-device-plugin"),
        "dcgm_exporter_chart": _chart(plan, "dcgm-exporter"),
    }
    if with_fabric:
        args["efa_plugin_chart"] = _chart(plan, "aws-efa-k8s-device-plugin")
    return GpuEnablement("gpu", args, opts)


def _instance_types(groups: tuple[NodeGroupPlan, ...]) -> set[str]:
    return {kind for group in groups for kind in group.instance_types}


def _teams(plan: Plan, opts: pulumi.ResourceOptions) -> TeamNamespaces:
    args: TeamNamespacesArgs = {
        "teams": [
            {
                "name": team.name,
                "namespace": team.namespace,
                "cpu_limit": team.cpu_limit,
                "memory_limit_gib": team.memory_limit_gib,
                "pods": team.pods,
            }
            for team in plan.teams
        ]
    }
    if plan.mlflow.enabled:
        args["mlflow"] = {"namespace": MLFLOW_NAMESPACE, "port": MLFLOW_PORT}
    return TeamNamespaces("teams", args, opts)


def _storage_drivers(plan: Plan, opts: pulumi.ResourceOptions) -> StorageDrivers:
    args: StorageDriversArgs = {"region": plan.region, "s3_chart": _chart(plan, "aws-mountpoint-s3-csi-driver")}
    if plan.storage.lustre is not None:
        args["fsx_chart"] = _chart(plan, "aws-fsx-csi-driver")
    if plan.storage.shared_file_system:
        args["efs_chart"] = _chart(plan, "aws-efs-csi-driver")
    return StorageDrivers("drivers", args, opts)


def _volumes(plan: Plan, cloud: CloudLayer, teams: TeamNamespaces, opts: pulumi.ResourceOptions) -> TeamVolumes:
    args: TeamVolumesArgs = {
        "teams": [{"name": team.name, "namespace": teams.namespaces[team.name]} for team in plan.teams],
        "region": plan.region,
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
            "teams": [team.name for team in plan.teams],
            "image": plan.pins.image("pytorch"),
        },
        opts,
    )


def _queues(plan: Plan, teams: TeamNamespaces, opts: pulumi.ResourceOptions) -> Kueue:
    return Kueue(
        "kueue",
        {
            "chart": _chart(plan, "kueue"),
            "cohort": plan.scheduling.cohort,
            "flavors": [
                {"name": flavor.name, "capacity": flavor.capacity, "node_labels": dict(flavor.node_labels)}
                for flavor in plan.scheduling.flavors
            ],
            "queues": [
                {
                    "team": team.name,
                    "namespace": teams.namespaces[team.name],
                    "cluster_queue": team.cluster_queue,
                    "local_queue": team.local_queue,
                    "quotas": [{"flavor": quota.flavor, "gpus": quota.gpus} for quota in team.quotas],
                }
                for team in plan.teams
            ],
            "priorities": [
                {"name": priority.name, "value": priority.value, "description": priority.description}
                for priority in plan.scheduling.priorities
            ],
            "pods_ready_timeout_minutes": plan.scheduling.pods_ready_timeout_minutes,
            "requeue_limit": plan.scheduling.requeue_limit,
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
            "image": plan.pins.image("mlflow"),
            "replicas": plan.mlflow.replicas,
            "workers": plan.mlflow.workers,
            "cpu": plan.mlflow.cpu,
            "memory": plan.mlflow.memory,
            "database": cloud.database,
            "database_cidrs": [zone.isolated_cidr for zone in plan.network.zones],
            "artifacts_bucket": cloud.artifacts_bucket,
            "artifacts_prefix": ARTIFACTS_PREFIX,
            "region": plan.region,
            "team_namespaces": {team.name: teams.namespaces[team.name] for team in plan.teams},
        },
        opts,
    )
