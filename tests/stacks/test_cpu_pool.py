"""A stack whose settings want no work without GPUs: nothing of it is made, and nobody can send any."""

from __future__ import annotations

from typing import Any

import pytest

from tests.shared import ROOT
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import RESOURCE_QUOTA
from trainyard.rehearsal.rehearse import rehearse
from trainyard.review.policy_check.check import check_policies


@pytest.fixture(scope="module")
def rehearsal() -> Any:
    return rehearse(ROOT, "demo", config_overrides={"cpuPool": {"maxNodes": 0}})


def test_it_is_sound(rehearsal: Any) -> None:
    assert not rehearsal.findings
    judged = check_policies(rehearsal.stack, rehearsal.preview.resources, rehearsal.known.resources, rehearsal.settings)
    assert [str(violation) for violation in judged.violations] == []


def test_neither_nodes_nor_a_runtime(rehearsal: Any) -> None:
    made = rehearsal.known.resources
    pools = {group.inputs["labels"]["ml.platform/pool"] for group in Resources(made).of(EKS_NODE_GROUP)}
    assert "cpu" not in pools
    assert "system" in pools
    assert [item.name for item in made if item.type.endswith(":ClusterTrainingRuntime")] == [
        "runtimes-torch",
        "runtimes-torch-train",
    ], "what is left needs GPUs"


def test_every_quota_of_such_pods_is_zero(rehearsal: Any) -> None:
    """A pod would wait for ever; this way whoever makes one is told."""
    found = 0
    for quota in Resources(rehearsal.known.resources).of(RESOURCE_QUOTA):
        terms = quota.inputs["spec"].get("scopeSelector", {}).get("matchExpressions", [])
        if any("cpu-only" in term.get("values", ()) for term in terms):
            found += 1
            assert set(quota.inputs["spec"]["hard"].values()) == {"0"}, quota.name
    assert found >= 2
