"""The monthly budget with its alerts."""

from __future__ import annotations

from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import BudgetPlan, IdleFloor


def plan_budget(context: Context) -> BudgetPlan:
    """The budget: the settings', or the profile's for a team of this size."""
    settings, ledger = context.settings, context.ledger
    path = "budget.monthly_usd"
    if settings.monthly_budget_usd is not None:
        monthly = ledger.decide(path, settings.monthly_budget_usd, "setting monthlyBudgetUsd")
    else:
        monthly = ledger.decide(path, context.grown(path), context.source(path))
    key = "budget.anomaly_threshold_usd"
    if settings.budget.anomaly_threshold_usd is not None:
        threshold = ledger.decide(key, settings.budget.anomaly_threshold_usd, "setting budget.anomalyThresholdUsd")
    else:
        path = "budget.anomaly_percent"
        percent = context.figure(path)
        threshold = ledger.decide(key, max(1, round(monthly * percent / 100)), context.source(path))
    return BudgetPlan(
        monthly_usd=monthly,
        alert_emails=tuple(settings.alert_emails),
        actual_percents=context.listed("budget.actual_percents"),
        forecast_percents=context.listed("budget.forecast_percents"),
        anomaly_threshold_usd=threshold,
    )


def check_budget(monthly_usd: int, floor: IdleFloor, ledger: Ledger) -> None:
    """A budget below the idle floor is spent before the first job runs."""
    if monthly_usd >= floor.monthly_usd:
        return
    priced = [(item.what, item.monthly_usd) for item in floor.items if item.monthly_usd is not None]
    largest = sorted(priced, key=lambda entry: -entry[1])[:3]
    named = ", ".join(f"{what} {usd:,.0f}" for what, usd in largest)
    ledger.problem(
        "monthlyBudgetUsd",
        monthly_usd,
        f"must be at least {floor.monthly_usd:,.0f} USD a month, the idle floor (what it costs while no job runs)",
        f"most of it: {named}",
    )
