"""The idle floor as tables: what is paid while no job runs, and what `assurance` decides of it."""

from __future__ import annotations

from trainyard.plan.assurance import Side, choices
from trainyard.plan.parts import Plan
from trainyard.review.works.model import Table
from trainyard.settings.common import Settings


def tables(settings: Settings, plan: Plan) -> tuple[Table, ...]:
    """The floor's items, and each setting that the other assurance would decide otherwise, with both prices.

    Raises:
        SettingsError: the stack has no plan under the other assurance.
    """
    items = plan.core.idle_floor.items
    paid = [
        (item.what, "no price" if item.monthly_usd is None else _usd(item.monthly_usd), item.setting, item.source)
        for item in items
    ]
    total = ("together", _usd(plan.core.idle_floor.monthly_usd), "", "the sum; traffic, requests and logs come on top")
    found = choices(settings, plan.core.stack)
    compared = [
        (choice.setting, _told(choice.standard), _told(choice.high), f"{choice.difference_usd:+,.2f}")
        for choice in found
    ]
    return (
        Table("floor", "Paid while no job runs", ("what", "USD a month", "setting", "source"), (*paid, total)),
        Table(
            "assurance",
            "What assurance decides",
            ("setting", "standard", "high", "USD a month more"),
            tuple(compared),
        ),
    )


def _told(side: Side) -> str:
    return f"{side.what}: {_usd(side.monthly_usd)}" if side.what else "none"


def _usd(amount: float) -> str:
    return f"{amount:,.2f}"
