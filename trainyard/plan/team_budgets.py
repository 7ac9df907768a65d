"""Teams' budgets at the queue: what an hour of a GPU or TPU chip costs, and what becomes of a team without money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from trainyard.catalog import gcp
from trainyard.catalog.spot_prices import closest_spot
from trainyard.conventions import Capacity
from trainyard.plan.context import Context
from trainyard.plan.parts import FlavorPricePlan, LedgerPlan, NodeGroupPlan, PoolPlan
from trainyard.settings.people import Team

GPU_PRICES: Final = "teamBudgets.gpuHourUsd"
CHIP_PRICES: Final = "gcp.tpuPools.{}.{}.chipHourUsd"
"""Where the price of a chip is said, of a pool of TPU slices in a capacity."""


def plan_ledger(
    pools: Sequence[PoolPlan],
    teams: Sequence[Team],
    node_hour_usd: Mapping[str, float],
    volume_gib_month_usd: Mapping[str, float],
    context: Context,
    chips: Mapping[str, tuple[str, float | None]] = MappingProxyType({}),
) -> LedgerPlan:
    """The prices by which the ledger counts what a team holds, and who is held when its budget is spent.

    Args:
        pools: GPU pools, whose prices are those of their instances a GPU.
        teams: the teams of the settings.
        node_hour_usd: list prices of nodes without GPUs by instance type; what has none is in no sum.
        volume_gib_month_usd: list prices of volumes by storage class.
        context: settings and what is decided.
        chips: by flavor of TPU slices, where a price of its chips is said, and what an hour of one counts as.
    """
    own, ledger = context.settings.team_budgets, context.ledger
    groups = {group.name: (pool, group) for pool in pools for group in pool.node_groups}
    for flavor in own.gpu_hour_usd:
        if flavor not in groups:
            allowed = f"must be one of {', '.join(groups) or 'no capacities'}"
            ledger.problem(GPU_PRICES, flavor, allowed, f"set {chips[flavor][0]}" if flavor in chips else "")
    prices = {name: _gpu_hour_usd(name, *found, context) for name, found in groups.items()}
    missing = {name: f"{GPU_PRICES}.{name}" for name, usd in prices.items() if usd is None}
    missing |= {name: setting for name, (setting, usd) in chips.items() if usd is None}
    unpriced = list(missing)
    names = [team.name for team in teams]
    for team in own.exempt:
        if team not in names:
            ledger.problem("teamBudgets.exempt", team, f"must be one of {', '.join(names)}")
    nobody = set(names) <= set(own.exempt)
    if own.hold is not None:
        hold, source = own.hold, "setting teamBudgets.hold"
        if hold and unpriced:
            hint = f"set {missing[unpriced[0]]}"
            ledger.problem("teamBudgets.hold", hold, f"the catalogue has no price of {', '.join(unpriced)}", hint)
        if hold and nobody:
            allowed = "must leave out a team where teamBudgets.hold is true: nobody is left to be held"
            ledger.problem("teamBudgets.exempt", list(own.exempt), allowed)
    elif unpriced:
        hold, source = False, f"no price of {', '.join(unpriced)}: what is spent is not known"
    elif nobody:
        hold, source = False, "setting teamBudgets.exempt: every team is"
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


def _gpu_hour_usd(name: str, pool: PoolPlan, group: NodeGroupPlan, context: Context) -> float | None:
    """USD an hour of one GPU of a node group; None where nothing says it."""
    return hour_usd(
        f"ledger.gpu_hour_usd.{name}",
        context.settings.team_budgets.gpu_hour_usd.get(name),
        GPU_PRICES,
        group.capacity,
        group.instance_types[0],
        pool.node.gpus_offered,
        pool.node.usd_per_gpu_hour,
        context,
    )


def hour_usd(
    key: str,
    given: float | None,
    setting: str,
    capacity: Capacity,
    instance_type: str,
    units: int,
    listed: float | None,
    context: Context,
) -> float | None:
    """What an hour of one GPU or TPU chip counts as, decided at `key`; None where nothing says it.

    Args:
        key: of the ledger of decisions.
        given: by `setting`.
        setting: where a price is said.
        capacity: how its node is paid for.
        instance_type: machine that has it.
        units: GPUs or chips that pods of such a machine are offered.
        listed: USD an hour of one on demand, None where the catalogue has none.
        context: settings and what is decided.
    """
    if given is not None:
        return context.ledger.decide(key, given, f"setting {setting}")
    if listed is None:
        return context.ledger.decide(key, None, f"the catalogue has no price; set {setting}")
    if capacity != "spot":
        why = "list price on demand"
        if capacity == "reserved":
            why += f", which a reservation costs too; what a commitment makes of it, set {setting}"
        return context.ledger.decide(key, round(listed, 4), why)
    cloud = context.settings.cloud
    family = gcp.family(instance_type) if cloud == "gcp" else instance_type.partition(".")[0]
    row = closest_spot(cloud, instance_type, family, context.region)
    if row is None:
        return context.ledger.decide(key, round(listed, 4), "list price on demand: no price of spot is known")
    usd = row.usd_of(instance_type, context.region)
    price = usd.typical / units if usd is not None else listed * (1 - row.savings.typical)
    return context.ledger.decide(key, round(price, 4), f"typical price of spot: {row.source}, {row.date}")
