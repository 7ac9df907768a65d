"""References of other people's clusters that are right, and beside each what the rule is there for."""

from __future__ import annotations

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.references.check import check


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("instance-capability-flex", False),
        ("capacity-reservation-interruptible", False),
        ("instance-gpu-cores", False),  # of a version to come
        ("instance-capability-flexx", True),
        ("capacity-reservation-interuptible", True),
    ],
)
def test_a_pool_of_karpenter_asks_for_labels_that_instances_have(key, told):
    requirement = {"key": f"karpenter.k8s.aws/{key}", "operator": "Exists"}
    spec = {"template": {"spec": {"requirements": [requirement]}}}
    stack = Stack([obj("karpenter.sh/v1", "NodePool", "own", spec=spec)], CONTEXT)
    check(stack)
    assert ("reference-node-pool" in {one.rule for one in stack.findings}) == told
