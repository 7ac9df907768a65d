"""Requests that the sizing tests start from."""

from dataclasses import replace
from typing import Any

import pytest

from trainyard.plan.plan import make_plan
from trainyard.plan.request import PlanRequest, TeamRequest
from trainyard.problems import Problem, SettingsError

BASE = PlanRequest(
    client="acme",
    environment="production",
    stack="demo",
    region="us-east-1",
    owner="ml-platform",
    cost_centre="research",
    teams=(TeamRequest("vision", 6), TeamRequest("language", 4), TeamRequest("platform", 2)),
)


@pytest.fixture
def base() -> PlanRequest:
    """Twelve people in three teams in us-east-1; everything else is the medium profile's."""
    return BASE


@pytest.fixture
def problems():
    """All problems of the base request with some fields replaced, by key."""

    def collect(**changes: Any) -> dict[str, Problem]:
        with pytest.raises(SettingsError) as caught:
            make_plan(replace(BASE, **changes))
        return {problem.key: problem for problem in caught.value.problems}

    return collect
