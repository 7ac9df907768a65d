"""A team's share of the cost: of each group of nodes with GPUs or TPUs, its quota's part; everything else is shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.conventions import NOBODYS
from trainyard.cost.context import PriceContext, core_of
from trainyard.cost.model import NOTHING, Amounts, LineItem, Share
from trainyard.recorded.queues import CLUSTER_QUEUE, RESOURCE_FLAVOR, accelerator_quotas, nodes_of_flavor
from trainyard.recorded.read import value_at

SHARED = NOBODYS
"""Network, storage, nodes without GPUs, and GPU nodes that no queue has a quota of."""


def shares_of_teams(lines: Sequence[LineItem], context: PriceContext, plan: Mapping[str, Any]) -> tuple[Share, ...]:
    """Cost by team, by the nominal quotas of the recorded cluster queues; the last share is what is shared.

    The cents that rounding leaves go to the shared part, so that the shares add up to the lines.
    """
    quotas = _quotas(context)
    sums: dict[str, Amounts] = {team: NOTHING for parts in quotas.values() for team in parts}
    for line in lines:
        parts = quotas.get((line.pool, line.capacity), {}) if line.pool else {}
        held = sum(parts.values())
        for team, gpus in parts.items():
            if held:
                sums[team] = sums[team] + line.usd.times(gpus / held)
    total = sum((line.usd for line in lines), NOTHING)
    teams = {team: usd.rounded() for team, usd in sums.items()}
    rest = total + sum(teams.values(), NOTHING).times(-1)
    budgets = {str(team.get("name")): team.get("monthly_budget_usd") for team in core_of(plan).get("teams") or ()}
    shares = [Share(team, "", usd, budgets.get(team)) for team, usd in teams.items()]
    return (*shares, Share(SHARED, "", rest.rounded()))


def _quotas(context: PriceContext) -> dict[tuple[str, str], dict[str, float]]:
    """GPUs or TPU chips by team, for each pool in each capacity, as the flavors' node labels name them."""
    flavors = {
        str(value_at(resource.inputs, "metadata", "name")): nodes_of_flavor(resource)
        for resource in context.resources.of(RESOURCE_FLAVOR)
    }
    quotas: dict[tuple[str, str], dict[str, float]] = {}
    for resource in context.resources.of(CLUSTER_QUEUE):
        team = str(value_at(resource.inputs, "metadata", "name"))
        for flavor, gpus in accelerator_quotas(resource):
            if gpus and flavor in flavors:
                parts = quotas.setdefault(flavors[flavor], {})
                parts[team] = parts.get(team, 0.0) + gpus
    return quotas
