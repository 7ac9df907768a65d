"""The same stack, bought in other ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from trainyard.cost.assumptions import Assumptions
from trainyard.cost.model import Cost
from trainyard.cost.price import assumptions_of, price_stack
from trainyard.recorded.model import RecordedResource


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to buy what the stack uses, and what that makes the expected cost of a month."""

    name: str
    expected_usd: float
    low_usd: float
    high_usd: float
    why: str

    def as_json(self) -> dict[str, Any]:
        """The alternative with its amounts rounded to the cent, as the JSON of `cost` has it."""
        return {
            "name": self.name,
            "expected": round(self.expected_usd, 2),
            "expected_low": round(self.low_usd, 2),
            "expected_high": round(self.high_usd, 2),
            "why": self.why,
        }


def alternatives(
    resources: Sequence[RecordedResource],
    plan: Mapping[str, Any],
    cost: Cost,
    *,
    assumptions: Assumptions | None = None,
    today: date | None = None,
) -> tuple[Alternative, ...]:
    """What the expected use of `cost` would cost bought otherwise; the first is `cost` itself.

    The hours are the same in all but the last, where pools never scale down.
    """
    chosen = assumptions or assumptions_of(plan)
    on_demand = price_stack(resources, plan, assumptions=chosen.with_values({"spot_saving_percent": 0}), today=today)
    found = [
        Alternative("as it is", cost.total.expected, cost.low_usd, cost.high_usd, "the stack's pools and reservations"),
        Alternative(
            "all on demand",
            on_demand.total.expected,
            on_demand.low_usd,
            on_demand.high_usd,
            "the same hours, none of them at the spot price",
        ),
    ]
    for months in sorted({saving.months for saving in cost.savings if saving.status == "possible"}):
        offers = [saving for saving in cost.savings if saving.status == "possible" and saving.months == months]
        found.append(
            Alternative(
                f"committed, {months} months",
                cost.total.expected - sum(saving.usd for saving in offers),
                cost.low_usd - sum(saving.high_usd for saving in offers),
                cost.high_usd - sum(saving.low_usd for saving in offers),
                "what always runs is committed; the rest as it is",
            )
        )
    always_on = price_stack(
        resources,
        plan,
        assumptions=chosen.with_values({"spot_saving_percent": 0, "utilisation_percent": 100}),
        today=today,
    )
    found.append(
        Alternative(
            "always on",
            always_on.total.expected,
            always_on.low_usd,
            always_on.high_usd,
            "every GPU node all month on demand: what scaling to zero and spot spare",
        )
    )
    return tuple(found)
