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
from tests.rehearsal.works.mistakes import context_of, one_by_one, told
from tests.rehearsal.works.test_k8s_sets import of
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
    stack = of(mistake.stack)
    context = replace(context_of(stack), ours=True)
    rules: set[str] = set()
    for found in one_by_one(mistake.change(list(stack.known.resources)), context, mistake.rule, values=True):
        rules |= {finding.rule for finding in found}
        if mistake.rule in rules:
            break
    assert mistake.rule in rules


@pytest.mark.parametrize("sound", SOUND)
def test_what_is_right_is_believed(of, sound):
    name, change = SOUND[sound]
    stack = of(name)
    context = replace(context_of(stack), ours=True)
    assert not check_values(change(list(stack.known.resources)), context)
    assert told(stack, change, ours=True) == []


@pytest.mark.parametrize("beside", BESIDE)
def test_what_is_right_beside_a_rule_is_believed(of, beside):
    name, rule, change = BESIDE[beside]
    assert rule not in {finding.rule for finding in told(of(name), change, ours=True)}
