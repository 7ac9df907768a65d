"""Two sets inside the cluster and at its edge, put to the whole verdict, and what is right beside them.

| set | mistakes | told at first sight | told now |
| --- | --- | --- | --- |
| first | 50 | 49 (20 of 20 that are refused, 29 of 30 that are taken) | 50 |
| second | 44 | 40 (14 of 15 that are refused, 26 of 29 that are taken) | 44 |
"""

from __future__ import annotations

import pytest

from tests.rehearsal.works.mistakes import told
from tests.rehearsal.works.mistakes_inside import FIRST, MISTAKES, SECOND, SOUND
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.test_k8s_unseen import refused
from tests.rehearsal.works.test_k8s_unseen import test_a_mistake_is_told as is_told
from tests.rehearsal.works.together import told_together

__all__ = ["of"]  # the fixture


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(of, mistake):
    is_told(of, mistake)


def test_every_mistake_has_a_name_of_its_own():
    assert len({one.name for one in MISTAKES}) == len(FIRST) + len(SECOND) == 94


@pytest.mark.parametrize("sound", SOUND)
def test_what_is_right_is_believed(of, sound):
    name, _ = SOUND[sound]
    stack = of(name)

    def judged(resources):
        new = refused(stack, lambda _: list(resources)) - refused(stack, list)
        return [*told(stack, lambda _: list(resources), ours=True), *new]

    changes = {what: change for what, (of_stack, change) in SOUND.items() if of_stack == name}
    assert told_together((__name__, name), sound, stack.known.resources, changes, judged) == []
