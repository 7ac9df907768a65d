"""Jobs whose pods claim devices, and a manager that keeps them out or does not look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.works.mistakes_queues import RELEASE, on, told
from trainyard.components.k8s.kueue_manager import CLAIMS_UNCOUNTED as OURS
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.kubernetes.kueue_manager import check_manager
from trainyard.rehearsal.works.queues.check import check
from trainyard.rehearsal.works.queues.kubernetes.manager import CLAIMS_UNCOUNTED

Change = Callable[[dict[str, Any]], Any]
MAPPED = [{"name": "networking.gke.io/rdma", "deviceClassNames": ["mrdma.google.com"]}]


def gates(*off: str) -> Change:
    return lambda told: told.update(featureGates=dict.fromkeys(off, False))


def test_the_gates_are_those_that_the_component_turns_off() -> None:
    assert set(OURS) == set(CLAIMS_UNCOUNTED)
    assert not any(OURS.values())


def rules(resources: list[Any]) -> set[str]:
    stack = Stack(resources, ValueContext(kubernetes_version="1.35", region="us-east4"))
    for view in stack.views:
        if view.resource.name == RELEASE:
            check_manager(view)
    check(stack)
    return {finding.rule for finding in stack.findings}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda told: None, set()),
        (lambda told: told.pop("featureGates"), {"queues-claims"}),
        (gates(), {"queues-claims"}),
        (gates("KueueDRARejectWorkloadsWhenDRADisabled"), {"queues-claims"}),
        (gates("KueueDRAIntegration"), {"kueue-configuration", "queues-claims"}),
        (gates("KueueDRAIntegration", "KueueDRARejectWorkloadsWhenDRADisabled"), {"kueue-configuration"}),
        (gates(*CLAIMS_UNCOUNTED[:3]), {"queues-claims"}),
        # A class that is mapped is counted, which is not modelled.
        (lambda told: (told.pop("featureGates"), told["resources"].update(deviceClassMappings=MAPPED)), set()),
    ],
    ids=[
        "as made", "no gates", "none off", "only the last off", "only the first off", "two of them",
        "all but the last", "a mapped class",
    ],
)  # fmt: skip
def test_a_manager_that_keeps_claims_out_is_told(rehearsed: Any, change: Change, found: set[str]) -> None:
    assert rules(told(change)(list(rehearsed("large-gcp").resources))) == found


def test_a_manager_of_a_version_that_does_not_look_is_not(rehearsed: Any) -> None:
    unsaid = told(lambda told: told.pop("featureGates"))(list(rehearsed("large-gcp").resources))
    assert rules(on(RELEASE, lambda inputs: inputs.update(version="0.17.3"))(unsaid)) == set()
    elsewhere = {"featureGates": [{"name": "KueueDRAIntegration", "enabled": False}]}
    known = on(RELEASE, lambda inputs: inputs["values"]["controllerManager"].update(elsewhere))(unsaid)
    assert rules(known) == set()
