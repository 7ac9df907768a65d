"""The example stacks, each rehearsed once."""

import gc

import pytest

from tests.shared import ROOT
from trainyard.rehearsal.engine.project import stack_files, stack_of
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

WHOLE = "demo-whole"
"""The demo stack with all that high assurance adds: a file system, a standby database, endpoints in every zone."""
EXAMPLES = tuple(stack_of(file) for file in stack_files(ROOT / "stacks"))
MANAGED = ("small-aws", "uae-small")
"""Those without a cluster on AWS: managed training."""
MANAGED_ON_GOOGLE = ("small-gcp",)
"""Likewise on Google Cloud."""
WITH_CLUSTERS = tuple(stack for stack in EXAMPLES if stack not in MANAGED + MANAGED_ON_GOOGLE)
ON_GOOGLE = tuple(stack for stack in EXAMPLES if stack.endswith("-gcp"))
GKE = tuple(stack for stack in WITH_CLUSTERS if stack in ON_GOOGLE)
"""Those with a cluster on Google Cloud."""
ON_AWS = tuple(stack for stack in EXAMPLES if stack not in ON_GOOGLE)
EKS = tuple(stack for stack in WITH_CLUSTERS if stack not in ON_GOOGLE)
"""Those with a cluster on AWS."""


def rehearse_whole() -> Rehearsal:
    """The demo stack under high assurance."""
    return rehearse(ROOT, "demo", config_overrides={"assurance": "high"})


@pytest.fixture(scope="session")
def rehearsed():
    """Rehearses an example stack by name, or `WHOLE`, once a session."""
    done: dict[str, Rehearsal] = {}

    def of(stack: str) -> Rehearsal:
        if stack not in done:
            done[stack] = rehearse_whole() if stack == WHOLE else rehearse(ROOT, stack)
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
