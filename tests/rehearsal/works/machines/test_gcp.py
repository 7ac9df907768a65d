"""Machines on Google Cloud: mistakes are told, and no example stack is accused."""

from __future__ import annotations

import pytest

from tests.conftest import ON_GOOGLE
from tests.policies.truth import made
from tests.rehearsal.works.mistakes_machines_gcp import MISTAKES, STACK
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.machines.check import check


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


def test_a_driver_that_a_chart_installs_is_enough(rehearsed):
    (mistake,) = [one for one in MISTAKES if one.name == "no driver"]
    inputs = {"chart": "gpu-operator", "namespace": "gpu-operator"}
    operator = made("kubernetes:helm.sh/v3:Release", "gpu-operator", inputs)
    assert findings([*mistake.change(rehearsed(STACK).known.resources), operator]) == []
