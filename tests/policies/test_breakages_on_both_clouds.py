"""Breakages of the walls, put one at a time into what example stacks of both clouds register: each is told.

Beside them what weakens a wall that another one holds, and what is unusual and right: neither is refused.
"""

import pytest

from tests.policies.breakages import BREAKAGES
from tests.policies.breakages_held import HELD
from tests.policies.healthy import HEALTHY
from tests.policies.test_mutants import said_of_change


def told(rehearsal, change):
    """The policies that say something of a recording once it is changed."""
    known = rehearsal.known.resources
    changed = change(known)
    assert list(map(id, changed)) != list(map(id, known))
    found = said_of_change(rehearsal, change, preview=False)
    return {violation.policy for violation in found if violation.level == "mandatory"}


def each(stacks):
    return [pytest.param(stack, what, id=f"{stack}: {what}") for stack, changes in stacks.items() for what in changes]


@pytest.mark.parametrize(("stack", "what"), each(BREAKAGES))
def test_a_breakage_is_told(stack, what, rehearsed):
    assert told(rehearsed(stack), BREAKAGES[stack][what])


@pytest.mark.parametrize(("stack", "what"), each(HEALTHY))
def test_what_is_unusual_and_right_is_not_refused(stack, what, rehearsed):
    assert told(rehearsed(stack), HEALTHY[stack][what]) == set()


@pytest.mark.parametrize("held", HELD, ids=[held.what for held in HELD])
def test_what_another_wall_holds_is_not_refused(held, rehearsed):
    assert held.why and told(rehearsed(held.stack), held.change) == set()
