"""Each mistake of placement is told by its rule; no example stack has any finding."""

import pytest

from tests.conftest import EXAMPLES
from tests.rehearsal.works.mistakes import told
from tests.rehearsal.works.mistakes_placement import MISTAKES


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_has_a_finding_of_placement(rehearsed, stack):
    assert [finding for finding in told(rehearsed(stack)) if finding.rule.startswith("placement-")] == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_a_mistake_is_told(rehearsed, mistake):
    rules = {finding.rule for finding in told(rehearsed(mistake.stack), mistake.change, "placement")}
    if mistake.rule is None:
        assert mistake.why
        assert not {rule for rule in rules if rule.startswith("placement-")}
    else:
        assert mistake.rule in rules


def test_names_are_unique_and_a_mistake_that_cannot_be_known_says_why():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 15
