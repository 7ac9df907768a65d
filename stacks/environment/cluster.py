"""What runs on the cluster of any ground: from a plan and a `Ground` to `trainyard.components.k8s`."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from trainyard.components.k8s.egress_proxy import EgressProxy, EgressProxyArgs, client_environment
from trainyard.components.k8s.gpu import DEVICE_PLUGIN, METRICS, GpuEnablement, GpuEnablementArgs
from trainyard.components.k8s.ingest import Ingest, IngestArgs
from trainyard.components.k8s.job_guard import PoolNodeArgs
from trainyard.components.k8s.kueue import Kueue
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.mlflow_pod import PORT as MLFLOW_PORT
from trainyard.components.k8s.platform_flows import EGRESS_PROXY, PROXY_PORT
from trainyard.components.k8s.runtimes import TrainingRuntimes
from trainyard.components.k8s.teams import TeamArgs, TeamNamespaces, TeamNamespacesArgs
from trainyard.components.k8s.volumes import TeamVolumes
from trainyard.conventions import GPU_RESOURCE, INGEST_NAMESPACE
from trainyard.plan.parts import ClusterPlan, Plan, PoolPlan, TeamQueuePlan
from trainyard.stacks.environment.ground import MLFLOW_NAMESPACE, Ground, chart, resource_prefix
from trainyard.stacks.environment.smoke import smoke_jobs


@dataclass(frozen=True)
class Workloads:
    """What the stack's outputs need of the workloads."""

    tracking_uri: pulumi.Output[str] | None
    queues: dict[str, pulumi.Output[str]]
    """Name of the LocalQueue, by team."""
    smoke_jobs: dict[str, pulumi.Output[str]]
    """Name of the smoke job, by node group; empty where the settings turn it off."""


def build(plan: Plan, planned: ClusterPlan, ground: Ground) -> Workloads:
    """Makes what runs on one of the plan's clusters."""
    prefix = resource_prefix(plan, planned)

    def after(*waited_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(providers=list(ground.providers), depends_on=list(waited_for))

    gpu = GpuEnablement(f"{prefix}gpu", _gpu(plan, planned, ground), after())
    teams = TeamNamespaces(f"{prefix}teams", _teams(plan, planned, ground), after())
    volumes = TeamVolumes(
        f"{prefix}volumes",
        {
            "teams": [
                {
                    "name": team.name,
                    "namespace": teams.namespaces[team.name],
                    "volumes": ground.volumes[team.name],
                }
                for team in planned.teams
            ]
        },
        after(*ground.volumes_wait_for),
    )
    queues = _queues(plan, planned, ground, teams, after())
    ingest = Ingest(f"{prefix}ingest", _ingest(plan, planned, ground), after(*ground.volumes_wait_for, queues))
    proxied = plan.core.egress.mode == "allowlist"
    if proxied:
        EgressProxy(f"{prefix}egress", _egress(plan, planned, ground, teams, ingest), after())
    TrainingRuntimes(
        f"{prefix}runtimes",
        {
            "jobset_chart": chart(plan, "jobset"),
            "trainer_chart": chart(plan, "kubeflow-trainer"),
            "image": plan.core.pins.image("pytorch"),
            "mounts": dict(planned.smoke.mounts),
            "environment": client_environment(ground.direct_names) if proxied else {},
            "addresses": ground.addresses,
            "node_selector": ground.system_nodes,
            "cpu_nodes": ground.cpu_nodes if planned.cpu_pool is not None else None,
        },
        after(),
    )
    server = _mlflow(plan, planned, ground, teams, after(*ground.mlflow_identity.wait_for))
    # A smoke job needs what a user's job needs. It waits for its team's identity, and nothing else does: if all objects
    # of all teams waited for the identities of all teams, a hundred teams would have a hundred thousand dependencies.
    needs = [*ground.jobs_wait_for, gpu, teams, volumes, queues, *([server] if server else [])]
    return Workloads(
        tracking_uri=server.tracking_uri if server else None,
        queues=queues.local_queues,
        smoke_jobs=smoke_jobs(plan, planned, ground, teams, needs),
    )


def _gpu(plan: Plan, planned: ClusterPlan, ground: Ground) -> GpuEnablementArgs:
    args: GpuEnablementArgs = {
        "pools": [pool.name for pool in planned.pools],
        "device_plugins": ground.device_plugins,
        "gives_by_mounts": planned.isolated_gpus,
    }
    if DEVICE_PLUGIN in ground.gpu_add_ons:
        args["device_plugin_chart"] = chart(plan, DEVICE_PLUGIN)
    if METRICS in ground.gpu_add_ons:
        args["dcgm_exporter_chart"] = chart(plan, METRICS)
    return args


def _teams(plan: Plan, planned: ClusterPlan, ground: Ground) -> TeamNamespacesArgs:
    args: TeamNamespacesArgs = {
        "teams": [_team(team, ground) for team in planned.teams],
        "addresses": ground.addresses,
        "allowed_images": [*ground.own_registries, *plan.core.allowed_images],
    }
    if plan.core.egress.mode == "allowlist":
        args["egress_proxy"] = {"namespace": EGRESS_PROXY.namespace, "port": PROXY_PORT}
    if plan.tracks(planned):
        args["mlflow"] = {"namespace": MLFLOW_NAMESPACE, "port": MLFLOW_PORT}
    return args


def _team(team: TeamQueuePlan, ground: Ground) -> TeamArgs:
    volumes = ground.volumes[team.name]
    return {
        "name": team.name,
        "namespace": team.namespace,
        "cpu_only_cores": team.cpu_only_cores,
        "cpu_only_memory_gib": team.cpu_only_memory_gib,
        "cpu_only_pods": team.cpu_only_pods,
        "claims": len(volumes),
        "claims_gib": sum(source["capacity_gib"] for source in volumes.values()),
        "service_account_annotations": ground.team_identities[team.name].annotations,
    }


def _ingest(plan: Plan, planned: ClusterPlan, ground: Ground) -> IngestArgs:
    """As much as the team that may run the most without GPUs, and the teams' ways out."""
    args: IngestArgs = {
        "data": ground.ingest_volume,
        "cores": max(team.cpu_only_cores for team in planned.teams),
        "memory_gib": max(team.cpu_only_memory_gib for team in planned.teams),
        "pods": max(team.cpu_only_pods for team in planned.teams),
        "addresses": ground.addresses,
        "service_account_annotations": ground.ingest_identity.annotations,
    }
    if plan.core.egress.mode == "allowlist":
        args["egress_proxy"] = {"namespace": EGRESS_PROXY.namespace, "port": PROXY_PORT}
    return args


def _egress(plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, ingest: Ingest) -> EgressProxyArgs:
    of_teams = {team.name: teams.namespaces[team.name] for team in planned.teams}
    return {
        "image": plan.core.pins.image("egress-proxy"),
        "allow": plan.core.egress.allow,
        "addresses": ground.addresses,
        "direct": ground.direct_names,
        "team_namespaces": {**of_teams, INGEST_NAMESPACE: ingest.namespace},
        "node_selector": ground.system_nodes,
    }


def _queues(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, opts: pulumi.ResourceOptions
) -> Kueue:
    groups = {group.name: group for group in planned.node_groups}
    return Kueue(
        f"{resource_prefix(plan, planned)}kueue",
        {
            "chart": chart(plan, "kueue"),
            "cohort": planned.scheduling.cohort,
            "flavors": [
                {
                    "name": flavor.name,
                    "capacity": flavor.capacity,
                    "node_labels": ground.flavor_labels(groups[flavor.name]),
                }
                for flavor in planned.scheduling.flavors
            ],
            "queues": [
                {
                    "team": team.name,
                    "namespace": teams.namespaces[team.name],
                    "cluster_queue": team.cluster_queue,
                    "local_queue": team.local_queue,
                    "quotas": [{"flavor": quota.flavor, "gpus": quota.gpus} for quota in team.quotas],
                    "weight": team.weight,
                }
                for team in planned.teams
            ],
            "priorities": [
                {"name": priority.name, "value": priority.value, "description": priority.description}
                for priority in planned.scheduling.priorities
            ],
            "nodes": [_node(pool) for pool in planned.pools],
            "pods_ready_timeout_minutes": planned.scheduling.pods_ready_timeout_minutes,
            "requeue_limit": planned.scheduling.requeue_limit,
            "unrationed_resources": ground.unrationed_resources,
            "addresses": ground.addresses,
            "node_selector": ground.system_nodes,
        },
        opts,
    )


def _node(pool: PoolPlan) -> PoolNodeArgs:
    node = pool.node
    fabric = {node.fabric.resource: node.fabric.interfaces} if node.fabric else {}
    return {
        "pool": pool.name,
        "cpu": node.vcpus,
        "memory_gib": node.memory_gib,
        "devices": {GPU_RESOURCE: node.gpus, **fabric},
        "largest_flavor_gpus": node.gpus * max(group.max_nodes for group in pool.node_groups),
    }


def _mlflow(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, opts: pulumi.ResourceOptions
) -> MlflowServer | None:
    if ground.database is None:
        return None
    return MlflowServer(
        f"{resource_prefix(plan, planned)}mlflow",
        {
            "namespace": MLFLOW_NAMESPACE,
            "image": plan.core.pins.image("mlflow"),
            "replicas": plan.core.mlflow.replicas,
            "workers": plan.core.mlflow.workers,
            "cpu": plan.core.mlflow.cpu,
            "memory": plan.core.mlflow.memory,
            "database": ground.database,
            "artifacts_uri": ground.artifacts_uri,
            "environment": ground.environment,
            "node_selector": ground.system_nodes,
            "addresses": ground.addresses,
            "service_account_annotations": ground.mlflow_identity.annotations,
            "team_namespaces": {team.name: teams.namespaces[team.name] for team in planned.teams},
            "people": {
                team.name: team.people
                for team in plan.core.teams
                if team.people and team.name in {queue.name for queue in planned.teams}
            },
            "default_permission": plan.core.mlflow.default_permission,
            "password_version": plan.core.mlflow.password_version,
        },
        opts,
    )
