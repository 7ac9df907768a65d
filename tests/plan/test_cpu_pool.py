"""The nodes of people's pods without GPUs: how many, what they cost while idle, and what goes without them."""

from __future__ import annotations

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard import catalog
from trainyard.plan.aws.allocatable import allocatable


def pool_of(**changes):
    plan = plan_of(**changes)
    return plan, plan.clusters[0].cpu_pool


def floor(plan):
    return {item.what: item.monthly_usd for item in plan.core.idle_floor.items if "CPU pool" in item.what}


def test_it_starts_from_none_and_costs_nothing_then():
    plan, pool = pool_of()
    assert (pool.min_nodes, pool.instance_types[0]) == (0, "m7i.2xlarge")
    assert floor(plan) == {}


@pytest.mark.parametrize(("members", "most"), [(5, 3), (8, 4), (12, 6), (19, 6)])
def test_it_grows_with_the_team_up_to_the_profiles_end(members, most):
    assert pool_of(profile="medium", teamSize=members, teams=())[1].max_nodes == most


def test_nodes_that_always_run_are_paid_for():
    plan, pool = pool_of(cpuPool=keys(min_nodes=2, max_nodes=4, disk_gib=50, instance_types=["m6i.xlarge"]))
    assert (pool.min_nodes, pool.max_nodes, pool.disk_gib, pool.instance_types) == (2, 4, 50, ("m6i.xlarge",))
    hourly = catalog.cpu_instance("m6i.xlarge").usd_per_hour
    assert floor(plan) == {"CPU pool (2 m6i.xlarge)": round(2 * 730 * hourly, 2), "disks of CPU pool": 8.0}


def test_without_it_nobody_may_make_pods_without_gpus():
    plan, pool = pool_of(cpuPool=keys(max_nodes=0))
    assert pool is None
    for team in plan.clusters[0].teams:
        assert (team.cpu_only_cores, team.cpu_only_memory_gib, team.cpu_only_pods) == (0, 0, 0)
    said = {decision.key: decision.source for decision in plan.core.decisions}
    assert "cpuPool.maxNodes is 0" in said[f"teams.{team.name}.cpu_only_pods"]


@pytest.mark.parametrize(
    ("members", "nodes", "pods"), [(12, None, 240), (895, 4, 440), (10_000, None, 1760), (60, 1, 110)]
)
def test_a_team_has_no_more_pods_than_the_nodes_hold(members, nodes, pods):
    plan, _ = pool_of(teamSize=members, teams=(), cpuPool=keys(max_nodes=nodes))
    (team,) = plan.clusters[0].teams
    assert team.cpu_only_pods == pods
    said = {decision.key: decision.source for decision in plan.core.decisions}
    assert ("holds at its most" in said[f"teams.{team.name}.cpu_only_pods"]) == (pods != 20 * members)


@pytest.mark.parametrize(("members", "nodes"), [(12, None), (3, None), (60, 1)])
def test_a_team_has_no_more_cores_and_memory_than_the_nodes_have_for_pods(members, nodes):
    """A pod within its team's part would wait for ever: the kubelet and the drivers take some of every node."""
    plan, pool = pool_of(profile="medium", teamSize=members, teams=(), cpuPool=keys(max_nodes=nodes))
    (team,) = plan.clusters[0].teams
    smallest = min((catalog.cpu_instance(type_) for type_ in pool.instance_types), key=lambda item: item.memory_gib)
    for bound, whole, wanted in (
        (team.cpu_only_cores, smallest.vcpus, 4 * members),
        (team.cpu_only_memory_gib, smallest.memory_gib, 16 * members),
    ):
        assert bound < whole * pool.max_nodes
        assert bound == wanted or bound > 0.8 * whole * pool.max_nodes


@pytest.mark.parametrize("item", catalog.cpu_instances(), ids=lambda item: item.type)
def test_the_runtime_without_gpus_fits_every_type(item):
    """Its container asks for one core and 4 GiB."""
    room = allocatable(item.type, team_logs=True)
    assert room.cores >= 1
    assert room.mib >= 4096
