"""Local SSDs of a pool on Google Cloud: as many as the machine takes, by the stack file or as it always has them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import STACK, configuration, gpu_pool, keys, node_range, plan_of
from trainyard.conventions.gcp import LOCAL_SSD_GIB
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve

GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
    "monthlyBudgetUsd": 900_000,
}


def given(machine: str, ssds: int | None) -> dict[str, Any]:
    asked = {} if ssds is None else {"local_ssds": ssds}
    pool = gpu_pool(instance_type=machine, fabric=False, spot=node_range(0, 0), on_demand=node_range(0, 2), **asked)
    return {**GOOGLE, "gpuPools": {"train": pool}}


def nvme_gb(plan: Plan) -> int:
    return plan.clusters[0].pool("train").node.local_nvme_gb


@pytest.mark.parametrize(
    ("machine", "ssds"),
    [("a2-highgpu-1g", 1), ("a2-highgpu-1g", 8), ("g2-standard-48", 4), ("g2-standard-24", 2), ("a3-megagpu-8g", 16)],
)
def test_a_node_gets_as_many_as_its_machine_takes(machine: str, ssds: int) -> None:
    plan = plan_of(**given(machine, ssds))
    assert plan.ground.local_ssds == (("train", ssds),)
    assert nvme_gb(plan) == round(ssds * LOCAL_SSD_GIB * 1.073741824)


def test_without_the_setting_it_has_what_the_machine_always_has() -> None:
    assert nvme_gb(plan_of(**given("a2-highgpu-8g", None))) == 0
    always = plan_of(**given("a3-megagpu-8g", None))
    assert always.ground.local_ssds == () and nvme_gb(always) == round(16 * LOCAL_SSD_GIB * 1.073741824)


@pytest.mark.parametrize(
    ("machine", "ssds", "said"),
    [
        ("g2-standard-48", 8, "g2-standard-48 takes 4"),
        ("a2-highgpu-4g", 2, "a2-highgpu-4g takes 4 or 8"),
        ("a3-megagpu-8g", 8, "a3-megagpu-8g takes 16"),
        ("a2-ultragpu-8g", 8, "a2-ultragpu-8g has its own, whose number nobody gives"),
    ],
)
def test_a_number_that_the_machine_does_not_take_is_refused(problems: Any, machine: str, ssds: int, said: str) -> None:
    found = problems(**given(machine, ssds))
    assert set(found) == {"gpuPools.train.localSsds"}
    assert said in str(found["gpuPools.train.localSsds"])


@pytest.mark.parametrize("ssds", [0, 33])
def test_no_machine_takes_none_or_more_than_32(problems: Any, ssds: int) -> None:
    assert set(problems(**given("a2-highgpu-8g", ssds))) == {"gpuPools.train.localSsds"}


def test_aws_gives_the_disks_of_its_instances_unasked() -> None:
    resolved = resolve(configuration(gpuPools={"train": gpu_pool(local_ssds=8)}), STACK)
    assert any(
        text.startswith("gpuPools.train.localSsds: what only Google Cloud understands") for text in resolved.warnings
    )
    assert resolved.plan == plan_of()
