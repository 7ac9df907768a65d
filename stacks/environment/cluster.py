"""What runs on the cluster of any ground: from a plan and a `Ground` to `trainyard.components.k8s`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi

from trainyard.components.k8s.egress_proxy import EgressProxy, EgressProxyArgs, SignOnPodsArgs, client_environment
from trainyard.components.k8s.gpu import DEVICE_PLUGIN, METRICS, GpuEnablement, GpuEnablementArgs
from trainyard.components.k8s.ingest import Ingest, IngestArgs
from trainyard.components.k8s.job_guard import PoolNodeArgs
from trainyard.components.k8s.kueue import FlavorArgs, Kueue, KueueArgs, QuotaArgs, TeamQueueArgs
from trainyard.components.k8s.notebooks_flows import HUB
from trainyard.components.k8s.off_peak import HoursArgs
from trainyard.components.k8s.platform_flows import EGRESS_PROXY, PROXY_PORT
from trainyard.components.k8s.runtimes import PoolRuntimeArgs, TrainingRuntimes
from trainyard.components.k8s.teams import DeviceClaimArgs, TeamArgs, TeamNamespaces, TeamNamespacesArgs
from trainyard.components.k8s.volumes import TeamVolumes
from trainyard.conventions import (
    CHECKPOINTS_URI,
    GPU_RESOURCE,
    INGEST_NAMESPACE,
    MLFLOW_NAMESPACE,
    MLFLOW_PORT,
    NOTEBOOKS_NAMESPACE,
    OFF_PEAK_LOCAL_QUEUE,
    SMOKE_LOCAL_QUEUE,
    fabric_claim,
    mig_config,
    team_prefix,
)
from trainyard.conventions.monitoring import FIGURES_READER_URL
from trainyard.plan.parts import (
    ClusterPlan,
    FabricPlan,
    FlavorPlan,
    NodeGroupPlan,
    OffPeakPlan,
    Plan,
    PoolPlan,
    RuntimePlan,
    TeamQueuePlan,
)
from trainyard.stacks.environment.ground import Ground, NodeDaemon, chart, resource_prefix
from trainyard.stacks.environment.monitoring import checkpoint_checks, checkpoint_drill, monitoring
from trainyard.stacks.environment.notebooks import notebooks
from trainyard.stacks.environment.smoke import SmokeProof, slice_proofs, smoke_jobs
from trainyard.stacks.environment.tracking import tracking_server


@dataclass(frozen=True)
class Workloads:
    """What the stack's outputs need of the workloads."""

    tracking_uri: pulumi.Output[str] | None
    queues: dict[str, pulumi.Output[str]]
    """Name of the LocalQueue, by team."""
    smoke_proofs: dict[str, SmokeProof]
    """Name of the smoke job, by node group; empty where the settings turn it off."""


def build(plan: Plan, planned: ClusterPlan, ground: Ground) -> Workloads:
    """Makes what runs on one of the plan's clusters."""
    prefix = resource_prefix(plan, planned)

    def after(*waited_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(providers=list(ground.providers), depends_on=list(waited_for))

    proxied = plan.core.egress.mode == "allowlist"
    gpu = GpuEnablement(f"{prefix}gpu", _gpu(plan, planned, ground), after())
    runtimes = TrainingRuntimes(
        f"{prefix}runtimes",
        {
            "jobset_chart": chart(plan, "jobset"),
            "trainer_chart": chart(plan, "kubeflow-trainer"),
            "image": plan.core.pins.image("pytorch"),
            "mounts": dict(planned.smoke.mounts),
            "environment": client_environment(ground.direct_names) if proxied else {},
            "pod_annotations": dict(planned.smoke.pod_annotations),
            "addresses": ground.addresses,
            "node_selector": ground.system_nodes,
            "cpu_nodes": ground.cpu_nodes if planned.cpu_pool is not None else None,
            "pools": _pool_runtimes(planned, ground),
            "tpu_pools": [slices.runtime for slices in ground.slices],
        },
        after(),
    )
    # A team's LocalQueues are in its namespace, which has to go before its ClusterQueue and Kueue: each component waits
    # for a part of the other.
    later = {team.name: _deferred() for team in planned.teams}
    try:
        queues = _queues(plan, planned, ground, {team: namespace for team, (namespace, _) in later.items()}, after())
        teams = TeamNamespaces(f"{prefix}teams", _teams(plan, planned, ground, queues, runtimes), after())
    except Exception as error:
        # A program that failed would not end: it waits for its outputs.
        for _, resolve in later.values():
            resolve(pulumi.Output.from_input(_failed(error)))
        raise
    for team, (_, resolve) in later.items():
        resolve(teams.namespaces[team])
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
    ingest = Ingest(f"{prefix}ingest", _ingest(plan, planned, ground), after(*ground.volumes_wait_for, queues))
    if proxied:
        EgressProxy(f"{prefix}egress", _egress(plan, planned, ground, teams, ingest), after())
    notebooks(plan, planned, ground, teams, after())
    server = tracking_server(plan, planned, ground, teams, after(*ground.mlflow_identity.wait_for))
    monitoring(plan, planned, ground, server, after(*_of_monitoring(ground)))
    # A smoke job needs what a user's job needs. It waits for its team's identity, and nothing else does: if all objects
    # of all teams waited for the identities of all teams, a hundred teams would have a hundred thousand dependencies.
    needs = [*ground.jobs_wait_for, gpu, teams, volumes, queues, *([server] if server else [])]
    checkpoint_drill(plan, planned, ground, teams, needs)
    checkpoint_checks(plan, planned, ground, teams, after())
    return Workloads(
        tracking_uri=server.tracking_uri if server else None,
        queues=queues.local_queues,
        smoke_proofs={
            **smoke_jobs(plan, planned, ground, teams, needs),
            **slice_proofs(plan, planned, ground, teams, needs),
        },
    )


def _of_monitoring(ground: Ground) -> list[pulumi.Resource]:
    kept = ground.figures.identity.wait_for if ground.figures is not None else ()
    return [*ground.alertmanager_identity.wait_for, *kept]


def _deferred() -> tuple[pulumi.Output[str], Callable[[pulumi.Output[str]], None]]:
    return pulumi.deferred_output()


async def _failed(error: Exception) -> str:
    raise error


def _gpu(plan: Plan, planned: ClusterPlan, ground: Ground) -> GpuEnablementArgs:
    args: GpuEnablementArgs = {
        "pools": [pool.name for pool in planned.pools],
        "device_plugins": ground.device_plugins,
        "gives_by_mounts": planned.isolated_gpus,
    }
    if DEVICE_PLUGIN in ground.gpu_add_ons:
        shared = [pool.node for pool in planned.pools if pool.node.pods_per_gpu > 1]
        args["time_slices"] = sorted({node.pods_per_gpu for node in shared if not node.mig_profile})
        args["mig"] = sorted({mig_config(node.pods_per_gpu, node.mig_profile) for node in shared if node.mig_profile})
        args["device_plugin_chart"] = chart(plan, DEVICE_PLUGIN)
    if METRICS in ground.gpu_add_ons:
        args["dcgm_exporter_chart"] = chart(plan, METRICS)
    return args


def _teams(
    plan: Plan, planned: ClusterPlan, ground: Ground, queues: Kueue, runtimes: TrainingRuntimes
) -> TeamNamespacesArgs:
    args: TeamNamespacesArgs = {
        "teams": [_team(team, ground, queues, runtimes) for team in planned.teams],
        "addresses": ground.addresses,
        "allowed_images": [*ground.own_registries, *plan.core.allowed_images],
    }
    claims: list[DeviceClaimArgs] = [
        {"name": fabric_claim(pool.name), "device_class": fabric.device_class, "count": fabric.interfaces}
        for pool in planned.pools
        if (fabric := pool.node.fabric) is not None and fabric.device_class
    ]
    if claims:
        args["device_claims"] = claims
    if ground.node_daemon is not None:
        args["node_daemon"] = ground.node_daemon.held_to
    if plan.core.egress.mode == "allowlist":
        args["egress_proxy"] = {"namespace": EGRESS_PROXY.namespace, "port": PROXY_PORT}
    if plan.tracks(planned):
        args["mlflow"] = {"namespace": MLFLOW_NAMESPACE, "port": MLFLOW_PORT}
    return args


def _team(team: TeamQueuePlan, ground: Ground, queues: Kueue, runtimes: TrainingRuntimes) -> TeamArgs:
    volumes = ground.volumes[team.name]
    # The jobs that people make in the namespace end with it, and the controllers that let go of them come after.
    queue = pulumi.Output.all(queues.cluster_queues[team.name], runtimes.runtime).apply(lambda known: str(known[0]))
    return {
        "name": team.name,
        "namespace": team.namespace,
        "cpu_only_cores": team.cpu_only_cores,
        "cpu_only_memory_gib": team.cpu_only_memory_gib,
        "cpu_only_pods": team.cpu_only_pods,
        "claims": len(volumes),
        "claims_gib": sum(source["capacity_gib"] for source in volumes.values()),
        "service_account_annotations": ground.team_identities[team.name].annotations,
        "subjects": ground.subjects.get(team.name, ()),
        # Artifacts are not told: MLflow alone reads and writes them, and teams have no right on their bucket.
        "storage": {
            CHECKPOINTS_URI: pulumi.Output.concat(ground.checkpoints_uri, "/", team_prefix(team.name).rstrip("/"))
        },
        "cluster_queue": queue,
    }


def _ingest(plan: Plan, planned: ClusterPlan, ground: Ground) -> IngestArgs:
    """As much as the team that may run the most without GPUs, and the teams' ways out."""
    args: IngestArgs = {
        "data": ground.ingest_volume,
        "cores": max(team.cpu_only_cores for team in planned.teams),
        "memory_gib": max(team.cpu_only_memory_gib for team in planned.teams),
        "pods": max(team.cpu_only_pods for team in planned.teams),
        "addresses": ground.addresses,
        "subjects": ground.ingest_subjects,
        "service_account_annotations": ground.ingest_identity.annotations,
    }
    if plan.core.egress.mode == "allowlist":
        args["egress_proxy"] = {"namespace": EGRESS_PROXY.namespace, "port": PROXY_PORT}
    return args


def _egress(plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, ingest: Ingest) -> EgressProxyArgs:
    of_teams = {team.name: teams.namespaces[team.name] for team in planned.teams}
    sign_on, hub = plan.core.mlflow.sign_on, planned.notebooks
    args: EgressProxyArgs = {
        "image": plan.core.pins.image("egress-proxy"),
        "allow": plan.core.egress.allow,
        "addresses": ground.addresses,
        "direct": ground.direct_names,
        "team_namespaces": {**of_teams, INGEST_NAMESPACE: ingest.namespace},
        "node_selector": ground.system_nodes,
    }
    pods: list[SignOnPodsArgs] = []
    names: list[str] = []
    if sign_on is not None and plan.tracks(planned):
        pods.append({"namespace": MLFLOW_NAMESPACE})
        names.append(sign_on.keys_host)
    if hub is not None:
        pods.append({"namespace": NOTEBOOKS_NAMESPACE, "labels": dict(HUB.labels)})
        names += hub.sign_on.hosts
        args["notebooks"] = True
    if pods:
        args["sign_on"] = {"pods": pods, "names": names}
    return args


def _queues(
    plan: Plan,
    planned: ClusterPlan,
    ground: Ground,
    namespaces: Mapping[str, pulumi.Output[str]],
    opts: pulumi.ResourceOptions,
) -> Kueue:
    groups = {group.name: group for group in planned.node_groups}
    args: KueueArgs = {
        "chart": chart(plan, "kueue"),
        "cohort": planned.scheduling.cohort,
        "flavors": [
            *(_flavor(flavor, groups[flavor.name], ground) for flavor in planned.scheduling.flavors),
            *(flavor for slices in ground.slices for flavor in slices.flavors),
        ],
        "queues": [_team_queue(team, namespaces[team.name], planned.off_peak, ground) for team in planned.teams],
        "priorities": [
            {"name": priority.name, "value": priority.value, "description": priority.description}
            for priority in planned.scheduling.priorities
        ],
        "nodes": [
            *(
                _node(pool, {runtime.pool: runtime for runtime in planned.runtimes}.get(pool.name))
                for pool in planned.pools
            ),
            *(slices.node for slices in ground.slices),
        ],
        "pods_ready_timeout_minutes": planned.scheduling.pods_ready_timeout_minutes,
        "requeue_limit": planned.scheduling.requeue_limit,
        "unrationed_resources": ground.unrationed_resources,
        "addresses": ground.addresses,
        "node_selector": ground.system_nodes,
    }
    if ground.node_daemon is not None:
        args["node_daemon"] = ground.node_daemon.held_to
    minutes = planned.scheduling.dry_capacity_minutes
    if minutes and ground.autoscaled_groups:
        args["keeper"] = {
            "image": plan.core.pins.image("mlflow"),  # the smallest of the platform's images with Python
            "groups": dict(ground.autoscaled_groups),
            "spans": {
                name: group.reservation.open_for_jobs
                for name, group in groups.items()
                if group.reservation and group.reservation.open_for_jobs
            },
            "retry_minutes": minutes,
        }
    if planned.smoke.jobs:
        args["proofs"] = {"image": plan.core.pins.image("mlflow"), "groups": dict(ground.autoscaled_groups)}
    if planned.ledger is not None and planned.ledger.hold:
        args["budgets"] = {
            "image": plan.core.pins.image("mlflow"),
            "budgets_usd": {
                team.name: plan.budget_usd_at(planned, team.name)
                for team in plan.core.teams
                if team.name not in planned.ledger.exempt
            },
        }
        if planned.ledger.drain_after_hours is not None:
            args["budgets"]["drain_after_hours"] = planned.ledger.drain_after_hours
    if planned.idle_jobs is not None:
        args["idle_jobs"] = {
            "image": plan.core.pins.image("mlflow"),
            "after_minutes": planned.idle_jobs.after_minutes,
            "grace_minutes": planned.idle_jobs.grace_minutes,
        }
    if ground.figures is not None:
        for asks in ("budgets", "idle_jobs"):
            if asks in args:
                args[asks]["prometheus_url"] = FIGURES_READER_URL
    if planned.off_peak is not None and planned.off_peak.flavors:
        args["off_peak"] = {
            "image": plan.core.pins.image("mlflow"),
            "hours": _hours(planned.off_peak),
        }
    if planned.off_peak is not None and planned.off_peak.sleeping:
        args["sleep"] = {
            "image": plan.core.pins.image("mlflow"),
            "hours": _hours(planned.off_peak),
            "priorities": planned.off_peak.sleeping,
        }
    return Kueue(f"{resource_prefix(plan, planned)}kueue", args, opts)


def _hours(planned: OffPeakPlan) -> HoursArgs:
    return {"start": planned.start, "end": planned.end, "time_zone": planned.time_zone}


def _team_queue(
    team: TeamQueuePlan, namespace: pulumi.Output[str], off_peak: OffPeakPlan | None, ground: Ground
) -> TeamQueueArgs:
    quotas: list[QuotaArgs] = [{"flavor": quota.flavor, "gpus": quota.gpus} for quota in team.quotas]
    for slices in ground.slices:
        quotas += [{"flavor": flavor, "gpus": owned.get(team.name, 0)} for flavor, owned in slices.quotas.items()]
    found: TeamQueueArgs = {
        "team": team.name,
        "namespace": namespace,
        "cluster_queue": team.cluster_queue,
        "local_queue": team.local_queue,
        "proof_queue": SMOKE_LOCAL_QUEUE,
        "quotas": quotas,
        "weight": team.weight,
    }
    if off_peak is not None and team.off_peak_queue is not None:
        found["off_peak"] = {
            "cluster_queue": team.off_peak_queue,
            "local_queue": OFF_PEAK_LOCAL_QUEUE,
            "flavors": off_peak.flavors,
        }
    return found


def _flavor(flavor: FlavorPlan, group: NodeGroupPlan, ground: Ground) -> FlavorArgs:
    found: FlavorArgs = {
        "name": flavor.name,
        "capacity": flavor.capacity,
        "node_labels": ground.flavor_labels(group),
    }
    if group.name in ground.queued:
        found["queued"] = ground.queued[group.name]
    return found


def _pool_runtimes(planned: ClusterPlan, ground: Ground) -> list[PoolRuntimeArgs]:
    found: list[PoolRuntimeArgs] = []
    for runtime in planned.runtimes:
        node = planned.pool(runtime.pool).node
        if node.fabric is not None:
            found.append(
                {
                    "pool": runtime.pool,
                    "image": runtime.image,
                    "gpus": node.gpus,
                    "cpu": runtime.cpu,
                    "memory_gib": runtime.memory_gib,
                    **_adapters(runtime.pool, node.fabric, ground.node_daemon),
                    "fabric_interfaces": node.fabric.interfaces,
                    "hugepages_mib": node.fabric.hugepages_mib,
                    "fabric_environment": dict(node.fabric.environment),
                }
            )
    return found


class _Adapters(TypedDict, total=False):
    fabric_resource: str
    fabric_claim: str
    pod_annotations: dict[str, str]
    daemon: Mapping[str, Any]
    daemon_volumes: Sequence[Mapping[str, Any]]
    daemon_mounts: Sequence[Mapping[str, Any]]


def _adapters(pool: str, fabric: FabricPlan, daemon: NodeDaemon | None) -> _Adapters:
    """By what a pod gets the fast interfaces of a node."""
    if fabric.daemon and daemon is not None:
        return {
            "pod_annotations": dict(fabric.pod_annotations),
            "daemon": daemon.held_to["container"],
            "daemon_volumes": daemon.volumes,
            "daemon_mounts": daemon.mounts,
        }
    if fabric.pod_annotations:
        return {"pod_annotations": dict(fabric.pod_annotations)}
    return {"fabric_claim": fabric_claim(pool)} if fabric.device_class else {"fabric_resource": fabric.resource}


def _node(pool: PoolPlan, runtime: RuntimePlan | None) -> PoolNodeArgs:
    node = pool.node
    fabric = {node.fabric.resource: node.fabric.interfaces} if node.fabric and node.fabric.resource else {}
    args: PoolNodeArgs = {
        "pool": pool.name,
        "cpu": node.vcpus,
        "memory_gib": node.memory_gib,
        "devices": {GPU_RESOURCE: node.gpus_of_a_pod, **fabric},
        "largest_flavor_gpus": node.gpus_offered * max(group.max_nodes for group in pool.node_groups),
    }
    if runtime is not None:
        args["runtime"] = runtime.name
    if node.fabric is not None and node.fabric.device_class:
        args["claim"] = fabric_claim(pool.name)
    if pool.whole_nodes_only:
        args["whole_nodes_only"] = True
    return args
