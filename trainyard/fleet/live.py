"""What a stack's state and its account tell today: its smoke verdict, and what the month has cost. Nothing is changed.

The state is Pulumi's own (`pulumi stack export`): `pulumi up` waits for the smoke jobs, so that one which stands there
without an error has passed. The spend is what AWS Budgets counts for the stack's own budget: the figure that its
alerts go by, and, other than Cost Explorer's, free. Google Cloud's budgets tell no spend (Cloud Billing Budget API v1,
`Budget` has amount and thresholds, 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.account.aws import Account, CannotAskError, RefusedError
from trainyard.fleet.known import Smoke, Spend, now
from trainyard.recorded.types import JOB
from trainyard.rehearsal.change.earlier import exported_resources

_COMPONENT: Final = "trainyard:index:SmokeJob"

# The first two as the smoke job itself calls them (`smoke_jobs/ddp`).
PASSED, FAILED, NOT_WAITED_FOR = "pass", "fail", "not waited for"


class UnknownError(Exception):
    """It cannot be told; the text says why and what to do."""


def smoke_of(state: Mapping[str, Any]) -> Smoke:
    """The verdict of the smoke jobs that a stack's exported state holds: the worst of them, as of the youngest.

    Raises:
        UnknownError: there is none in it.
        SettingsError: it is no such state.
    """
    resources = exported_resources(state)
    told = {
        each["urn"]: str(_of(each, "outputs").get("verdict", PASSED))
        for each in resources
        if each["type"] == _COMPONENT
    }
    jobs = [each for each in resources if each["type"] == JOB and each.get("parent") in told]
    if not told:
        raise UnknownError("its state has no smoke job: `trainyard smoke STACK` runs one")
    made = [str(each["created"]) for each in jobs if each.get("created")]
    at = max(made, default=str(_of(state["deployment"], "manifest").get("time") or now()))
    missing = set(told) - {str(each["parent"]) for each in jobs}
    if missing or any(each.get("initErrors") for each in jobs):
        return Smoke(FAILED, at, "pulumi up")
    waited = any(verdict != NOT_WAITED_FOR for verdict in told.values())
    return Smoke(PASSED if waited else NOT_WAITED_FOR, at, "pulumi up")


def _of(each: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = each.get(key)
    return found if isinstance(found, Mapping) else {}


def spend_of(account: Account, budget: str) -> Spend:
    """What the budget of that name counts this month.

    Raises:
        UnknownError: there is no such budget, it is not in dollars, or the account cannot be asked.
    """
    try:
        answer = account.call(
            "budgets",
            "describe_budget",
            region=account.global_region,
            AccountId=account.identity["account"],
            BudgetName=budget,
        )
    except RefusedError as error:
        if error.is_absence:
            raise UnknownError(f"the account has no budget {budget}: `pulumi up` makes it") from error
        raise UnknownError(f"{error}; {error.remedy}") from error
    except CannotAskError as error:
        raise UnknownError(f"{error}; {error.remedy}") from error
    found = answer["Budget"]
    spent = found.get("CalculatedSpend")
    if spent is None:
        raise UnknownError(f"AWS has not counted budget {budget} yet: it does within a day, ask again then")
    forecast = spent.get("ForecastedSpend")
    return Spend(_usd(spent["ActualSpend"]), _usd(forecast) if forecast else None, _usd(found["BudgetLimit"]), now())


def _usd(amount: Mapping[str, str]) -> float:
    if amount["Unit"] != "USD":
        raise UnknownError(f"the budget is counted in {amount['Unit']}, not in USD")
    return float(amount["Amount"])
