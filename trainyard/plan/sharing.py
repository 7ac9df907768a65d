"""Who may use how much of a cluster: flavors, queues, quotas, priorities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trainyard.conventions import team_namespace
from trainyard.plan.context import Context
from trainyard.plan.notebooks import kept_from_queues
from trainyard.plan.off_peak import SUFFIX as OFF_PEAK_SUFFIX
from trainyard.plan.off_peak import has_off_peak_queues
from trainyard.plan.ownership import hand_out, largest_remainder, node_totals
from trainyard.plan.ownership_words import in_words
from trainyard.plan.parts import FlavorPlan, PoolPlan, PriorityPlan, QuotaPlan, SchedulingPlan, TeamQueuePlan
from trainyard.problems import nearest, some_of
from trainyard.settings.people import Team

MAX_FLAVORS = 64
"""Flavors of one resource group of a Kueue 0.19 ClusterQueue."""


@dataclass(frozen=True, slots=True)
class CpuRoom:
    """What the nodes for pods without GPUs hold at their most."""

    cores: int
    memory_gib: int
    pods: int
    node_cores: float
    node_memory_gib: float

    def takes(self, cores: float, memory_gib: float) -> bool:
        """Whether a pod of that size fits on one of the nodes."""
        return cores <= self.node_cores and memory_gib <= self.node_memory_gib


WEIGHT_WITHOUT_GPUS = 1
"""The weight in fair sharing of a team that owns no GPUs: as if it owned one."""

_DESCRIPTIONS = {
    "production": "scheduled runs that others wait for; goes before the rest of its team",
    "standard": "ordinary training",
    "development": "experiments; first to give way, also to jobs without a priority",
}


def plan_scheduling(pools: Sequence[PoolPlan], context: Context) -> SchedulingPlan:
    """The cohort with a flavor for each node group, cheapest pool first, reserved before spot before on-demand."""
    own, ledger = context.settings.scheduler, context.ledger

    def price(pool: PoolPlan) -> float:
        usd = pool.node.usd_per_gpu_hour
        return math.inf if usd is None else usd

    kept = kept_from_queues(pools, context)
    flavors = tuple(
        FlavorPlan(
            name=group.name,
            pool=pool.name,
            capacity=group.capacity,
            gpus=max(0, group.max_nodes * pool.node.gpus_offered - kept.get(group.name, 0)),
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
        dry_capacity_minutes=context.take(
            "scheduling.dry_capacity_minutes", "scheduler.dryCapacityMinutes", own.dry_capacity_minutes
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
    *,
    room: CpuRoom | None,
) -> tuple[TeamQueuePlan, ...]:
    """Each team with what it owns: for every flavor the teams' quotas add up to its GPUs.

    `weights` are what the quotas are in proportion to, `source` says where these come from. `room` is what the nodes
    for pods without GPUs hold, and with that the most that a team has of it; without such nodes nobody may make such a
    pod, which would wait for ever.
    """
    ledger = context.ledger
    quotas = _quotas(teams, weights, pools, scheduling, context)
    by_setting = frozenset(name for name, pool in context.settings.gpu_pools.items() if pool.owners is not None)
    queues = []
    for index, team in enumerate(teams):
        key = f"teams.{team.name}"
        mine = tuple(quotas[flavor.name][index] for flavor in scheduling.flavors)
        gpus = sum(quota.gpus for quota in mine)
        ledger.decide(f"{key}.quotas", [f"{quota.flavor} {quota.gpus}" for quota in mine], "what it owns, in GPUs")
        for field, words, why in in_words(mine, pools, source, by_setting, len(teams)):
            ledger.decide(f"{key}.{field}", words, why)
        bounds = [
            _bound(f"{key}.{field}", path, team, most, context)
            if most is not None
            else ledger.decide(f"{key}.{field}", 0, "cpuPool.maxNodes is 0: no node would take pods without GPUs")
            for field, path, most in (
                ("cpu_only_cores", "teams.cpu_per_member", room.cores if room else None),
                ("cpu_only_memory_gib", "teams.memory_gib_per_member", room.memory_gib if room else None),
                ("cpu_only_pods", "teams.pods_per_member", room.pods if room else None),
            )
        ]
        queues.append(
            TeamQueuePlan(
                name=team.name,
                namespace=team_namespace(team.name),
                cluster_queue=team.name,
                # Kueue sends jobs without a queue's name to the LocalQueue `default` of their namespace.
                local_queue="default",
                off_peak_queue=team.name + OFF_PEAK_SUFFIX if has_off_peak_queues(scheduling, context) else None,
                quotas=mine,
                weight=ledger.decide(
                    f"{key}.weight",
                    gpus or WEIGHT_WITHOUT_GPUS,
                    "the GPUs that it owns: what others leave idle is shared in this proportion"
                    if gpus
                    else "it owns no GPUs, and counts as a team of one; 0 would put it behind everybody for ever",
                ),
                cpu_only_cores=bounds[0],
                cpu_only_memory_gib=bounds[1],
                cpu_only_pods=bounds[2],
            )
        )
    return tuple(queues)


def _bound(key: str, path: str, team: Team, most: int, context: Context) -> int:
    """So much a member, at most what there ever is room for: a bound that is never reached bounds nothing."""
    wanted, source = int(context.figure(path)) * team.members, context.source(path)
    return context.ledger.decide(
        key,
        min(wanted, most),
        source if wanted <= most else f"what the CPU pool holds at its most; so many people would have {wanted}",
    )


def _quotas(
    teams: Sequence[Team],
    weights: Sequence[Fraction],
    pools: Sequence[PoolPlan],
    scheduling: SchedulingPlan,
    context: Context,
) -> dict[str, list[QuotaPlan]]:
    """What each team owns of each flavor, by the flavor's name: whole nodes of some pools, GPUs of the others."""
    quotas: dict[str, list[QuotaPlan]] = {}
    for pool in pools:
        given = _owners(pool, teams, context)
        if pool.is_shared_out_in_nodes:
            capacities = [group.max_nodes for group in pool.node_groups]
            rows = hand_out(capacities, node_totals(sum(capacities), weights, given))
            for group, row in zip(pool.node_groups, rows, strict=True):
                quotas[group.name] = [QuotaPlan(group.name, nodes * pool.node.gpus, nodes) for nodes in row]
    for flavor in scheduling.flavors:
        if flavor.name not in quotas:
            parts = largest_remainder(flavor.gpus, weights)
            quotas[flavor.name] = [QuotaPlan(flavor.name, gpus, None) for gpus in parts]
    return quotas


def _owners(pool: PoolPlan, teams: Sequence[Team], context: Context) -> list[int | None]:
    """How many nodes of a pool each team owns by the stack file; None where it does not say."""
    settings, ledger = context.settings.gpu_pools.get(pool.name), context.ledger
    nothing: list[int | None] = [None] * len(teams)
    if settings is None or settings.owners is None:
        return nothing
    key, owners = f"gpuPools.{pool.name}.owners", settings.owners
    names = [team.name for team in teams]
    nodes, claimed = sum(group.max_nodes for group in pool.node_groups), sum(owners.values())
    found = len(ledger.problems)
    if not pool.is_shared_out_in_nodes:
        allowed = "only a pool of jobs that take whole nodes has owners of nodes; the quotas of others are GPUs"
        ledger.problem(key, owners, allowed, "set wholeNodesOnly: true, or leave it out: the teams' shares decide")
    for name in owners:
        if name not in names:
            ledger.problem(
                f"{key}.{name}", owners[name], f"must be one of the teams: {some_of(names)}", nearest(name, names)
            )
    if claimed > nodes:
        ledger.problem(key, f"{claimed} nodes in all", f"must be at most {nodes}, the nodes of the pool's capacities")
    elif claimed < nodes and set(names) <= owners.keys():
        allowed = f"must be {nodes}, the nodes of the pool's capacities, where it names every team"
        ledger.problem(key, f"{claimed} nodes in all", allowed, "leave a team out to give it the rest")
    return nothing if len(ledger.problems) > found else [owners.get(name) for name in names]
