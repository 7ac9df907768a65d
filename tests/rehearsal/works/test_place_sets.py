"""The sets of placement, queues, machines and charts, and one through all nine examples, put to the whole verdict, and
what is right beside each rule.

| set | mistakes | told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| first | 44 | 39 (89 %) | 44 | nothing |
| second | 22 | 17 (77 %) | 22 | nothing |
| of the nine examples | 50 | 48 (96 %) | 50 | nothing |
| of the nine examples, second | 18 | 16 (89 %) | 17 | a field within another that no log entry has |
| of the nine examples, third | 48 | 46 (96 %) | 48 | nothing |
| of the nine examples, fourth | 25 | 25 | 25 | nothing |
| of the nine examples, fifth | 53 | 50 (94 %) | 53 | nothing |
| of the nine examples, sixth | 41 | 41 | 41 | nothing |
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.works import mistakes_all_nine as fourth
from tests.rehearsal.works import mistakes_every_room as third
from tests.rehearsal.works import mistakes_nine as nine
from tests.rehearsal.works import mistakes_place_first as first
from tests.rehearsal.works.mistakes import context_of, rules_of, told
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.together import told_together
from trainyard.rehearsal.refusals.check import check_values

__all__ = ["of"]  # the fixture

MISTAKES = (
    *(*first.FIRST, *first.SECOND, *first.WIDER),
    *(*nine.MISTAKES, *nine.WIDER, *nine.SECOND),
    *(*third.REFUSED, *third.SILENT, *third.WIDER, *third.SECOND),
    *(*fourth.REFUSED, *fourth.SILENT, *fourth.SECOND, *fourth.THIRD, *fourth.WIDER),
)
SOUND = first.SOUND | nine.SOUND | third.SOUND | fourth.SOUND
BESIDE = first.BESIDE | nine.BESIDE | third.BESIDE | fourth.BESIDE


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_a_mistake_is_told(of, mistake):
    assert mistake.rule in rules_of(of(mistake.stack), mistake)


@pytest.mark.parametrize("sound", SOUND)
def test_what_is_right_is_believed(of, sound):
    name, _ = SOUND[sound]
    stack = of(name)
    context = replace(context_of(stack), ours=True)

    def judged(resources):
        return [*check_values(resources, context), *told(stack, lambda _: list(resources), ours=True)]

    changes = {what: change for what, (of_stack, change) in SOUND.items() if of_stack == name}
    assert told_together((__name__, name), sound, stack.known.resources, changes, judged) == []


@pytest.mark.parametrize("beside", BESIDE)
def test_what_is_right_beside_a_rule_is_believed(of, beside):
    name, _, _ = BESIDE[beside]
    stack = of(name)
    held = told_together(
        (__name__, "beside", name),
        beside,
        stack.known.resources,
        {what: change for what, (of_stack, _, change) in BESIDE.items() if of_stack == name},
        lambda resources: told(stack, lambda _: list(resources), ours=True),
        lambda what, finding: finding.rule == BESIDE[what][1],
    )
    assert held == []
