"""The room of queues: each seeded mistake is told, and no correct stack is."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES
from tests.rehearsal.works.mistakes_queues import MISTAKES, QUEUE_LABEL, also, job_set, train_job
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.kubernetes import kueue
from trainyard.rehearsal.refusals.kubernetes.index import Objects
from trainyard.rehearsal.works.queues.check import check

CONTEXT = ValueContext(kubernetes_version="1.35", region="us-east-1")


def findings(resources):
    """What is said of queues, by the room and by the rules that need no play."""
    stack = Stack(resources, CONTEXT)
    kueue.check(stack, Objects.of(stack))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(list(rehearsed("demo").resources)))
    if mistake.rule is None:
        assert mistake.why
        assert not found, found
    else:
        assert mistake.rule in {finding.rule for finding in found}, found


def test_names_of_mistakes_are_their_own():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("stack", EXAMPLES)
def test_the_example_stacks_have_no_finding(rehearsed, stack):
    assert not findings(rehearsed(stack).resources)


@pytest.mark.parametrize("made", [{"labels": {QUEUE_LABEL: "default"}}, {}])
def test_train_jobs_and_job_sets_that_fit_are_admitted(rehearsed, made):
    fits = also(train_job(2), job_set(1, made))
    assert not findings(fits(list(rehearsed("demo").resources)))
