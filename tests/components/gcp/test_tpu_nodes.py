"""Node pools of TPU slices: what GKE is asked for, and what is refused before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pulumi_harness import record
from trainyard.components.gcp.tpu_nodes import TpuNodePoolArgs, TpuSlices, check_slices

SLICE: TpuNodePoolArgs = {
    "name": "v6e-spot-1",
    "pool": "v6e",
    "capacity": "spot",
    "machine_type": "ct6e-standard-4t",
    "chips": 4,
    "topology": "4x4",
    "max_nodes": 4,
    "zone": "us-east4-a",
    "disk_gib": 200,
}


def slice_of(**changes: Any) -> TpuNodePoolArgs:
    return {**SLICE, **changes}  # type: ignore[typeddict-item]


def inputs(**changes: Any) -> dict[str, Any]:
    made = record(
        lambda: TpuSlices(
            "tpu-slices",
            {
                "cluster_id": "projects/acme/locations/us-east4/clusters/acme",
                "region": "us-east4",
                "node_account_email": "acme-nodes@acme.iam.gserviceaccount.com",
                "key_id": "projects/acme/locations/us-east4/keyRings/r/cryptoKeys/k",
                "labels": {"client": "acme"},
                "pools": [slice_of(**changes)],
            },
        )
    )
    return dict(made.one("gcp:container/nodePool:NodePool").inputs)


def test_a_slice_of_several_machines_is_all_or_none_and_names_its_topology() -> None:
    pool = inputs()
    assert pool["autoscaling"] == {"totalMinNodeCount": 0, "totalMaxNodeCount": 4, "locationPolicy": "ANY"}
    assert pool["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert pool["nodeLocations"] == ["us-east4-a"]
    node = pool["nodeConfig"]
    assert "guestAccelerators" not in node and "ephemeralStorageLocalSsdConfig" not in node
    assert node["spot"] is True
    assert {taint["key"] for taint in node["taints"]} == {"google.com/tpu", "ml.platform/capacity"}
    assert node["labels"] == {"ml.platform/pool": "v6e", "ml.platform/capacity": "spot"}
    assert node["resourceLabels"] == {"client": "acme", "pool": "v6e", "capacity": "spot"}


def test_a_machine_that_no_persistent_disk_boots_gets_a_hyperdisk() -> None:
    assert inputs()["nodeConfig"]["diskType"] == "hyperdisk-balanced"
    assert "diskType" not in inputs(machine_type="ct5lp-hightpu-4t")["nodeConfig"]


def test_slices_of_one_machine_have_no_placement() -> None:
    pool = inputs(machine_type="ct6e-standard-8t", chips=8, topology="2x4", max_nodes=3)
    assert "placementPolicy" not in pool
    assert pool["autoscaling"]["totalMaxNodeCount"] == 3


def test_flex_start_asks_for_no_provisioning_requests_and_is_not_mended() -> None:
    pool = inputs(capacity="flex-start", max_run_seconds=3600)
    assert "queuedProvisioning" not in pool
    assert pool["management"]["autoRepair"] is False
    node = pool["nodeConfig"]
    assert (node["flexStart"], node["maxRunDuration"]) == (True, "3600s")
    assert node["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}


def test_a_reservation_is_used_by_its_name() -> None:
    affinity = inputs(capacity="reserved", reservation="tpus")["nodeConfig"]["reservationAffinity"]
    assert affinity["values"] == ["tpus"]
    assert affinity["consumeReservationType"] == "SPECIFIC_RESERVATION"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "-v6e"}, "a letter first"),
        ({"capacity": "preemptible"}, "capacity 'preemptible'"),
        ({"capacity": "reserved"}, "names a reservation"),
        ({"reservation": "tpus"}, "names a reservation"),
        ({"machine_type": "a3-ultragpu-8g"}, "'a3-ultragpu-8g' has no TPU chips"),
        ({"topology": "four"}, "'four' is no topology"),
        ({"topology": "3x3"}, "of no whole machines with 4 chips"),
        ({"topology": "1x1"}, "of no whole machines with 4 chips"),
        ({"max_nodes": 3}, "3 nodes of a slice of 4x4, which has 4"),
        ({"max_nodes": 0, "topology": "2x2"}, "0 nodes; at least 1"),
        ({"max_run_seconds": 60, "capacity": "flex-start"}, "runs 60 s at most"),
    ],
)
def test_what_never_gets_a_slice_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        check_slices(slice_of(**changes))
