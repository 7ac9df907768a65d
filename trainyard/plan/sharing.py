"""Who may use how much: teams, queues, quotas, priorities."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from trainyard import catalog
from trainyard.conventions import CAPACITY_LABEL, POOL_LABEL, team_namespace
from trainyard.plan.ledger import Ledger
from trainyard.plan.model import FlavorPlan, PoolPlan, PriorityPlan, QuotaPlan, SchedulingPlan, TeamPlan
from trainyard.plan.profiles import Profile
from trainyard.plan.request import SchedulingRequest, TeamRequest

DNS_LABEL = re.compile(r"[a-z]([a-z0-9]|-(?!-))*")
MAX_NAME = 20
"""Of a client, an environment or a team: names built from them stay within 63 characters."""
MAX_PREFIX = 33
"""Of `<client>-<environment>`: S3 allows 63 characters, of which purpose and account id take up to 30."""
MAX_FLAVORS = 64
"""Flavors of one resource group of a Kueue 0.19 ClusterQueue."""
_DESCRIPTIONS = {
    "production": "scheduled runs that others wait for; preempts the rest",
    "standard": "ordinary training",
    "development": "experiments; first to give way",
}


def check_name(key: str, name: str, ledger: Ledger) -> None:
    """A client's, environment's or team's name must fit every resource that is named after it."""
    if not DNS_LABEL.fullmatch(name) or name.endswith("-"):
        ledger.problem(key, name, "must be lower-case letters, digits and single '-', beginning with a letter")
    elif len(name) > MAX_NAME:
        ledger.problem(key, name, f"must be at most {MAX_NAME} long")


def check_teams(teams: Sequence[TeamRequest], team_size: int | None, ledger: Ledger) -> None:
    """Names, members and shares of the teams together."""
    for index, team in enumerate(teams):
        check_name(f"teams[{index}].name", team.name, ledger)
        if team.members < 1:
            ledger.problem(f"teams[{index}].members", team.members, "must be at least 1")
        if team.share_percent is not None and not 0 < team.share_percent <= 100:
            ledger.problem(f"teams[{index}].share", team.share_percent, "must be above 0 and at most 100 percent")
    for name, times in Counter(team.name for team in teams).items():
        if times > 1:
            ledger.problem("teams", f"{times} teams of the name {name}", "every team needs a name of its own")
    members = sum(team.members for team in teams)
    if team_size is not None and members > team_size:
        ledger.problem(
            "teams", f"{members} members in all", f"must be at most teamSize, which is {team_size}", "raise teamSize"
        )
    shares = [team.share_percent for team in teams if team.share_percent is not None]
    if shares and len(shares) < len(teams):
        without = ", ".join(team.name for team in teams if team.share_percent is None)
        ledger.problem(
            "teams", f"no share for {without}", "give every team a share (percent), or none and members decide"
        )
    elif shares and abs(sum(shares) - 100) > 0.01:
        ledger.problem("teams", f"shares that add up to {sum(shares):g}", "shares are percent and must add up to 100")


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


def plan_scheduling(
    request: SchedulingRequest, pools: Sequence[PoolPlan], profile: Profile, ledger: Ledger
) -> SchedulingPlan:
    """The cohort with a flavor for each node group, cheapest pool first, reserved before spot before on-demand."""

    def price(pool: PoolPlan) -> float:
        usd = catalog.instance(pool.instance_type).usd_per_gpu_hour
        return math.inf if usd is None else usd

    flavors = tuple(
        FlavorPlan(
            name=group.name,
            pool=pool.name,
            capacity=group.capacity,
            node_labels=((POOL_LABEL, pool.name), (CAPACITY_LABEL, group.capacity)),
            gpus=group.gpus(pool),
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
    return SchedulingPlan(
        cohort=ledger.decide(
            "scheduling.cohort", str(profile.figure("scheduling.cohort").value), profile.source("scheduling.cohort")
        ),
        flavors=flavors,
        priorities=_priorities(request, profile, ledger),
        pods_ready_timeout_minutes=_number(
            "pods_ready_timeout_minutes", "podsReadyTimeoutMinutes", request.pods_ready_timeout_minutes, profile, ledger
        ),
        requeue_limit=_number("requeue_limit", "requeueLimit", request.requeue_limit, profile, ledger),
    )


def _number(name: str, setting: str, given: int | None, profile: Profile, ledger: Ledger) -> int:
    path = f"scheduling.{name}"
    if given is None:
        return ledger.decide(path, int(profile.figure(path).value), profile.source(path))
    if given < 0:
        ledger.problem(f"scheduler.{setting}", given, "must be 0 or more")
    return ledger.decide(path, given, f"setting scheduler.{setting}")


def _priorities(request: SchedulingRequest, profile: Profile, ledger: Ledger) -> tuple[PriorityPlan, ...]:
    given = request.priorities or {}
    values: dict[str, int] = {}
    for name in (*profile.names("scheduling.priorities"), *given):
        path = f"scheduling.priorities.{name}"
        if name in given:
            check_name(f"scheduler.priorities.{name}", name, ledger)
            values[name] = ledger.decide(path, given[name], f"setting scheduler.priorities.{name}")
        else:
            values[name] = ledger.decide(path, int(profile.figure(path).value), profile.source(path))
    ordered = sorted(values.items(), key=lambda entry: -entry[1])
    return tuple(PriorityPlan(name, value, _DESCRIPTIONS.get(name, f"priority {name}")) for name, value in ordered)


def plan_teams(
    requests: Sequence[TeamRequest],
    pools: Sequence[PoolPlan],
    scheduling: SchedulingPlan,
    monthly_usd: int,
    profile: Profile,
    ledger: Ledger,
) -> tuple[TeamPlan, ...]:
    """Each team with its quotas: for every flavor the teams' quotas add up to its GPUs."""
    by_share = all(team.share_percent is not None for team in requests)
    weights = [Fraction(str(team.share_percent)) if by_share else Fraction(team.members) for team in requests]
    source = "setting teams: shares" if by_share else "setting teams: in proportion to members"
    quotas = [largest_remainder(flavor.gpus, weights) for flavor in scheduling.flavors]
    budgets = largest_remainder(monthly_usd, weights)
    # A team may borrow every GPU node, so that no namespace quota may be below all of them.
    cores = sum(group.max_nodes * pool.vcpus for pool in pools for group in pool.node_groups)
    memory = math.ceil(sum(group.max_nodes * pool.memory_gib for pool in pools for group in pool.node_groups))
    gpus = sum(flavor.gpus for flavor in scheduling.flavors)
    teams = []
    for index, team in enumerate(requests):
        key = f"teams.{team.name}"
        share = round(float(100 * weights[index] / sum(weights, Fraction(0))), 2)
        limits = [
            ledger.decide(
                f"{key}.{field}", floor + _per(path, team.members, profile), f"{what}, and {profile.source(path)}"
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
        teams.append(
            TeamPlan(
                name=team.name,
                members=ledger.decide(f"{key}.members", team.members, "setting teams"),
                principal_arns=team.principal_arns,
                share_percent=ledger.decide(f"{key}.share_percent", share, source),
                namespace=team_namespace(team.name),
                cluster_queue=team.name,
                # Kueue sends jobs without a queue's name to the LocalQueue `default` of their namespace.
                local_queue="default",
                quotas=mine,
                cpu_limit=limits[0],
                memory_limit_gib=limits[1],
                pods=limits[2],
                monthly_budget_usd=ledger.decide(
                    f"{key}.monthly_budget_usd", budgets[index], f"{source}; of the monthly budget"
                ),
            )
        )
    return tuple(teams)


def _per(path: str, members: int, profile: Profile) -> int:
    return int(profile.figure(path).value) * members
