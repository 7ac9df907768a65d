"""What an hour of a GPU counts as, who is held when a budget is spent, and what each team may spend."""

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.problems import SettingsError

TEAMS = [{"name": "vision", "members": 8}, {"name": "language", "members": 4}]


def ledger(**changes):
    found = plan_of(**keys(monthly_budget_usd=70_000, **changes)).clusters[0].ledger
    assert found is not None
    return found


def budgets(*teams, monthly=70_000):
    plan = plan_of(**keys(team_size=None, monthly_budget_usd=monthly), teams=list(teams))
    return {team.name: team.monthly_budget_usd for team in plan.core.teams}


def test_spot_counts_as_what_it_costs_and_the_rest_as_listed():
    plan = plan_of()
    prices = {price.name: price.usd for price in plan.clusters[0].ledger.gpu_hour_usd}
    node = plan.clusters[0].pool("train").node
    assert prices["train-on-demand"] == round(node.usd_per_hour / node.gpus, 4)
    assert 0 < prices["train-spot"] < prices["train-on-demand"]
    assert set(prices) == {flavor.name for flavor in plan.clusters[0].scheduling.flavors}


def test_a_commitment_is_said_by_its_price():
    found = ledger(team_budgets=keys(gpu_hour_usd={"train-on-demand": 1.25})).gpu_hour_usd
    assert {price.name: price.usd for price in found}["train-on-demand"] == 1.25


def test_nobody_is_held_by_a_guess_of_the_profiles():
    assert not plan_of(monthly_budget_usd=None).clusters[0].ledger.hold
    assert ledger().hold
    assert not ledger(team_budgets=keys(hold=False)).hold
    assert plan_of(monthly_budget_usd=None, **keys(team_budgets=keys(hold=True))).clusters[0].ledger.hold


def test_nothing_counts_where_nothing_watches():
    assert plan_of(monitoring=keys(enabled=False)).clusters[0].ledger is None


def test_a_team_may_have_a_budget_of_its_own_and_the_others_share_the_rest():
    assert budgets(*TEAMS, monthly=60_000) == {"vision": 40_000, "language": 20_000}
    assert budgets({**TEAMS[0], "monthlyBudgetUsd": 50_000}, TEAMS[1]) == {"vision": 50_000, "language": 20_000}
    both = [{**team, "monthlyBudgetUsd": 10_000} for team in TEAMS]
    assert budgets(*both) == {"vision": 10_000, "language": 10_000}


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ({"exempt": ["speech"]}, "teamBudgets.exempt", "must be one of"),
        ({"gpu_hour_usd": {"train-demand": 1}}, "teamBudgets.gpuHourUsd", "train-on-demand"),
        ({"hold": False, "drain_after_hours": 3}, "teamBudgets.drainAfterHours", "teamBudgets.hold"),
    ],
)
def test_what_cannot_be_meant_is_told(settings, key, words):
    with pytest.raises(SettingsError) as caught:
        ledger(team_budgets=keys(**settings))
    (problem,) = [problem for problem in caught.value.problems if problem.key == key]
    assert words in f"{problem.allowed} {problem.hint}"


def test_budgets_beyond_the_whole_are_told():
    with pytest.raises(SettingsError, match="70000 together"):
        budgets({**TEAMS[0], "monthlyBudgetUsd": 70_001}, TEAMS[1])
