"""Ways on Google Cloud: mistakes are told, and no example stack is accused."""

from __future__ import annotations

import pytest

from tests.conftest import ON_GOOGLE
from tests.rehearsal.works.mistakes_paths_gcp import MISTAKES, NO_ZONE, STACK
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.paths.check import check


def findings(resources):
    """What the room says."""
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(STACK).known.resources))
    assert {finding.rule for finding in found} == ({mistake.rule} if mistake.rule else set()), found


@pytest.mark.parametrize("stack", ON_GOOGLE)
def test_no_example_stack_is_accused(rehearsed, stack):
    assert findings(rehearsed(stack).resources) == []
    assert findings(rehearsed(stack).known.resources) == []


def test_a_network_without_a_zone_of_its_own_is_left_alone(rehearsed):
    assert findings(NO_ZONE(rehearsed(STACK).known.resources)) == []
