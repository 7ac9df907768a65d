"""The smoke jobs of an environment, through the queue that its users use, as part of `pulumi up`.

One a pool and capacity that it may be bought in: a queue would put a single job onto the first capacity that has room,
and the reservation, the spot price and the zone of the others would be proven by a user. They run beside each other. A
job whose capacity has no nodes to give fails the `up`: a spot market without that instance, a reservation that others
fill with work of at least the same priority.
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from trainyard.components.k8s.smoke import SmokeJob, SmokeJobArgs
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.conventions import MLFLOW_CREDENTIALS_SECRET, team_prefix
from trainyard.plan.model import NodeGroupPlan, Plan, PoolPlan, TeamPlan
from trainyard.plan.smoke import PRIORITY, environment, mounts, pool_job, scratch_path, team_of
from trainyard.stacks.environment.ground import Ground


def smoke_jobs(
    plan: Plan,
    ground: Ground,
    teams: TeamNamespaces,
    after: Sequence[pulumi.Resource],
) -> dict[str, pulumi.Output[str]]:
    """Makes a smoke job for every GPU node group of the planned capacities; their names by node group ("train-spot").

    None where the settings turn it off. `after` is everything that a user's job needs: queues, volumes, device
    plugins, the autoscaler, accounts.
    """
    if not plan.smoke.enabled:
        return {}
    team = team_of(plan, plan.smoke.team)
    roles = ground.team_identities[team.name].wait_for
    opts = pulumi.ResourceOptions(providers=list(ground.providers), depends_on=[*after, *roles])
    jobs = {
        group.name: SmokeJob(f"smoke-{group.name}", _args(plan, ground, pool, group, team, teams), opts)
        for pool in plan.pools
        for group in pool.node_groups
        if group.capacity in plan.smoke.capacities
    }
    return {name: job.job_name for name, job in jobs.items()}


def _args(
    plan: Plan, ground: Ground, pool: PoolPlan, group: NodeGroupPlan, team: TeamPlan, teams: TeamNamespaces
) -> SmokeJobArgs:
    job = pool_job(plan, pool, team, capacity=group.capacity)
    args: SmokeJobArgs = {
        "pool": {
            "name": pool.name,
            "capacity": group.capacity,
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
        "checkpoint_uri": pulumi.Output.concat(ground.checkpoints_uri, f"/{team_prefix(team.name)}smoke/{group.name}"),
        "environment": environment(plan),
        "usd_per_node_hour": job.usd_per_node_hour,
        "start_timeout_minutes": plan.scheduling.pods_ready_timeout_minutes,
        "rerun_on": dict(job.rerun_on),
        "node_image": ground.node_images[group.name],
    }
    if scratch_path(plan, group.name):
        args["data_path"] = scratch_path(plan, group.name)
    if plan.mlflow.enabled:
        args["tracking_secret"] = MLFLOW_CREDENTIALS_SECRET
    return args
