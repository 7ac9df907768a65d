"""The recommender's answer to a client's assessment as the start of a stack: what the pool `train` is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from trainyard.cli.project import fail

if TYPE_CHECKING:
    from trainyard.advice import Option
    from trainyard.advice.assessment import Assessment
    from trainyard.plan.parts import Plan

POOL: Final = "train"
"""The pool of large training, which every profile with a cluster has."""

_CAPACITIES: Final = ("spot", "on-demand")
"""Ways of paying that take no purchase before."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the recommender says of a client's training."""

    option: Option | None  # None where no formula covers the training, or it takes a purchase first
    why: str

    def pool(self, plan: Plan) -> dict[str, Any]:
        """The settings of the pool, where the stack has a cluster: machines as recommended; how many, the profile says,
        but as many as one run takes."""
        if self.option is None or not plan.clusters:
            return {}
        pool = plan.clusters[0].pool(POOL)
        wanted: dict[str, Any] = {"instanceType": self.option.machine.type, "fabric": self.option.machine.fabric}
        nodes = self.option.nodes * self.option.copies
        kind = "spot" if self.option.capacity == "spot" else "onDemand"
        there = sum(group.max_nodes for group in pool.node_groups if group.capacity == self.option.capacity)
        if there < nodes:
            wanted[kind] = {"minNodes": 0, "maxNodes": nodes}
        return {POOL: wanted}


def start_of(assessment: Assessment, today: date) -> Start:
    """The recommendation; ends the command where nothing meets the time and the money that the client named."""
    from trainyard.advice import recommend
    from trainyard.advice.assessed import request_of

    found = recommend(request_of(assessment, today))
    if found.workload.refusal:
        return Start(None, found.workload.refusal)
    if found.refusal:
        near = "; ".join(map(_told, found.nearest))
        fail(f"the answers cannot be met: {found.refusal}{f'; what comes nearest: {near}' if near else ''}")
    option = next((option for option in found.options if option.capacity in _CAPACITIES), None)
    if option is None:
        return Start(None, f"what meets the answers is bought first: {found.options[0].capacity}")
    return Start(option, _told(option))


def _told(option: Option) -> str:
    from trainyard.advice.units import duration, money

    what = f"{option.nodes * option.copies} {option.machine.type}, {option.capacity}: a run {duration(option.hours)}"
    cost = f"USD {money(option.monthly_usd)} a month" if option.monthly_usd else f"USD {money(option.cost_usd)} a run"
    return f"{what}, {cost}"
