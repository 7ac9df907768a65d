"""What high assurance buys and costs: the idle floor of the same stack under both."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.plan.make import make_plan
from trainyard.plan.parts import IdleFloor
from trainyard.plan.profiles import Assurance
from trainyard.settings.common import Settings


@dataclass(frozen=True, slots=True)
class Side:
    """What a setting comes to under one assurance."""

    what: str  # "database (db.t4g.medium in 2 zones), database storage"; empty: there is none
    monthly_usd: float


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting whose part of the idle floor depends on the assurance."""

    setting: str
    standard: Side
    high: Side

    @property
    def difference_usd(self) -> float:
        """What high assurance costs more, USD a month."""
        return round(self.high.monthly_usd - self.standard.monthly_usd, 2)


def choices(settings: Settings, stack: str) -> tuple[Choice, ...]:
    """The settings that `assurance` decides, the dearest first; what the stack file says itself is not among them.

    Raises:
        SettingsError: the stack has no plan under one of the two.
    """
    standard, high = (_sides(_floor(settings, stack, assurance)) for assurance in ("standard", "high"))
    nothing = Side("", 0)
    found = [
        Choice(setting, standard.get(setting, nothing), high.get(setting, nothing))
        for setting in dict.fromkeys((*standard, *high))
        if standard.get(setting) != high.get(setting)
    ]
    return tuple(sorted(found, key=lambda choice: -abs(choice.difference_usd)))


def _floor(settings: Settings, stack: str, assurance: Assurance) -> IdleFloor:
    return make_plan(settings.model_copy(update={"assurance": assurance}), stack).core.idle_floor


def _sides(floor: IdleFloor) -> dict[str, Side]:
    """The items of each setting together."""
    found: dict[str, Side] = {}
    for item in floor.items:
        before = found.get(item.setting)
        what = f"{before.what}, {item.what}" if before else item.what
        found[item.setting] = Side(what, round((before.monthly_usd if before else 0) + (item.monthly_usd or 0), 2))
    return found
