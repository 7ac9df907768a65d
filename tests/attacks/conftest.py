"""What attacks are played against: the example stacks as they are recorded, each once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.conftest import EXAMPLES
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.flows.reach import Flows


@pytest.fixture(scope="session", params=EXAMPLES)
def stack(request: pytest.FixtureRequest) -> str:
    """Every example stack, one after another."""
    return request.param


@pytest.fixture(scope="session")
def recorded(rehearsed) -> Callable[[str], Resources]:
    """The recorded resources of an example stack by name."""
    return cache(lambda stack: Resources(rehearsed(stack).resources))


@pytest.fixture(scope="session")
def resources(recorded, stack) -> Resources:
    """The recorded resources of the stack."""
    return recorded(stack)


@pytest.fixture(scope="session")
def flows(resources) -> Flows:
    """The network of the stack."""
    return Flows.recorded(resources)
