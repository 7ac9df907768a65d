"""Every mistake in a reference is told by its rule, at the thing; no example stack is accused."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, WHOLE
from tests.rehearsal.works.mistakes import context_of
from tests.rehearsal.works.mistakes_references import MISTAKES
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.check import check


def findings(resources, context):
    """What the room says."""
    stack = Stack(resources, context)
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    demo = rehearsed(WHOLE)
    found = findings(mistake.change(demo.known.resources), context_of(demo))
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    done = rehearsed(stack)
    assert findings(done.known.resources, context_of(done)) == []
