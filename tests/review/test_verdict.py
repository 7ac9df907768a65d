"""The verdict: what a stack is, what it costs beside its budget, and what to do next."""

from dataclasses import replace

import pytest

from tests.cost.recorded import priced, resource
from tests.review.violations import VIOLATION
from trainyard.cost.model import Amounts, Unpriced
from trainyard.problems import Problem
from trainyard.recorded.model import Finding
from trainyard.review.policy_check.model import PolicyReport
from trainyard.review.verdict import (
    MOST_STEPS,
    Money,
    State,
    verdict_on,
    verdict_on_failure,
    verdict_on_settings,
)

CHEAP = replace(priced(), total=Amounts(10, 50, 90), high_usd=60, budget_usd=100)
DEAR = replace(CHEAP, total=Amounts(10, 150, 190), high_usd=160)
UNPRICED = replace(CHEAP, unpriced=(Unpriced("", "block", "x", "all of it", "no price"),))
ERROR = Finding("error", "unknown-key", "has no such argument", name="vpc")
WARNING = replace(ERROR, level="warning")
ADVISORY = replace(VIOLATION, level="advisory", policy="spot-share-below-target", remediation="Raise spot.maxNodes.")


def report(*violations):
    return PolicyReport("demo", 48, violations, (), (), (), 0.1)


def verdict(*, findings=(), violations=(), cost=CHEAP, proves=True):
    return verdict_on("demo", findings, report(*violations), cost, proves=proves, target="kubernetes")


@pytest.mark.parametrize(
    ("given", "state", "exit_code", "headline"),
    [
        ({}, State.SOUND, 0, "demo is sound: nothing would be refused, all of it works, no policy is violated"),
        ({"findings": (WARNING,)}, State.WARNED, 0, "demo can be deployed; 1 warning"),
        (
            {"findings": (WARNING,), "violations": (ADVISORY, ADVISORY)},
            State.WARNED,
            0,
            "demo can be deployed; 1 warning and 2 advisory violations",
        ),
        ({"cost": UNPRICED}, State.WARNED, 0, "demo can be deployed; 1 thing without a price"),
        (
            {"cost": DEAR, "violations": (ADVISORY,)},
            State.OVER_BUDGET,
            0,
            "demo can be deployed, and is expected to be 50 USD over the budget of 100 USD",
        ),
        (
            {"violations": (VIOLATION, ADVISORY), "cost": DEAR},
            State.VIOLATED,
            1,
            "demo must not be deployed: 1 mandatory violation",
        ),
    ],
)
def test_the_worst_that_was_found_decides(given, state, exit_code, headline):
    found = verdict(**given)
    assert (found.state, found.exit_code, found.headline) == (state, exit_code, headline)
    assert found.state.deployable is (exit_code == 0)


def test_a_wrong_program_is_neither_judged_nor_priced():
    found = verdict_on("demo", [ERROR, WARNING], None, None, proves=True, target="kubernetes")
    assert (found.state, found.exit_code, found.money) == (State.REFUSED, 3, None)
    assert (found.errors, found.warnings) == (1, 1)
    assert found.next_steps[0] == "mend vpc: has no such argument"


def test_wrong_settings_and_a_failure_of_ours_have_codes_of_their_own():
    problems = [Problem(f"key{index}", "x", "must be y") for index in range(5)]
    found = verdict_on_settings("demo", problems)
    assert (found.state, found.exit_code, found.errors) == (State.UNREADABLE, 2, 5)
    assert len(found.next_steps) == MOST_STEPS and found.next_steps[0] == "mend key0: got x; must be y"
    broken = verdict_on_failure("demo", "TypeError")
    assert (broken.state, broken.exit_code) == (State.BROKEN, 70)
    assert "--debug" in broken.next_steps[0]


def test_what_to_do_next_is_concrete_and_said_once():
    twice = replace(VIOLATION, name="other")
    assert verdict(violations=(VIOLATION, twice, ADVISORY)).next_steps == (
        "public-database: Leave publiclyAccessible off.",
    )
    assert verdict().next_steps == ("`pulumi up --stack demo`; its smoke jobs prove that it trains",)
    assert "`trainyard smoke demo --target kubernetes` proves" in verdict(proves=False).next_steps[-1]
    dear = verdict(cost=DEAR, violations=(ADVISORY,)).next_steps
    assert dear[0].startswith("`trainyard cost demo --compare`") and dear[1].endswith("Raise spot.maxNodes.")
    assert verdict(cost=UNPRICED).next_steps[0] == "`trainyard cost demo` names what has no price"


def test_an_unknown_price_is_never_within_the_budget_without_saying_so():
    found = verdict(cost=UNPRICED)
    assert found.money is not None
    assert found.money.sentence.endswith("without 1 thing that has no price") and found.money.mood == "warn"


@pytest.mark.parametrize(("budget", "over"), [(None, False), (149.99, True), (150.0, False)])
def test_over_the_budget_is_more_than_it(budget, over):
    assert Money(10, 150, 190, 160, budget, 0).over_budget is over


def test_a_stack_without_anything_to_pay_for_has_a_month():
    found = verdict_on(
        "demo", [], report(), priced(resource("aws:iam/role:Role", "nodes")), proves=False, target="sagemaker"
    )
    assert found.money is not None and found.money.sentence == "there is no monthly budget"
    assert found.as_json()["money"]["expected"] == 0
