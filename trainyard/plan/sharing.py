"""Who may use how much of a cluster: flavors, queues, quotas, priorities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from trainyard import catalog
from trainyard.conventions import team_namespace
from trainyard.plan.context import Context
from trainyard.plan.parts import FlavorPlan, PoolPlan, PriorityPlan, QuotaPlan, SchedulingPlan, TeamQueuePlan
from trainyard.settings.people import Team

MAX_FLAVORS = 64
"""Flavors of one resource group of a Kueue 0.19 ClusterQueue."""

_DESCRIPTIONS = {
    "production": "scheduled runs that others wait for; preempts the rest",
    "standard": "ordinary training",
    "development": "experiments; first to give way",
}


def largest_remainder(total: int, weights: Sequence[Fraction]) -> list[int]:
    """Whole parts of `total` in proportion to the weights, which add up to `total` exactly.

    Each part is its exact share rounded down or up; who comes first in the list wins a tie. Weights are positive.
    """
    whole = sum(weights, Fraction(0))
    exact = [total * weight / whole for weight in weights]
    parts = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


def plan_scheduling(pools: Sequence[PoolPlan], context: Context) -> SchedulingPlan:
    """The cohort with a flavor for each node group, cheapest pool first, reserved before spot before on-demand."""
    own, ledger = context.settings.scheduler, context.ledger

    def price(pool: PoolPlan) -> float:
        usd = catalog.instance(pool.node.instance_type).usd_per_gpu_hour
        return math.inf if usd is None else usd

    flavors = tuple(
        FlavorPlan(
            name=group.name,
            pool=pool.name,
            capacity=group.capacity,
            gpus=group.max_nodes * pool.node.gpus,
        )
        for pool in sorted(pools, key=price)
        for group in pool.node_groups
    )
    if len(flavors) > MAX_FLAVORS:
        ledger.problem(
            "gpuPools", f"{len(flavors)} node groups", f"a queue takes {MAX_FLAVORS} flavors, one a node group"
        )
    order = "by price of a GPU-hour; within a pool reserved, spot, on-demand; GPUs: nodes at most times GPUs a node"
    ledger.decide("scheduling.flavors", [flavor.name for flavor in flavors], order)
    path = "scheduling.pods_ready_timeout_minutes"
    return SchedulingPlan(
        cohort=ledger.decide(
            "scheduling.cohort", str(context.figure("scheduling.cohort")), context.source("scheduling.cohort")
        ),
        flavors=flavors,
        priorities=_priorities(context),
        pods_ready_timeout_minutes=context.take(
            path, "scheduler.podsReadyTimeoutMinutes", own.pods_ready_timeout_minutes
        ),
        requeue_limit=context.take("scheduling.requeue_limit", "scheduler.requeueLimit", own.requeue_limit),
        scale_down_after_minutes=context.take(
            "scheduling.scale_down_after_minutes", "scheduler.scaleDownAfterMinutes", own.scale_down_after_minutes
        ),
    )


def _priorities(context: Context) -> tuple[PriorityPlan, ...]:
    given = context.settings.scheduler.priorities or {}
    names = dict.fromkeys((*context.profile.names("scheduling.priorities"), *given))
    values = {
        name: int(context.take(f"scheduling.priorities.{name}", f"scheduler.priorities.{name}", given.get(name)))
        for name in names
    }
    ordered = sorted(values.items(), key=lambda entry: -entry[1])
    return tuple(PriorityPlan(name, value, _DESCRIPTIONS.get(name, f"priority {name}")) for name, value in ordered)


def plan_queues(
    teams: Sequence[Team],
    weights: Sequence[Fraction],
    source: str,
    pools: Sequence[PoolPlan],
    scheduling: SchedulingPlan,
    context: Context,
) -> tuple[TeamQueuePlan, ...]:
    """Each team with its quotas: for every flavor the teams' quotas add up to its GPUs.

    `weights` are what the quotas are in proportion to, `source` says where these come from.
    """
    ledger = context.ledger
    quotas = [largest_remainder(flavor.gpus, weights) for flavor in scheduling.flavors]
    # A team may borrow every GPU node, so that no namespace quota may be below all of them.
    cores = sum(group.max_nodes * pool.node.vcpus for pool in pools for group in pool.node_groups)
    memory = math.ceil(sum(group.max_nodes * pool.node.memory_gib for pool in pools for group in pool.node_groups))
    gpus = sum(flavor.gpus for flavor in scheduling.flavors)
    queues = []
    for index, team in enumerate(teams):
        key = f"teams.{team.name}"
        limits = [
            ledger.decide(
                f"{key}.{field}",
                floor + int(context.figure(path)) * team.members,
                f"{what}, and {context.source(path)}",
            )
            for field, floor, path, what in (
                ("cpu_limit", cores, "teams.cpu_per_member", "vCPUs of all GPU nodes, which a team may borrow"),
                ("memory_limit_gib", memory, "teams.memory_gib_per_member", "memory of all GPU nodes"),
                ("pods", gpus, "teams.pods_per_member", "one pod a GPU"),
            )
        ]
        mine = tuple(QuotaPlan(flavor.name, quotas[i][index]) for i, flavor in enumerate(scheduling.flavors))
        ledger.decide(
            f"{key}.quotas", [f"{quota.flavor} {quota.gpus}" for quota in mine], f"{source}; largest remainder"
        )
        queues.append(
            TeamQueuePlan(
                name=team.name,
                namespace=team_namespace(team.name),
                cluster_queue=team.name,
                # Kueue sends jobs without a queue's name to the LocalQueue `default` of their namespace.
                local_queue="default",
                quotas=mine,
                cpu_limit=limits[0],
                memory_limit_gib=limits[1],
                pods=limits[2],
            )
        )
    return tuple(queues)
