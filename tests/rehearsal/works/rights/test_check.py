"""Whether everybody may do what the environment needs: mistakes are told, correct stacks are left alone."""

from __future__ import annotations

import pytest

from tests.conftest import ON_AWS, WHOLE
from tests.rehearsal.works.mistakes_rights import MISTAKES
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.rights.check import check


def findings(resources, region="us-east-1"):
    """What the room says of some resources."""
    stack = Stack(resources, ValueContext("1.35", region))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("stack", ON_AWS)
def test_an_example_stack_lacks_nothing(rehearsed, stack):
    rehearsal = rehearsed(stack)
    assert findings(rehearsal.resources, rehearsal.plan["ground"]["region"]) == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(WHOLE).resources))
    rules = {finding.rule for finding in found}
    if mistake.rule is None:
        assert not rules, mistake.why
    else:
        assert mistake.rule in rules, [str(finding) for finding in found]
