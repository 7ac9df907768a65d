"""Nodes that Google Cloud gives to a job that waits for them: a capacity of its own, the last that a queue tries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import STACK, bought, configuration, gpu_pool, keys, node_range, plan_of
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve

GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
    "monthlyBudgetUsd": 900_000,
}


def waiting(flex: dict[str, Any], **pool: Any) -> Plan:
    made = gpu_pool(instance_type="a3-ultragpu-8g", fabric=False, flex_start=flex, **pool)
    return plan_of(**{**GOOGLE, "gpuPools": {"train": made}})


def test_it_is_the_last_that_a_queue_tries_and_every_team_has_its_part_of_it() -> None:
    plan = waiting({"maxNodes": 4, "maxHours": 72}, spot=node_range(0, 2), on_demand=node_range(0, 2))
    (cluster,) = plan.clusters
    train = cluster.pool("train")
    assert [group.capacity for group in train.node_groups] == ["spot", "on-demand", "flex-start"]
    flex = train.node_groups[-1]
    assert (flex.name, flex.min_nodes, flex.max_nodes, flex.placement_group) == ("train-flex-start", 0, 4, False)
    assert [flavor.name for flavor in cluster.scheduling.flavors if flavor.pool == "train"][-1] == "train-flex-start"
    owned = [quota.gpus for team in cluster.teams for quota in team.quotas if quota.flavor == "train-flex-start"]
    assert sum(owned) == 32
    assert plan.ground.run_hours == (("train-flex-start", 72),)


def test_no_up_waits_in_googles_queue() -> None:
    (cluster,) = waiting({"maxNodes": 2}, spot=node_range(0, 0), on_demand=node_range(0, 0)).clusters
    assert [job.name for job in cluster.smoke.jobs if job.pool == "train"] == []


def test_the_nodes_of_a_fabric_stand_in_its_zone_and_without_a_placement_of_ours() -> None:
    image = f"us-docker.pkg.dev/acme-ml/images/torch-gib:2.13@sha256:{'1' * 64}"
    pool = gpu_pool(
        instance_type="a3-ultragpu-8g",
        reserved=bought("acme-h200", 2, "us-central1-b"),
        on_demand=node_range(0, 0),
        spot=node_range(0, 0),
        flex_start={"maxNodes": 2},
    )
    plan = plan_of(**{**GOOGLE, "gpuPools": {"train": pool}, "smoke": {"image": image}})
    groups = plan.clusters[0].pool("train").node_groups
    assert [(group.capacity, group.zones, group.placement_group) for group in groups] == [
        ("reserved", ("us-central1-b",), False),
        ("flex-start", ("us-central1-b",), False),
    ]
    assert plan.ground.run_hours == (("train-flex-start", 168),)


def test_it_holds_a_gang_as_a_reservation_does() -> None:
    plan = waiting({"maxNodes": 3}, on_demand=node_range(0, 0))
    assert "on-demand" not in {group.capacity for group in plan.clusters[0].pool("train").node_groups}


@pytest.mark.parametrize(
    ("flex", "key"),
    [
        ({"maxNodes": 0}, "gpuPools.train.flexStart.maxNodes"),
        ({"maxNodes": 2, "maxHours": 169}, "gpuPools.train.flexStart.maxHours"),
        ({"maxHours": 2}, "gpuPools.train.flexStart.maxNodes"),
        ({"maxNodes": 2, "minNodes": 1}, "gpuPools.train.flexStart.minNodes"),
    ],
)
def test_what_it_cannot_be_is_refused(problems: Any, flex: dict[str, Any], key: str) -> None:
    made = gpu_pool(instance_type="a3-ultragpu-8g", fabric=False, flex_start=flex)
    assert set(problems(**{**GOOGLE, "gpuPools": {"train": made}})) == {key}


def test_aws_has_no_such_queue() -> None:
    resolved = resolve(configuration(gpuPools={"train": gpu_pool(flex_start={"maxNodes": 2})}), STACK)
    assert any(
        text.startswith("gpuPools.train.flexStart: what only Google Cloud understands") for text in resolved.warnings
    )
    assert resolved.plan == plan_of()
