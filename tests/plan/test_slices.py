"""GPUs that pods take turns on or have an instance of: what a queue hands out, what it costs, where it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import STACK, bought, configuration, gpu_pool, node_range, people, plan_of
from trainyard.plan.resolve import resolve
from trainyard.plan.smoke import smoke_job, smoke_spec
from trainyard.problems import SettingsError

ONE_TEAM = [people("vision", 12)]


def sharing(slices: int = 4, across: bool | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"timeSlices": slices}
    return found if across is None else {**found, "acrossTeams": across}


def small(**changes: Any) -> dict[str, Any]:
    fields = {"gpu": "L4", "on_demand": node_range(0, 2), "spot": node_range(0, 0), "sharing": sharing(), **changes}
    return gpu_pool(**fields)


def refused(**changes: Any) -> list[str]:
    with pytest.raises(SettingsError) as failed:
        resolve(configuration(**changes), STACK)
    return [problem.key for problem in failed.value.problems if ".sharing" in problem.key]


def test_a_queue_hands_out_turns_and_a_turn_costs_its_part_of_the_node() -> None:
    whole = plan_of(teams=ONE_TEAM, gpuPools={"own": small(sharing=None)}).clusters[0]
    turns = plan_of(teams=ONE_TEAM, gpuPools={"own": small()}).clusters[0]

    def handed(cluster: Any) -> int:
        return sum(quota.gpus for team in cluster.teams for quota in team.quotas if quota.flavor == "own-on-demand")

    assert handed(whole) == 2 * whole.pool("own").node.gpus
    assert handed(turns) == 4 * handed(whole)
    price = whole.pool("own").node.usd_per_gpu_hour
    assert price
    assert turns.pool("own").node.usd_per_gpu_hour == pytest.approx(price / 4)


def test_the_smoke_job_has_one_turn_on_one_node_and_measures_nothing() -> None:
    plan = plan_of(teams=ONE_TEAM, gpuPools={"own": small()}, smoke={"level": "full"})
    cluster = plan.clusters[0]
    pool = cluster.pool("own")
    job = smoke_job(cluster, pool, cluster.teams[0], "on-demand", 2)
    spec = smoke_spec(plan, cluster, job)
    assert (spec.nodes, spec.gpus_per_node, spec.level, spec.timeout_s) == (1, 1, "quick", 900)
    assert spec.usd_per_node_hour == pytest.approx(pool.node.usd_per_gpu_hour)
    other = smoke_spec(plan, cluster, smoke_job(cluster, cluster.pool("train"), cluster.teams[0], None, 2))
    assert other.level == "full"


def test_it_is_explained_that_memory_is_not_kept_apart() -> None:
    decisions = plan_of(teams=ONE_TEAM, gpuPools={"own": small()}).core.decisions
    (told,) = [decision for decision in decisions if decision.key == "pools.own.time_slices"]
    assert told.value == "4"
    assert "share its memory" in told.source


@pytest.mark.parametrize(
    "pool",
    [
        small(instance_type="p4d.24xlarge", gpu=None, fabric=True),
        small(
            instance_type="p4d.24xlarge",
            gpu=None,
            fabric=False,
            reserved=bought("cr-0123456789abcdef0", 1, "us-east-1b"),
        ),
        small(whole_nodes_only=True),
    ],
    ids=["fabric", "reserved", "whole nodes"],
)
def test_what_is_for_large_jobs_is_not_shared(pool: dict[str, Any]) -> None:
    assert set(refused(teams=ONE_TEAM, gpuPools={"own": pool})) == {"gpuPools.own.sharing.timeSlices"}


def test_fewer_than_two_are_no_turns_and_gke_allows_no_more_than_48() -> None:
    for slices in (1, 49):
        assert refused(teams=ONE_TEAM, gpuPools={"own": small(sharing=sharing(slices))})


def h100(profile: str = "1g.10gb", **changes: Any) -> dict[str, Any]:
    return small(gpu=None, instance_type="p5.48xlarge", fabric=False, sharing={"mig": profile}, **changes)


@pytest.mark.parametrize(("profile", "instances", "gib"), [("1g.10gb", 7, 9), ("1g.20gb", 4, 18), ("3g.40gb", 2, 36)])
def test_instances_are_handed_out_priced_and_proved_like_turns(profile: str, instances: int, gib: float) -> None:
    plan = plan_of(gpuPools={"own": h100(profile)}, smoke={"level": "full"})
    cluster = plan.clusters[0]
    node = cluster.pool("own").node
    assert (node.pods_per_gpu, node.mig_profile, node.gpus_offered, node.gpus_of_a_pod) == (
        instances,
        profile,
        8 * instances,
        1,
    )
    handed = sum(quota.gpus for team in cluster.teams for quota in team.quotas if quota.flavor == "own-on-demand")
    assert handed == 2 * 8 * instances, "teams need not accept anything: memory is kept apart"
    assert node.usd_per_hour and node.usd_per_gpu_hour == pytest.approx(node.usd_per_hour / 8 / instances)
    spec = smoke_spec(plan, cluster, smoke_job(cluster, cluster.pool("own"), cluster.teams[0], "on-demand", 2))
    assert (spec.nodes, spec.gpus_per_node, spec.level) == (1, 1, "quick")
    assert spec.gpu_memory_gib == pytest.approx(gib)


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        (h100("1g.5gb"), "1g.10gb"),
        (small(sharing={"mig": "1g.10gb"}), "cannot be partitioned"),
        (small(gpu=None, instance_type="p4d.24xlarge", fabric=False, sharing={"mig": "1g.5gb"}), "reset"),
        (small(sharing={"mig": "1g.10gb", "timeSlices": 4}), "one of timeSlices and mig"),
        (small(sharing={"acrossTeams": True}), "one of timeSlices and mig"),
        (small(sharing={"mig": "all-1g.10gb"}), "like 1g.10gb"),
        (h100() | {"fabric": True}, "whole"),
        (h100() | {"wholeNodesOnly": True}, "wholeNodesOnly"),
    ],
)
def test_instances_that_there_cannot_be_are_refused(pool: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as failed:
        resolve(configuration(gpuPools={"own": pool}), STACK)
    assert told in str(failed.value) and "gpuPools.own.sharing" in str(failed.value)


def test_teams_share_no_memory_unless_the_stack_file_accepts_it() -> None:
    assert refused(gpuPools={"own": small()}) == ["gpuPools.own.sharing.acrossTeams"]
    assert plan_of(gpuPools={"own": small(sharing=sharing(4, True))}).clusters[0].pool("own").node.pods_per_gpu == 4
