"""The example stacks, each rehearsed once a session, whichever worker needs it first."""

import gc
import os
import sys
from functools import partial
from itertools import groupby
from operator import attrgetter

import pytest

from tests.bytecode import compile_share
from tests.remembered import Remembered, rehearsal_of, rehearsing_once, remembered
from tests.shared import ROOT
from trainyard.rehearsal.engine.project import stack_files, stack_of
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

# No test asks moto for an image of Amazon's: to make some 1,300 of them takes longer than the tests of an account.
os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
# Nor does any schema here speak of international addresses, whose grammar `jsonschema` makes as it is imported: 1.5 s.
sys.modules.setdefault("rfc3987_syntax", None)

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


@pytest.fixture(scope="session", autouse=True)
def shared_things(tmp_path_factory) -> Remembered:
    """What the workers of a session make once and read from each other."""
    return remembered(tmp_path_factory)


@pytest.fixture
def rehearsals_once(shared_things, monkeypatch):
    """Where a command or a report rehearses a stack of this project, it gets the session's recording of it.

    For tests of what is made of a recording. Those that replace a part of the rehearsal do without.
    """
    rehearsing_once(shared_things, monkeypatch)


@pytest.fixture(scope="session")
def reviewed(shared_things):
    """Judges an example stack by name as `trainyard rehearse` does, of the session's rehearsal of it."""
    from trainyard.review.review import Review, review

    done: dict[str, Review] = {}

    def of(stack: str) -> Review:
        if stack not in done:
            with pytest.MonkeyPatch.context() as patch:
                rehearsing_once(shared_things, patch)
                done[stack] = review(ROOT, ROOT / "stacks" / f"Pulumi.{stack}.yaml")
        return done[stack]

    return of


@pytest.fixture(scope="session")
def rehearsed(shared_things):
    """Rehearses an example stack by name, or `WHOLE`, once a session."""
    done: dict[str, Rehearsal] = {}

    def of(stack: str) -> Rehearsal:
        if stack not in done:
            done[stack] = (
                shared_things.of(stack, rehearse_whole)
                if stack == WHOLE
                else rehearsal_of(
                    shared_things, ROOT / "stacks" / f"Pulumi.{stack}.yaml", partial(rehearse, ROOT, stack)
                )
            )
            gc.freeze()  # it stays to the end: no collection looks for garbage in it
            assert not done[stack].errors, done[stack].errors
        return done[stack]

    return of


@pytest.fixture(autouse=True)
def _collected():
    """Gives the collector back its thresholds: a command that ran in this process would let garbage stay to its end."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def pytest_configure():
    """Recordings are large and hardly garbage: to look through them every 700 allocations takes a tenth of all time."""
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """What is imported now is compiled once, not once by each worker."""
    compile_share(session.config)
    gc.disable()  # hardly anything is given up while modules are imported


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Hypothesis is left without the constants of our modules before it looks through them.

    To read all 1,400 takes each worker four seconds; and what a test draws would go by what its worker had imported.
    """
    report = yield
    if (drawing := sys.modules.get("hypothesis.internal.conjecture.providers")) is not None:
        drawing._get_local_constants = lambda: drawing._local_constants
    return report


def pytest_collection_finish():
    """What was imported and collected stays to the end: no collection looks at it, or for garbage in it."""
    gc.freeze()
    gc.enable()


HEAVY = (
    ("smoke_jobs/",),  # ranks, and a Slurm; they wait for each other, and hold a machine for themselves badly
    ("ledger/", "test_wheel.py", "test_without_extras.py", "upgrade/", "attacks/test_tracking.py",
     "attacks/test_sign_on.py"),
    ("components/k8s/test_mlflow", "components/k8s/test_tracking", "components/k8s/test_notebook_",
     "components/k8s/test_off_peak_keeper.py", "components/aws/on_cluster/test_database_password.py",
     "stacks/test_managed_tracking_gcp.py", "review/test_workers.py", "fleet/", "cli/"),
)  # fmt: skip
"""Tests that take seconds each, by who begins with them: what takes hundredths is left for the end, to be stolen."""


def pytest_collection_modifyitems(items):
    """What takes longest starts first, each kind with another worker, so that none is left with it when all are done.

    Work is stolen from the end of the longest queue: with the heavy tests there, two workers would wait for the third.
    """
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    heads, rest = [[] for _ in range(workers)], []
    for path, of_file in groupby(items, attrgetter("path")):
        name = path.relative_to(ROOT / "tests").as_posix()
        kinds = [number for number, starts in enumerate(HEAVY) if name.startswith(starts)]
        (heads[kinds[0] % workers] if kinds else rest).extend(of_file)
    items[:] = []
    for number, head in enumerate(heads):
        # As xdist shares them out at first: evenly, by count.
        share = (len(rest) + sum(map(len, heads[number:]))) // (workers - number) - len(head)
        items += head + rest[: max(0, share)]
        rest = rest[max(0, share) :]
