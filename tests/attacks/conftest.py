"""What attacks are played against: the example stacks as they are recorded, each once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.conftest import WITH_CLUSTERS
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.flows.reach import Flows


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every example stack with a cluster, or those that a module names: a wall of AWS's is attacked where it stands."""
    own = hasattr(metafunc.module, "stack")
    if "stack" in metafunc.fixturenames and not own:
        metafunc.parametrize("stack", getattr(metafunc.module, "STACKS", WITH_CLUSTERS), scope="session")


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
