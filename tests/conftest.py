"""The example stacks, each rehearsed once."""

import gc

import pytest

from tests.shared import ROOT
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

EXAMPLES = tuple(sorted(file.name.split(".")[1] for file in (ROOT / "stacks").glob("Pulumi.*.yaml")))


@pytest.fixture(scope="session")
def rehearsed():
    """Rehearses an example stack by name, once a session."""
    done: dict[str, Rehearsal] = {}

    def of(stack: str) -> Rehearsal:
        if stack not in done:
            done[stack] = rehearse(ROOT, stack)
            assert not done[stack].errors, done[stack].errors
        return done[stack]

    return of


@pytest.fixture(autouse=True)
def _collected():
    """Gives the collector back its thresholds: a command that ran in this process would let garbage stay to its end."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def pytest_collection_modifyitems(items):
    """What takes more than a minute starts first, so that no worker is left with it when the others are done."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
