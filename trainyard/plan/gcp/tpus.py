"""Slices of TPU chips: what a pool of them is, and whose they are.

A slice of several machines is one node pool, which GKE makes and takes away whole; slices of one machine share a node
pool. Quotas are whole slices: no job does with a part of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from pydantic.alias_generators import to_camel

from trainyard.catalog import gcp as catalog
from trainyard.catalog import tpu_slices
from trainyard.catalog.gcp import Tpu
from trainyard.conventions import CPU_POOL, SLICE_PROOF_RUN_S, STANDING, SYSTEM_POOL, Capacity
from trainyard.conventions.gcp import TPU_FAMILIES, chips_of_slice
from trainyard.plan.context import Context
from trainyard.plan.gcp.market import RESERVATION_FORM, RESERVATION_WORDS
from trainyard.plan.gcp.parts import TpuCapacityPlan, TpuPoolPlan
from trainyard.plan.ownership import hand_out, node_totals
from trainyard.plan.parts import SchedulingPlan
from trainyard.plan.smoke import MEMORY_SHARE, RESERVED_CORES
from trainyard.plan.team_budgets import CHIP_PRICES, hour_usd
from trainyard.problems import nearest
from trainyard.settings.people import Team
from trainyard.settings.tpus import TpuPool


def plan_tpus(
    teams: Sequence[Team],
    weights: Sequence[Fraction],
    zones: Sequence[str],
    pulled_as: Callable[[str], str],
    scheduling: SchedulingPlan,
    context: Context,
) -> tuple[TpuPoolPlan, ...]:
    """The pools of the stack file, each with what every team owns of it; what is wrong with one is recorded.

    Args:
        teams: that share the slices.
        weights: what they own is in proportion to these.
        zones: of the environment.
        pulled_as: where the nodes pull an image from.
        scheduling: how long the proof of a slice may wait for its machines.
        context: settings, profile and ledger.
    """
    found = []
    for name, pool in context.settings.gcp.tpu_pools.items():
        _check_name(name, context)
        machine = _machine(name, pool, context)
        if machine is None or not _is_sold(name, pool, machine, zones, context):
            continue
        planned = _pool(name, pool, machine, teams, weights, context)
        for each in planned.capacities:
            _tell_proof(planned, each, scheduling, context)
        found.append(replace(planned, image=pulled_as(pool.image)))
    return tuple(found)


def _check_name(name: str, context: Context) -> None:
    """A pool's name is a label of its nodes, which queues find them by."""
    asked, of_profile = context.settings.gpu_pools, context.profile.names("gpu_pools")
    taken = {
        SYSTEM_POOL,
        CPU_POOL,
        *(each for each in {*asked, *of_profile} if each not in asked or asked[each].enabled),
    }
    if name in taken:
        allowed = "another pool of nodes has this name; a pool's name is a label of its nodes"
        context.ledger.problem(f"gcp.tpuPools.{name}", "a pool of TPU slices", allowed, "take another name")


def _machine(name: str, pool: TpuPool, context: Context) -> Tpu | None:
    """The machine, where there is such a one and a slice of it has that topology."""
    key, type_, ledger = f"gcp.tpuPools.{name}", pool.instance_type, context.ledger
    known = [item.type for item in catalog.tpus()]
    if type_ not in known:
        family, sold = f"{type_.partition('-')[0]}-", f"machines of the catalogue: {', '.join(known)}"
        if family in TPU_FAMILIES and not any(each.startswith(family) for each in known):
            allowed = "is a machine with TPU chips of whose zones, topologies and prices no dated source was read"
            ledger.problem(f"{key}.instanceType", type_, allowed, sold)
            return None
        close = nearest(type_, known) or sold
        has_gpus = type_ in [item.type for item in catalog.instances()]
        allowed = "has GPUs and no TPU chips" if has_gpus else "no machine type with TPU chips in the catalogue"
        ledger.problem(f"{key}.instanceType", type_, allowed, "name it under gpuPools" if has_gpus else close)
        return None
    machine = catalog.tpu(type_)
    if not tpu_slices.takes(machine, pool.topology):
        others = [other.type for other in catalog.tpus() if other != machine and tpu_slices.takes(other, pool.topology)]
        allowed = f"is no topology of {type_}; it takes {tpu_slices.in_words(machine)}"
        hint = f"{pool.topology} is one of {', '.join(others)}" if others else ""
        ledger.problem(f"{key}.topology", pool.topology, allowed, hint)
        return None
    return machine


def _is_sold(name: str, pool: TpuPool, machine: Tpu, zones: Sequence[str], context: Context) -> bool:
    """Whether the pool's zone is one of the environment's and sells the machine, and its reservation has a name."""
    key, region, ledger = f"gcp.tpuPools.{name}", context.region, context.ledger
    found, there = len(ledger.problems), catalog.offered_zones(machine.type, region)
    if not there:
        where = ", ".join(catalog.offered_regions(machine.type))
        ledger.regional(f"{key}.instanceType", machine.type, f"{region} does not sell it; it is in {where}")
    elif pool.zone not in there:
        allowed = f"does not sell {machine.type}; {' and '.join(there)} do"
        ledger.regional(f"{key}.zone", pool.zone, allowed, nearest(pool.zone, there))
    elif pool.zone not in zones:
        allowed = f"must be one of the environment's zones, which are {', '.join(zones)}"
        ledger.regional(f"{key}.zone", pool.zone, allowed, "change network.zones")
    if pool.reserved is not None and not RESERVATION_FORM.fullmatch(pool.reserved.reservation_id):
        ledger.problem(f"{key}.reserved.reservationId", pool.reserved.reservation_id, RESERVATION_WORDS)
    if not (pool.reserved or pool.spot or pool.on_demand or pool.flex_start):
        allowed = "needs slices: reserved.slices, or maxSlices of spot, onDemand or flexStart"
        ledger.problem(key, "no slice", allowed)
    return len(ledger.problems) == found


def _pool(
    name: str, pool: TpuPool, machine: Tpu, teams: Sequence[Team], weights: Sequence[Fraction], context: Context
) -> TpuPoolPlan:
    key, ledger = f"tpu_pools.{name}", context.ledger
    hosts, chips = tpu_slices.machines(machine, pool.topology), chips_of_slice(pool.topology)
    price = catalog.machine_price(machine.type, context.region)
    joined = f"{chips} chips of {pool.topology}, {machine.chips} a machine of {machine.type}"
    ledger.decide(f"{key}.machines_of_a_slice", hosts, f"{joined}; nobody sets it")
    listed = price.usd / machine.chips if price is not None else None
    capacities = tuple(
        replace(each, chip_hour_usd=_chip_hour_usd(name, pool, each, machine, listed, context))
        for each in _capacities(name, pool, hosts, teams, weights, context)
    )
    return TpuPoolPlan(
        name=name,
        purpose=pool.purpose or f"TPU slices of {pool.topology}",
        instance_type=machine.type,
        accelerator=machine.accelerator,
        topology=pool.topology,
        hosts=hosts,
        chips_of_host=machine.chips,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        job_cpu=max(1, machine.vcpus - RESERVED_CORES),
        job_memory_gib=int(machine.memory_gib * MEMORY_SHARE),
        zone=ledger.decide(f"{key}.zone", pool.zone, f"setting gcp.tpuPools.{name}.zone: a slice is in one"),
        image=pool.image,
        root_disk_gib=pool.root_disk_gib,
        usd_per_hour=price.usd if price is not None else None,
        capacities=capacities,
    )


def chip_prices(pools: Sequence[TpuPoolPlan]) -> dict[str, tuple[str, float | None]]:
    """By flavor, where a price of its chips is said, and what an hour of one counts as."""
    return {
        each.name: (_price_setting(pool.name, each.capacity), each.chip_hour_usd)
        for pool in pools
        for each in pool.capacities
    }


def _price_setting(pool: str, capacity: Capacity) -> str:
    return CHIP_PRICES.format(pool, to_camel(capacity.replace("-", "_")))


def _chip_hour_usd(
    name: str, pool: TpuPool, each: TpuCapacityPlan, machine: Tpu, listed: float | None, context: Context
) -> float | None:
    had = {"reserved": pool.reserved, "spot": pool.spot, "on-demand": pool.on_demand, "flex-start": pool.flex_start}
    own = had[each.capacity]
    return hour_usd(
        f"ledger.chip_hour_usd.{each.name}",
        own.chip_hour_usd if own is not None else None,
        _price_setting(name, each.capacity),
        each.capacity,
        machine.type,
        machine.chips,
        listed,
        context,
    )


def _capacities(
    name: str, pool: TpuPool, hosts: int, teams: Sequence[Team], weights: Sequence[Fraction], context: Context
) -> tuple[TpuCapacityPlan, ...]:
    """The pool's slices by how they are had, whole ones each one team's."""
    slices: dict[Capacity, int] = {}
    if pool.reserved is not None:
        slices["reserved"] = pool.reserved.slices
    if pool.spot is not None:
        slices["spot"] = pool.spot.max_slices
    if pool.on_demand is not None:
        slices["on-demand"] = pool.on_demand.max_slices
    if pool.flex_start is not None:
        slices["flex-start"] = pool.flex_start.max_slices
    totals = node_totals(sum(slices.values()), weights, [None] * len(teams))
    rows = hand_out(list(slices.values()), totals)
    found = []
    for (capacity, count), row in zip(slices.items(), rows, strict=True):
        own = f"{name}-{capacity}"
        pools = tuple(f"{own}-{number}" for number in range(1, count + 1)) if hosts > 1 else (own,)
        key = f"tpu_pools.{name}.{own}"
        owned = [(team.name, mine) for team, mine in zip(teams, row, strict=True) if mine]
        why = "whole slices, in proportion to the teams' shares"
        context.ledger.decide(f"{key}.owners", [f"{team} {mine}" for team, mine in owned], why)
        each = "a node pool a slice: GKE makes and takes away all of its machines together"
        single = "slices of one machine share a node pool"
        context.ledger.decide(f"{key}.node_pools", pools, each if hosts > 1 else single)
        found.append(
            TpuCapacityPlan(
                name=own,
                capacity=capacity,
                slices=count,
                node_pools=pools,
                nodes_of_pool=hosts if hosts > 1 else count,
                reservation=pool.reserved.reservation_id if pool.reserved and capacity == "reserved" else None,
                max_hours=pool.flex_start.max_hours if pool.flex_start and capacity == "flex-start" else None,
                owners=tuple(owned),
                proof_team=_proof_team(capacity, owned, context),
                chip_hour_usd=None,  # which `_pool` says
            )
        )
    return tuple(found)


def _proof_team(capacity: Capacity, owned: Sequence[tuple[str, int]], context: Context) -> str | None:
    """The team whose queue the proofs of a capacity's slices go through."""
    smoke = context.settings.smoke
    if capacity not in STANDING or not smoke.enabled or capacity not in smoke.capacities:
        return None
    return smoke.team or max(owned, key=lambda each: each[1])[0]


def _tell_proof(pool: TpuPoolPlan, each: TpuCapacityPlan, scheduling: SchedulingPlan, context: Context) -> None:
    """Who proves a capacity's slices, how many of them, and what a round of it costs."""
    why = []
    if each.capacity not in STANDING:
        why = ["slices of flex-start come when there are some, which may be days"]
    elif each.proof_team is None:
        why = ["settings smoke.enabled and smoke.capacities"]
    else:
        what = "each slice" if len(each.proven) == each.slices else f"{len(each.proven)} of {each.slices} slices"
        most = "it owns the most there, the first of several alike"
        chosen = "setting smoke.team" if context.settings.smoke.team else most
        why = [
            f"a sum over all chips of {what}, by JAX in the pool's image; how fast the links are it does not say",
            f"for this team: {chosen}",
        ]
        if each.has_choice:
            why.append("nothing waits for it: a queue may let it in while another job has the very slice")
        why.append(_cost_of_round(pool, each, scheduling))
    context.ledger.decide(f"tpu_pools.{pool.name}.{each.name}.proof", each.proof_team, "; ".join(why))


def _cost_of_round(pool: TpuPoolPlan, each: TpuCapacityPlan, scheduling: SchedulingPlan) -> str:
    """At most: until the proof is given up, and until its machines are taken away after it."""
    if each.capacity == "reserved":
        return "a round costs nothing besides what is reserved"
    minutes = scheduling.pods_ready_timeout_minutes + SLICE_PROOF_RUN_S // 60 + scheduling.scale_down_after_minutes
    machines = len(each.proven) * pool.hosts
    used = f"a round takes {machines} machine{'s' if machines > 1 else ''} for at most {minutes} minutes"
    if pool.usd_per_hour is None:
        return f"{used}, whose price the catalogue does not have"
    return f"{used}, {machines * minutes / 60 * pool.usd_per_hour:.2f} USD at the price on demand"
