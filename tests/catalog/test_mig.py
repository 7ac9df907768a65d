"""The sizes that GPUs are partitioned into: whole, possible, and known to what judges node pools of GKE."""

import pytest

from trainyard.catalog.mig import mig_profiles
from trainyard.catalog.tables import rows
from trainyard.conventions.gcp import GKE_ACCELERATORS
from trainyard.rehearsal.refusals.gcp.nodes import _PARTITIONS

ROWS = list(rows("mig_profiles.csv"))


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['gpu']} {row['profile']}" for row in ROWS])
def test_instances_fit_into_the_gpu(row):
    instances, eighths = int(row["instances"]), int(row["memory_eighths"])
    assert instances > 1 and instances * eighths <= 8
    assert instances * int(row["profile"][0]) <= 7, "a GPU has seven slices of processors"
    known = {each["gpu"]: each for each in rows("gpus.csv")}[row["gpu"]]
    assert instances <= int(known["mig_instances"])
    gib = int(row["profile"].partition(".")[2].removesuffix("gb"))
    assert gib == pytest.approx(float(known["memory_gb"]) * eighths / 8, rel=0.05)


def test_gke_takes_every_one():
    for accelerator, gpu in GKE_ACCELERATORS.items():
        assert set(mig_profiles(gpu)) <= set(_PARTITIONS.get(accelerator, ()))


def test_a_gpu_without_it_has_none():
    assert mig_profiles("L4") == {} == mig_profiles("no GPU")
