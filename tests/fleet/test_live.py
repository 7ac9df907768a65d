"""What a state tells of smoke jobs, and a budget of AWS of the month; each thing that cannot be told says why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.account.answers import aws, refusal
from tests.teardown.states import exported
from trainyard.fleet.live import UnknownError, smoke_of, spend_of
from trainyard.problems import SettingsError

JOB = "kubernetes:batch/v1:Job"
COMPONENT = "trainyard:index:SmokeJob"


def state(*jobs: dict[str, Any], verdict: str = "passed") -> dict[str, Any]:
    resources: list[dict[str, Any]] = []
    for number, job in enumerate(jobs):
        urn = f"urn:smoke-{number}"
        resources.append({"urn": urn, "type": COMPONENT, "outputs": {"verdict": verdict}})
        if job:
            resources.append({"urn": f"{urn}-job", "type": JOB, "parent": urn, **job})
    return {"deployment": {"manifest": {"time": "2026-11-01T00:00:00Z"}, "resources": resources}}


GOOD = {"created": "2026-11-20T10:00:00Z"}


def test_jobs_that_stand_have_passed_as_of_the_youngest() -> None:
    found = smoke_of(state(GOOD, {"created": "2026-11-21T10:00:00Z"}))
    assert (found.verdict, found.at, found.by) == ("pass", "2026-11-21T10:00:00Z", "pulumi up")


@pytest.mark.parametrize("bad", [{}, {**GOOD, "initErrors": ["BackoffLimitExceeded"]}])
def test_one_that_is_gone_or_has_errors_fails_all(bad: dict[str, Any]) -> None:
    assert smoke_of(state(GOOD, bad)).verdict == "fail"


def test_advisory_jobs_tell_nothing() -> None:
    assert smoke_of(state(GOOD, verdict="not waited for")).verdict == "not waited for"


@pytest.mark.parametrize("deployment", [{}, {"resources": None}, {"resources": []}])
def test_a_state_without_smoke_jobs_is_unknown(deployment: dict[str, Any]) -> None:
    with pytest.raises(UnknownError, match="trainyard smoke STACK"):
        smoke_of({"deployment": deployment})


@pytest.mark.parametrize(
    "odd", [None, [], 5, {}, {"deployment": 5}, {"deployment": {"resources": 5}}, {"deployment": {"resources": [1]}},
            {"deployment": {"resources": [{"urn": "u"}]}}],
)  # fmt: skip
def test_what_is_no_state_is_told_and_not_taken_for_an_empty_one(odd: Any) -> None:
    with pytest.raises(SettingsError, match="pulumi stack export"):
        smoke_of(odd)


def test_outputs_that_are_none_are_no_verdict() -> None:
    found = state(GOOD)
    found["deployment"] |= {"manifest": "?"}
    found["deployment"]["resources"][0]["outputs"] = ["?"]
    assert smoke_of(found).verdict == "pass"


def test_the_program_s_own_state_has_them(rehearsed) -> None:
    found = exported(rehearsed("demo"))
    names = {each["type"] for each in found["deployment"]["resources"]}
    assert {COMPONENT, JOB} <= names
    assert smoke_of(found).verdict == "pass"
    for each in found["deployment"]["resources"]:
        if each["type"] == JOB and "smoke" in each["urn"]:
            each["initErrors"] = ["DeadlineExceeded"]
    assert smoke_of(found).verdict == "fail"


def usd(amount: str, unit: str = "USD") -> dict[str, str]:
    return {"Amount": amount, "Unit": unit}


def budget(**spent: Any) -> dict[str, Any]:
    return {
        "Budget": {
            "BudgetName": "acme-demo",
            "BudgetLimit": usd("70000"),
            "TimeUnit": "MONTHLY",
            "BudgetType": "COST",
            **({"CalculatedSpend": spent} if spent else {}),
        }
    }


def test_a_budget_tells_the_month(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def answer(parameters: Any) -> Any:
        asked.append(parameters)
        return budget(ActualSpend=usd("1234.56"), ForecastedSpend=usd("2000"))

    with aws(monkeypatch, {"budgets.DescribeBudget": answer}) as account:
        found = spend_of(account, "acme-demo")
    assert (found.usd, found.forecast_usd, found.budget_usd) == (1234.56, 2000.0, 70_000.0)
    assert asked == [{"AccountId": "123456789012", "BudgetName": "acme-demo"}]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (budget(), "not counted budget acme-demo yet"),
        (budget(ActualSpend=usd("1", "EUR")), "counted in EUR"),
        (refusal("NotFoundException"), "no budget acme-demo"),
        (refusal("AccessDeniedException"), "may not call DescribeBudget"),
    ],
)
def test_what_is_not_told_is_unknown_and_never_zero(monkeypatch: pytest.MonkeyPatch, answer: Any, said: str) -> None:
    with aws(monkeypatch, {"budgets.DescribeBudget": answer}) as account, pytest.raises(UnknownError, match=said):
        spend_of(account, "acme-demo")


def test_moto_s_own_budget_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with aws(monkeypatch) as account:
        with pytest.raises(UnknownError, match="no budget acme-demo"):
            spend_of(account, "acme-demo")
        account.call(
            "budgets", "create_budget", region="us-east-1", AccountId="123456789012", Budget=budget()["Budget"]
        )
        found = spend_of(account, "acme-demo")
    assert found.budget_usd == 70_000
