"""The planner's problems with a stack file."""

from typing import Any

import pytest

from tests.plan.stack_files import plan_of
from trainyard.problems import Problem, SettingsError


@pytest.fixture
def problems():
    """All problems of the base stack file with some keys replaced, by key."""

    def collect(**changes: Any) -> dict[str, Problem]:
        with pytest.raises(SettingsError) as caught:
            plan_of(**changes)
        return {problem.key: problem for problem in caught.value.problems}

    return collect
