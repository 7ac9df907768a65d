"""Pools of TPU slices: what a stack file may ask for, what follows from it, and whose the slices are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import gcp as catalog
from trainyard.plan.gcp.parts import GcpPlan, TpuCapacityPlan, TpuPoolPlan
from trainyard.plan.parts import Plan

PRICE = catalog.machine_price
IMAGE = f"us-docker.pkg.dev/acme-ml/images/jax-tpu:1@sha256:{'2' * 64}"
POOL: dict[str, Any] = {
    "instanceType": "ct6e-standard-4t",
    "topology": "4x4",
    "zone": "us-central1-b",
    "image": IMAGE,
    "onDemand": {"maxSlices": 2},
}
GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "monthlyBudgetUsd": 900_000,
    "teams": [{"name": "big", "members": 6, "share": 60}, {"name": "small", "members": 4, "share": 40}],
}


def settings(pool: dict[str, Any] | None = None, name: str = "v6e", **changes: Any) -> dict[str, Any]:
    block = keys(project="acme-ml", project_number="123456789012")
    left = {key: value for key, value in {**POOL, **(pool or {})}.items() if value is not None}
    return {**GOOGLE, "gcp": {**block, "tpuPools": {name: left}}, **changes}


def ground(plan: Plan) -> GcpPlan:
    assert isinstance(plan.ground, GcpPlan)
    return plan.ground


def slices(pool: dict[str, Any] | None = None, **changes: Any) -> TpuPoolPlan:
    (found,) = ground(plan_of(**settings(pool, **changes))).tpu_pools
    return found


def test_a_slice_of_several_machines_is_a_node_pool_of_exactly_as_many() -> None:
    pool = slices({"spot": {"maxSlices": 1}})
    assert (pool.hosts, pool.chips_of_slice, pool.accelerator) == (4, 16, "tpu-v6e-slice")
    spot, on_demand = pool.capacities
    assert (spot.node_pools, spot.nodes_of_pool) == (("v6e-spot-1",), 4)
    assert (on_demand.node_pools, on_demand.nodes_of_pool) == (("v6e-on-demand-1", "v6e-on-demand-2"), 4)
    assert pool.most_machines == 12


def test_slices_of_one_machine_share_a_node_pool() -> None:
    pool = slices({"instanceType": "ct6e-standard-8t", "topology": "2x4"})
    (on_demand,) = pool.capacities
    assert (pool.hosts, pool.chips_of_slice) == (1, 8)
    assert (on_demand.node_pools, on_demand.nodes_of_pool) == (("v6e-on-demand",), 2)


def test_slices_are_owned_whole_and_all_of_them_are_somebodys() -> None:
    pool = slices({"onDemand": {"maxSlices": 3}, "spot": {"maxSlices": 2}})
    owned: dict[str, int] = {}
    for each in pool.capacities:
        assert sum(count for _, count in each.owners) == each.slices
        for team, count in each.owners:
            owned[team] = owned.get(team, 0) + count
    assert owned == {"big": 3, "small": 2}


def test_a_reservation_and_flex_start_are_had_as_they_are_sold() -> None:
    pool = slices(
        {
            "onDemand": None,
            "reserved": {"reservationId": "projects/acme-ml/reservations/tpus", "slices": 1},
            "flexStart": {"maxSlices": 1, "maxHours": 24},
        }
    )
    reserved, flexible = pool.capacities
    assert (reserved.capacity, reserved.reservation, reserved.max_hours) == (
        "reserved",
        "projects/acme-ml/reservations/tpus",
        None,
    )
    assert (flexible.capacity, flexible.reservation, flexible.max_hours) == ("flex-start", None, 24)


def test_a_reservation_is_in_the_idle_floor_and_slices_that_come_for_jobs_are_not() -> None:
    bare = plan_of(**settings())
    bought = plan_of(**settings({"reserved": {"reservationId": "tpus", "slices": 1}}))
    (item,) = [each for each in bought.core.idle_floor.items if "ct6e" in each.what]
    assert item.setting == "gcp.tpuPools.v6e.reserved"
    assert item.monthly_usd == round(4 * 4 * 2.7 * 730, 2)
    assert not [each for each in bare.core.idle_floor.items if "ct6e" in each.what]


def test_a_chip_counts_as_a_part_of_its_machine_spot_as_what_it_costs_and_a_commitment_as_it_is_said() -> None:
    bought = {"reservationId": "tpus", "slices": 1, "chipHourUsd": 1.25}
    pool = slices({"spot": {"maxSlices": 1}, "reserved": bought})
    prices = {each.capacity: each.chip_hour_usd for each in pool.capacities}
    assert pool.usd_per_hour is not None and prices["on-demand"] == pool.usd_per_hour / pool.chips_of_host
    assert 0 < (prices["spot"] or 0) < prices["on-demand"]
    assert prices["reserved"] == 1.25
    told = {decision.key: decision.source for decision in plan_of(**settings({"reserved": bought})).core.decisions}
    assert told["ledger.chip_hour_usd.v6e-reserved"] == "setting gcp.tpuPools.v6e.reserved.chipHourUsd"
    assert "list price" in told["ledger.chip_hour_usd.v6e-on-demand"]


def test_teams_are_not_held_by_chips_without_a_price(monkeypatch: pytest.MonkeyPatch, problems: Any) -> None:
    def held(**changes: Any) -> bool:
        (cluster,) = plan_of(**settings({"spot": {"maxSlices": 1, "chipHourUsd": 1}}, **changes)).clusters
        assert cluster.ledger is not None
        return cluster.ledger.hold

    assert held()
    monkeypatch.setattr(
        catalog, "machine_price", lambda type_, region: None if "ct6e" in type_ else PRICE(type_, region)
    )
    assert not held(), "what is spent is not known"
    found = problems(**settings(teamBudgets={"hold": True}))
    assert (list(found), found["teamBudgets.hold"].hint) == (
        ["teamBudgets.hold"],
        "set gcp.tpuPools.v6e.onDemand.chipHourUsd",
    )


def test_a_price_of_chips_among_those_of_gpus_is_told_where_it_belongs(problems: Any) -> None:
    found = problems(**settings(teamBudgets={"gpuHourUsd": {"v6e-on-demand": 1}}))
    assert found["teamBudgets.gpuHourUsd"].hint == "set gcp.tpuPools.v6e.onDemand.chipHourUsd"


def proof_of(capacity: str, **changes: Any) -> tuple[str | None, str]:
    given = {"spot": {"maxSlices": 1}, "flexStart": {"maxSlices": 1}}
    plan = plan_of(**settings(given, **changes))
    (pool,) = ground(plan).tpu_pools
    (each,) = [one for one in pool.capacities if one.capacity == capacity]
    (told,) = [one for one in plan.core.decisions if one.key == f"tpu_pools.v6e.v6e-{capacity}.proof"]
    return each.proof_team, told.source


@pytest.mark.parametrize(
    ("capacity", "changes", "team", "told"),
    [
        ("on-demand", {}, "big", "how fast the links are it does not say"),
        ("spot", {"smoke": {"team": "small"}}, "small", "setting smoke.team"),
        ("flex-start", {}, None, "may be days"),
        ("on-demand", {"smoke": {"enabled": False}}, None, "smoke.enabled"),
        ("spot", {"smoke": {"capacities": ["on-demand"]}}, None, "smoke.capacities"),
    ],
)
def test_the_plan_says_what_proves_a_slice(capacity: str, changes: Any, team: str | None, told: str) -> None:
    found, source = proof_of(capacity, **changes)
    assert found == team
    assert told in source


def told_of_proof(pool: dict[str, Any], capacity: str) -> tuple[TpuCapacityPlan, str]:
    plan = plan_of(**settings(pool))
    (each,) = [one for one in ground(plan).tpu_pools[0].capacities if one.capacity == capacity]
    (told,) = [one for one in plan.core.decisions if one.key == f"tpu_pools.v6e.v6e-{capacity}.proof"]
    return each, told.source


def test_a_round_of_proofs_starts_one_slice_that_is_paid_for() -> None:
    each, told = told_of_proof({"onDemand": {"maxSlices": 8}}, "on-demand")
    assert each.proven == ("v6e-on-demand-1",)
    assert "1 of 8 slices" in told
    assert re.search(r"a round takes 4 machines for at most (\d+) minutes, (\d+\.\d\d) USD", told)


def test_each_reserved_slice_of_several_machines_is_proven_and_nothing_waits_for_one_that_another_job_may_have() -> (
    None
):
    bought = {"onDemand": None, "reserved": {"reservationId": "tpus", "slices": 2}}
    each, told = told_of_proof(bought, "reserved")
    assert each.proven == each.node_pools and len(each.proven) == 2
    assert each.has_choice and "nothing waits for it" in told and "costs nothing besides" in told
    alone, told = told_of_proof({**bought, "reserved": {"reservationId": "tpus", "slices": 1}}, "reserved")
    assert not alone.has_choice and "nothing waits" not in told


def test_of_slices_on_one_machine_the_plan_promises_one() -> None:
    small = {"topology": "2x2", "onDemand": None, "reserved": {"reservationId": "tpus", "slices": 8}}
    each, told = told_of_proof(small, "reserved")
    assert each.proven == ("v6e-reserved",) and not each.has_choice
    assert "1 of 8 slices" in told


def test_teams_may_run_the_image_of_its_runtime() -> None:
    assert IMAGE.partition(":")[0] in plan_of(**settings()).core.allowed_images


def test_its_zone_gets_a_cache_of_the_data() -> None:
    changed = settings()
    changed["gcp"]["dataCacheHours"] = 24
    cache = ground(plan_of(**changed)).data_cache
    assert cache is not None and "us-central1-b" in cache.zones


def test_a_mirror_has_the_image_too() -> None:
    mirrored = slices(images={"mirrors": {"us-docker.pkg.dev": "mirror.acme.example/google"}})
    assert mirrored.image.startswith("mirror.acme.example/google/acme-ml/images/jax-tpu")


@pytest.mark.parametrize(
    ("pool", "key", "told"),
    [
        ({"topology": "4x5"}, "topology", "2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"),
        ({"topology": "1x1"}, "topology", "1x1 is one of ct5lp-hightpu-1t, ct6e-standard-1t"),
        ({"topology": "2x2x2"}, "topology", "is no topology of ct6e-standard-4t"),
        ({"instanceType": "ct5p-hightpu-4t", "zone": "us-central1-a"}, "topology", "2x2x1, 2x2x2"),
        ({"instanceType": "ct6e-standard-2t"}, "instanceType", "did you mean"),
        ({"instanceType": "tpu7x-standard-4t"}, "instanceType", "no dated source was read"),
        ({"instanceType": "a3-ultragpu-8g"}, "instanceType", "name it under gpuPools"),
        ({"zone": "us-central1-f"}, "zone", "us-central1-a and us-central1-b and us-central1-c do"),
        ({"zone": "europe-west4-a"}, "zone", "does not sell ct6e-standard-4t"),
        ({"onDemand": None}, "", "needs slices"),
        ({"reserved": {"reservationId": "Tpus!", "slices": 1}}, "reserved.reservationId", "must be NAME"),
    ],
)
def test_what_no_slice_can_be_is_refused_by_its_key(problems: Any, pool: dict[str, Any], key: str, told: str) -> None:
    found = problems(**settings(pool))
    where = f"gcp.tpuPools.v6e.{key}".rstrip(".")
    assert set(found) == {where}
    assert told in str(found[where])


@pytest.mark.parametrize("name", ["train", "dev", "system", "cpu"])
def test_a_pool_has_a_name_of_its_own(problems: Any, name: str) -> None:
    found = problems(**settings(name=name))
    assert "take another name" in str(found[f"gcp.tpuPools.{name}"])


def test_the_name_of_a_pool_that_is_taken_away_is_free() -> None:
    found = ground(plan_of(**settings(name="dev", gpuPools={"dev": {"enabled": False}})))
    assert [pool.name for pool in found.tpu_pools] == ["dev"]


def test_a_region_that_sells_none_is_told_with_those_that_do(problems: Any) -> None:
    changed = settings(
        {"instanceType": "ct5p-hightpu-4t", "topology": "2x2x2", "zone": "us-west1-a"}, region="us-west1"
    )
    found = problems(**changed)
    assert "us-west1 does not sell it; it is in europe-west1" in str(found["gcp.tpuPools.v6e.instanceType"])


def test_a_zone_that_the_environment_leaves_out_is_refused(problems: Any) -> None:
    changed = settings(network={"zones": ["us-central1-a", "us-central1-c"]})
    found = problems(**changed)
    assert "the environment's zones" in str(found["gcp.tpuPools.v6e.zone"])


def test_managed_training_has_no_slices(problems: Any) -> None:
    found = problems(**settings(profile="small"))
    assert "gcp.tpuPools" in found


def test_an_image_without_a_digest_is_refused(problems: Any) -> None:
    assert "gcp.tpuPools.v6e.image" in problems(**settings({"image": "jax:latest"}))
