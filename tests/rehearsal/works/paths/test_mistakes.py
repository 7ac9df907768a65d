"""Every mistake in the ways is told by its rule; no example stack is accused."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, WHOLE
from tests.rehearsal.works.mistakes_paths import MISTAKES
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.paths.check import check


def findings(resources, region="us-east-1"):
    """What the room says."""
    stack = Stack(resources, ValueContext("1.35", region))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(WHOLE).resources))
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    assert findings(rehearsed(stack).resources) == []
