"""A Capacity Block has a beginning and an end: jobs, nodes and the reservation's schedule follow them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import gpu_pool, keys, plan_of
from trainyard.problems import SettingsError

BLOCK = {
    "reservation_id": "cr-0123456789abcdef0",
    "kind": "capacity-block",
    "nodes": 2,
    "availability_zone": "us-east-1b",
}


def bound(**more: Any) -> Any:
    pool = gpu_pool(instance_type="p5.48xlarge", reserved=keys(**{**BLOCK, **more}))
    (cluster,) = plan_of(gpuPools={"train": pool}, monthlyBudgetUsd=1_000_000).clusters
    return cluster.node_groups[0].reservation


def test_jobs_are_sent_until_hours_before_the_nodes_go() -> None:
    found = bound(start="2026-12-01T11:30:00Z", end="2026-12-08T11:30:00Z", last_start_hours=24)
    assert found.empty_at == "2026-12-08T10:45:00Z", "AWS ends nodes from 11:00 on"
    opens, closes = found.open_for_jobs
    assert opens == 1796124600  # 2026-12-01T11:30:00Z
    assert closes == opens + 7 * 86400 - 45 * 60 - 24 * 3600


def test_without_dates_a_block_is_open_always() -> None:
    found = bound()
    assert (found.open_for_jobs, found.empty_at) == (None, "")


@pytest.mark.parametrize(
    ("reserved", "key", "said"),
    [
        ({"start": "2026-12-01T11:30:00Z"}, "start", "needs an end too"),
        ({"end": "tomorrow"}, "end", "must be an instant in UTC"),
        ({"start": "2026-11-31T11:30:00Z", "end": "2026-12-08T11:30:00Z"}, "start", "is no day of the calendar"),
        ({"start": "2026-12-01T11:30:00Z", "end": "2026-12-01T13:30:00Z"}, "end", "must be more than 4 hours"),
        ({"last_start_hours": 3}, "lastStartHours", "counts back from the end"),
        ({"kind": "odcr", "end": "2026-12-08T11:30:00Z"}, "end", "only a Capacity Block has a span"),
    ],
)
def test_a_span_that_cannot_be_is_told(reserved: dict[str, Any], key: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        bound(**reserved)
    assert any(item.key == f"gpuPools.train.reserved.{key}" and said in str(item) for item in caught.value.problems)
