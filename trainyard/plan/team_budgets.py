"""Teams' budgets at the queue: what an hour of a GPU costs, and what happens to a team whose money is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.catalog import gcp
from trainyard.catalog.spot_prices import closest_spot
from trainyard.plan.context import Context
from trainyard.plan.parts import FlavorPricePlan, LedgerPlan, NodeGroupPlan, PoolPlan
from trainyard.settings.people import Team


def plan_ledger(
    pools: Sequence[PoolPlan],
    teams: Sequence[Team],
    node_hour_usd: Mapping[str, float],
    volume_gib_month_usd: Mapping[str, float],
    context: Context,
) -> LedgerPlan:
    """The prices by which the ledger counts what a team holds, and who is held when its budget is spent.

    Args:
        pools: GPU pools, whose prices are those of their instances a GPU.
        teams: the teams of the settings.
        node_hour_usd: list prices of nodes without GPUs by instance type; what has none is in no sum.
        volume_gib_month_usd: list prices of volumes by storage class.
        context: settings and what is decided.
    """
    own, ledger = context.settings.team_budgets, context.ledger
    groups = {group.name: (pool, group) for pool in pools for group in pool.node_groups}
    for flavor in own.gpu_hour_usd:
        if flavor not in groups:
            ledger.problem("teamBudgets.gpuHourUsd", flavor, f"must be one of {', '.join(groups) or 'no capacities'}")
    prices = {name: _price(name, *found, context) for name, found in groups.items()}
    unpriced = [name for name, usd in prices.items() if usd is None]
    names = [team.name for team in teams]
    for team in own.exempt:
        if team not in names:
            ledger.problem("teamBudgets.exempt", team, f"must be one of {', '.join(names)}")
    if own.hold is not None:
        hold, source = own.hold, "setting teamBudgets.hold"
        if hold and unpriced:
            hint = f"set teamBudgets.gpuHourUsd.{unpriced[0]}"
            ledger.problem("teamBudgets.hold", hold, f"the catalogue has no price of {', '.join(unpriced)}", hint)
    elif unpriced:
        hold, source = False, f"no price of {', '.join(unpriced)}: what is spent is not known"
    elif context.settings.monthly_budget_usd is not None:
        hold, source = True, "setting monthlyBudgetUsd: where the budget is the client's word it is kept"
    else:
        hold, source = False, "the budget is the profile's guess: it is told, and nobody is held by it"
    hold = ledger.decide("ledger.hold", hold, f"{source}; its program runs on the system nodes and costs nothing")
    if own.drain_after_hours is not None and not hold:
        ledger.problem("teamBudgets.drainAfterHours", own.drain_after_hours, "needs teamBudgets.hold: true")
    drained = "nothing" if own.drain_after_hours is None else own.drain_after_hours
    ledger.decide(
        "ledger.drain_after_hours",
        drained,
        "setting teamBudgets.drainAfterHours" if own.drain_after_hours is not None else "what runs goes on to its end",
    )
    return LedgerPlan(
        gpu_hour_usd=tuple(FlavorPricePlan(name, usd) for name, usd in prices.items() if usd is not None),
        node_hour_usd=_told("node_hour_usd", node_hour_usd, context),
        volume_gib_month_usd=_told("volume_gib_month_usd", volume_gib_month_usd, context),
        hold=hold,
        exempt=tuple(own.exempt),
        drain_after_hours=own.drain_after_hours,
    )


def _told(name: str, prices: Mapping[str, float], context: Context) -> tuple[tuple[str, float], ...]:
    """Prices by what they are of, decided by the catalogue."""
    listed = tuple(sorted(prices.items()))
    words = ", ".join(f"{what} {usd:g}" for what, usd in listed) or "none"
    context.ledger.decide(f"ledger.{name}", words, "list prices of the catalogue, by which the chargeback counts")
    return listed


def _price(name: str, pool: PoolPlan, group: NodeGroupPlan, context: Context) -> float | None:
    """USD an hour of one GPU of a node group; None where nothing says it."""
    key, given = f"ledger.gpu_hour_usd.{name}", context.settings.team_budgets.gpu_hour_usd.get(name)
    if given is not None:
        return context.ledger.decide(key, given, "setting teamBudgets.gpuHourUsd")
    listed = pool.node.usd_per_gpu_hour
    if listed is None:
        return context.ledger.decide(key, None, "the catalogue has no price; set teamBudgets.gpuHourUsd")
    if group.capacity != "spot":
        why = "list price on demand"
        if group.capacity == "reserved":
            why += ", which a reservation costs too; what a commitment makes of it, set teamBudgets.gpuHourUsd"
        return context.ledger.decide(key, round(listed, 4), why)
    cloud, kind = context.settings.cloud, group.instance_types[0]
    family = gcp.family(kind) if cloud == "gcp" else kind.partition(".")[0]
    row = closest_spot(cloud, kind, family, context.region)
    if row is None:
        return context.ledger.decide(key, round(listed, 4), "list price on demand: no price of spot is known")
    usd = row.usd_of(kind, context.region)
    price = usd.typical / pool.node.gpus_offered if usd is not None else listed * (1 - row.savings.typical)
    return context.ledger.decide(key, round(price, 4), f"typical price of spot: {row.source}, {row.date}")
