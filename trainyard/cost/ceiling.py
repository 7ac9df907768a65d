"""The most that resources can cost in an hour, for whoever must hold it against a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainyard.conventions import HOURS_A_MONTH
from trainyard.cost.assumptions import assumptions_for
from trainyard.cost.bound import at_most
from trainyard.cost.context import UNKNOWN_DATABASE, UNKNOWN_MACHINES, PriceContext
from trainyard.cost.model import LineItem, Unpriced
from trainyard.cost.price import DEFAULT_PROFILE, cost_entries
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import Resources

_BOUNDED: Final = (*UNKNOWN_MACHINES, UNKNOWN_DATABASE)


@dataclass(frozen=True, slots=True)
class HourlyCeiling:
    """US dollars an hour at the most, before tax, without what has no price: plain machines and databases that the
    catalogue does not have are in it with what they do not pass. An extra that costs a fraction of what it is of is in
    neither: the cost of the stack names it."""

    usd: float
    unpriced: tuple[tuple[RecordedResource, Unpriced], ...]


def hourly_ceiling(resources: Resources, *types: str, profile: str = DEFAULT_PROFILE) -> HourlyCeiling:
    """The most that the resources of these types cost in an hour; the others are looked at for references only.

    What is bought for a time (a Capacity Block) counts at the on-demand price of the same, which it does not pass; at
    its listed price where the same is not sold on demand.
    `profile` is the team size whose assumptions hold.

    Raises:
        UnknownInput: something that decides on a price is not known yet.
    """
    context = PriceContext(resources, assumptions=assumptions_for(profile))
    usd_a_month = 0.0
    missing: list[tuple[RecordedResource, Unpriced]] = []
    for resource in resources.of(*types):
        for entry in cost_entries(resource, context):
            if isinstance(entry, LineItem):
                usd_a_month += entry.usd.ceiling
            elif isinstance(entry, Unpriced) and entry.on_demand_usd is not None:
                usd_a_month += entry.on_demand_usd
            elif isinstance(entry, Unpriced):
                bound = at_most(resource, resources) if entry.reason in _BOUNDED else None
                if bound is None and not entry.aside:
                    missing.append((resource, entry))
                elif bound is not None:
                    usd_a_month += bound * HOURS_A_MONTH
    return HourlyCeiling(usd_a_month / HOURS_A_MONTH, tuple(missing))
