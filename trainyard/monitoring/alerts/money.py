"""Alerts on money: it goes faster than usual, or a team's is gone."""

from __future__ import annotations

from typing import Final

from trainyard.monitoring import names as n
from trainyard.monitoring.model import Alert, Runbook, Severity
from trainyard.monitoring.recordings import held_usd_per_hour
from trainyard.monitoring.thresholds import Thresholds

_SEE = (
    "The dashboard of the cost shows each queue's USD an hour; the one of the team, what is left.",
    "`trainyard explain STACK budget` says where the team's budget comes from.",
)


def _accelerators(*, chips: bool) -> str:
    return "GPUs and TPU chips" if chips else "GPUs"


def _spike(at: Thresholds, *, chips: bool) -> Alert:
    total, what = f"sum({held_usd_per_hour(chips=chips)})", _accelerators(chips=chips)
    day, week = f"avg_over_time({total}[1d:5m])", f"avg_over_time({total}[7d:1h] offset 1d)"
    return Alert(
        "CostSpike",
        "cost rises",
        f"{day} > {1 + at.cost_spike_percent / 100:g} * {week}"
        f" and {day} - {week} > {at.cost_spike_usd_per_day} / 24"
        f" and count_over_time({total}[7d:1h] offset 1d) >= 24",
        "warning",
        f"{what} of the last day cost {{{{ $value | humanize }}}} USD an hour, over {at.cost_spike_percent} % more "
        f"than the week before",
        Runbook(
            f"The {what} that jobs held in the last day cost more than the mean of the week before it. A day is "
            "compared with a week, because training comes in bursts; in its first day an environment has nothing to "
            "compare with.",
            _SEE,
            (
                "Ask the team whose queue rose; a large run that was announced is no fault.",
                "If nobody knows: stop the job, it keeps its checkpoint.",
                "If this is the new usual, the budget should say so.",
            ),
        ),
        "15m",
        "cost_spike_percent",
    )


LADDER: Final = ("TeamBudgetNotice", "TeamBudgetWarning", "TeamBudgetSpent")
"""The alerts on a team's budget, in the order in which they come."""


def _ladder(at: Thresholds, *, chips: bool) -> tuple[Alert, ...]:
    what = _accelerators(chips=chips)
    percent = f"max by (team) ({n.TEAM_SPENT_USD}) / on (team) (max by (team) ({n.TEAM_BUDGET_USD}) > 0) * 100"
    first, second, last = at.budget_percents
    steps: tuple[tuple[str, str, Severity, int, int | None, str], ...] = (
        (
            LADDER[0],
            "a first part of a team's budget is spent",
            "notice",
            first,
            second,
            "Nothing has to be done.",
        ),
        (
            LADDER[1],
            "a team's budget is nearly spent",
            "warning",
            second,
            last,
            "It will be gone before the month is.",
        ),
        (
            LADDER[2],
            "a team's budget is spent",
            "critical",
            last,
            None,
            "Where teams are held (`teamBudgets.hold`), nothing new of the team starts; what runs goes on.",
        ),
    )

    def alert(name: str, title: str, severity: Severity, at_least: int, below: int | None, means: str) -> Alert:
        upper = f" < {below}" if below is not None else ""
        return Alert(
            name,
            title,
            f"{percent} >= {at_least}{upper}",
            severity,
            "team {{ $labels.team }} has spent {{ $value | humanize }} % of this month's budget",
            Runbook(
                f"The {what} that the team has held this month cost at least {at_least} % of its budget. {means}",
                _SEE,
                (
                    "Tell the team, with its page of the dashboard.",
                    "Raise the team's budget in the stack file, or agree on what waits until the first.",
                    "A team that is held goes on at once, until a time that ends by itself, with the annotation "
                    "`ml.platform/budget-override-until` on one of its LocalQueues (docs/queues.md).",
                ),
            ),
            "5m",
            "budget_percents",
        )

    return tuple(alert(*step) for step in steps)


def _total(at: Thresholds, *, chips: bool) -> tuple[Alert, ...]:
    """All teams together: where no budget of the cloud's is in reach, nobody else says it of the environment."""
    what = _accelerators(chips=chips)
    spent, budget = f"sum(max by (team) ({n.TEAM_SPENT_USD}))", f"sum(max by (team) ({n.TEAM_BUDGET_USD}) > 0)"
    _, second, last = at.budget_percents

    def alert(name: str, title: str, severity: Severity, at_least: int, below: int | None) -> Alert:
        upper = f" < {below}" if below is not None else ""
        return Alert(
            name,
            title,
            f"{spent} / {budget} * 100 >= {at_least}{upper}",
            severity,
            "all teams together have spent {{ $value | humanize }} % of this month's budgets",
            Runbook(
                f"The {what} that all teams have held this month cost at least {at_least} % of their budgets "
                f"together. Where the cloud's own budget is out of reach, this is the word on the environment's total: "
                f"{what} are most of the bill, not all of it.",
                _SEE,
                (
                    "Look which team's part grew: its own alerts say when.",
                    "Compare with the cloud's bill; what is no GPU is in `trainyard cost STACK`.",
                    "Raise monthlyBudgetUsd, or agree with the teams on what waits until the first.",
                ),
            ),
            "5m",
            "budget_percents",
        )

    return (
        alert("EnvironmentBudgetWarning", "the budgets of all teams are nearly spent", "warning", second, last),
        alert("EnvironmentBudgetSpent", "the budgets of all teams are spent", "critical", last, None),
    )


def _silent(*, chips: bool) -> Alert:
    prices = f"`{n.GPU_HOUR_USD}` or `{n.CHIP_HOUR_USD}`" if chips else f"`{n.GPU_HOUR_USD}`"
    return Alert(
        "LedgerSilent",
        "nobody knows what teams have spent",
        f"absent({n.TEAM_SPENT_USD}) and on () count({n.TEAM_BUDGET_USD})",
        "critical",
        "there is a budget for each team, and no figure of what was spent",
        Runbook(
            "Teams have budgets and the ledger gives no figure. Nothing is held or let go meanwhile.",
            (f"`{n.TEAM_SPENT_USD}` and {prices} in Prometheus: one of them has no series.",),
            ("Look at the alerts on missing figures first: a ledger without Kueue's figures has nothing to count.",),
        ),
        "15m",
    )


def money_alerts(at: Thresholds, *, chips: bool = False) -> tuple[Alert, ...]:
    """Every alert on money; with chips, that of TPU slices is counted."""
    return (
        _spike(at, chips=chips),
        *_ladder(at, chips=chips),
        *_total(at, chips=chips),
        _silent(chips=chips),
    )
