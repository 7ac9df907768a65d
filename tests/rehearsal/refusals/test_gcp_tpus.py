"""Node pools of TPU slices of somebody else's program: what GKE refuses, and what is right and is let alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

CONTEXT = ValueContext("1.35", "us-east5")


def told(node: dict[str, Any] | None = None, **inputs: Any) -> list[tuple[str, str]]:
    given: dict[str, Any] = {
        "cluster": "projects/p/locations/us-east5/clusters/c",
        "location": "us-east5",
        "nodeLocations": ["us-east5-a"],
        "nodeConfig": {"machineType": "ct6e-standard-4t", **(node or {})},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
    }
    kept = {key: value for key, value in {**given, **inputs}.items() if value is not None}
    pool = resource("gcp:container/nodePool:NodePool", "n", kept)
    return [(finding.rule, finding.path) for finding in check_values([pool], CONTEXT)]


TOPOLOGY = "placementPolicy.tpuTopology"


@pytest.mark.parametrize(
    ("node", "inputs", "path"),
    [
        ({}, {"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x5"}}, TOPOLOGY),
        ({}, {"placementPolicy": {"type": "COMPACT", "tpuTopology": "four"}}, TOPOLOGY),
        ({}, {"placementPolicy": {"type": "COMPACT", "tpuTopology": "2x2x4"}}, TOPOLOGY),
        ({"machineType": "ct5p-hightpu-4t"}, {}, TOPOLOGY),
        ({"machineType": "ct6e-standard-8t"}, {}, TOPOLOGY),
        ({"machineType": "e2-standard-8"}, {}, TOPOLOGY),
        ({"machineType": "tpu7x-standard-4t"}, {}, TOPOLOGY),
        ({}, {"placementPolicy": {"tpuTopology": "4x4"}}, "placementPolicy.type"),
        ({}, {"autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 3}}, "autoscaling.totalMaxNodeCount"),
        ({}, {"autoscaling": {"minNodeCount": 1, "maxNodeCount": 4}}, "autoscaling.minNodeCount"),
        ({}, {"autoscaling": None, "nodeCount": 2}, "nodeCount"),
        ({}, {"initialNodeCount": 1, "autoscaling": None}, "initialNodeCount"),
        ({}, {"nodeLocations": ["us-east5-a", "us-east5-b"]}, "nodeLocations"),
        ({"guestAccelerators": [{"type": "tpu-v6e-slice", "count": 4}]}, {}, "nodeConfig.guestAccelerators"),
        (
            {"ephemeralStorageLocalSsdConfig": {"localSsdCount": 1}},
            {},
            "nodeConfig.ephemeralStorageLocalSsdConfig",
        ),
        ({"flexStart": True}, {"queuedProvisioning": {"enabled": True}}, "queuedProvisioning.enabled"),
        (
            {"labels": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}},
            {},
            "nodeConfig.labels.cloud.google.com/gke-tpu-accelerator",
        ),
        (
            {"labels": {"cloud.google.com/gke-tpu-topology": "2x4"}},
            {},
            "nodeConfig.labels.cloud.google.com/gke-tpu-topology",
        ),
    ],
)
def test_what_gke_refuses_is_told_at_its_place(node: dict[str, Any], inputs: dict[str, Any], path: str) -> None:
    assert path in [where for _, where in told(node, **inputs)]


def test_a_zone_that_is_not_known_to_sell_it_is_told() -> None:
    assert told(nodeLocations=["us-central1-f"], location="us-central1") == [("gke-machine-zone", "nodeLocations[0]")]


@pytest.mark.parametrize(
    ("node", "inputs"),
    [
        ({}, {}),
        ({}, {"autoscaling": None, "nodeCount": 4}),
        ({}, {"autoscaling": {"minNodeCount": 4, "maxNodeCount": 4}, "initialNodeCount": 0}),
        ({}, {"placementPolicy": None, "autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 7}}),
        (
            {"machineType": "ct6e-standard-8t"},
            {"placementPolicy": {"type": "COMPACT", "tpuTopology": "2x4"}, "autoscaling": {"maxNodeCount": 9}},
        ),
        (
            {"machineType": "ct5p-hightpu-4t"},
            {
                "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4x8"},
                "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 32},
            },
        ),
        ({}, {"placementPolicy": {"policyName": "block", "tpuTopology": "4x4"}}),
        ({"labels": {"cloud.google.com/gke-tpu-topology": "4x4"}}, {}),
        ({"machineType": UNKNOWN}, {}),
        ({}, {"placementPolicy": {"type": "COMPACT", "tpuTopology": UNKNOWN}}),
        ({"machineType": "ct5lp-hightpu-4t"}, {}),
        (
            {"machineType": "tpu7x-standard-4t"},
            {"placementPolicy": {"policyName": "p", "tpuTopology": "2x2x1"}, "autoscaling": {"maxNodeCount": 5}},
        ),
    ],
)
def test_slices_that_are_right_are_let_alone(node: dict[str, Any], inputs: dict[str, Any]) -> None:
    assert [each for each in told(node, **inputs) if each[0] in ("gke-tpu", "gke-machine-zone")] == []
