"""The smoke jobs of an environment: one a GPU pool, through the queue that its users use, as part of `pulumi up`."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.k8s.smoke import SmokeJob, SmokeJobArgs
from components.k8s.teams import TeamNamespaces
from stacks.aws_environment import CloudLayer
from stacks.sizing.model import Plan, PoolPlan, TeamPlan
from stacks.smoke import PRIORITY, TRACKING_SECRET, environment, mounts, pool_job, scratch_path, team_of


def smoke_jobs(
    plan: Plan, cloud: CloudLayer, teams: TeamNamespaces, after: Sequence[pulumi.Resource]
) -> dict[str, pulumi.Output[str]]:
    """Makes a smoke job for every GPU pool, and none where the settings turn it off; their names by pool.

    `after` is everything that a user's job needs: queues, volumes, device plugins, the autoscaler, accounts.
    """
    if not plan.smoke.enabled:
        return {}
    team = team_of(plan, plan.smoke.team)
    opts = pulumi.ResourceOptions(providers=cloud.providers, depends_on=[*after, cloud.pod_roles[f"team-{team.name}"]])
    jobs = {
        pool.name: SmokeJob(f"smoke-{pool.name}", _args(plan, cloud, pool, team, teams), opts) for pool in plan.pools
    }
    return {name: job.job_name for name, job in jobs.items()}


def _args(plan: Plan, cloud: CloudLayer, pool: PoolPlan, team: TeamPlan, teams: TeamNamespaces) -> SmokeJobArgs:
    job = pool_job(plan, pool, team)
    args: SmokeJobArgs = {
        "pool": {
            "name": pool.name,
            "instance_type": pool.instance_type,
            "gpu": job.gpu,
            "gpus_per_node": pool.gpus_per_node,
            "gpu_memory_gib": pool.gpu_memory_gib,
            "nodes": job.nodes,
            "cpu": job.cpu,
            "memory_gib": job.memory_gib,
            "shared_memory_gib": job.shared_memory_gib,
            "efa_interfaces": pool.efa_interfaces,
            "hugepages_mib": job.hugepages_mib,
        },
        "stack": plan.stack,
        "namespace": teams.namespaces[team.name],
        "queue": team.local_queue,
        "priority": PRIORITY,
        "image": plan.smoke.image,
        "mounts": mounts(plan),
        # The team's own prefix: what its role may write.
        "checkpoint_uri": pulumi.Output.concat(
            "s3://", cloud.checkpoints_bucket, f"/teams/{team.name}/smoke/{pool.name}"
        ),
        "environment": environment(plan),
        "usd_per_node_hour": job.usd_per_node_hour,
        "start_timeout_minutes": plan.scheduling.pods_ready_timeout_minutes,
        "rerun_on": dict(job.rerun_on),
    }
    if scratch_path(plan, pool.name):
        args["data_path"] = scratch_path(plan, pool.name)
    if plan.mlflow.enabled:
        args["tracking_secret"] = TRACKING_SECRET
    return args
