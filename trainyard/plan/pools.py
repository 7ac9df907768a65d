"""GPU pools, on any ground: how many nodes, in which capacities; what a region sells is asked of a `Market`.

A pool is drafted first, from the profile's figures and the stack file's overrides; the ground chooses zones with all
drafts in view, and only then do drafts become plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from trainyard import catalog
from trainyard.conventions import WHOLE_MACHINE_GPUS, taken_whole
from trainyard.plan.context import Context
from trainyard.plan.slices import Sharing, plan_sharing
from trainyard.problems import nearest
from trainyard.settings.pools import FlexStart, GpuPool, NodeRange, Reserved


class Machine(Protocol):
    """A machine with GPUs, as far as its cloud does not matter."""

    @property
    def type(self) -> str:
        """Name of the machine type."""

    @property
    def gpu(self) -> str:
        """Model of its GPUs."""

    @property
    def gpus(self) -> int:
        """Whole GPUs of it."""

    @property
    def fabric_interfaces(self) -> int:
        """Fast interfaces between nodes, at most."""


Sold = TypeVar("Sold", bound=Machine)


class Market(Protocol[Sold]):
    """What a region of a cloud sells. Each method records what is wrong with the settings."""

    def sells_gpus(self) -> bool:
        """Whether there is any GPU instance to be had."""

    def pick(self, name: str, pool: GpuPool, known: bool) -> Sold | None:
        """The instance of a pool; `known`: the profile has the pool."""

    def fabric(self, name: str, pool: GpuPool, known: bool, item: Sold) -> bool:
        """Whether the pool's nodes talk over the instance's fast interfaces."""

    def spot_types(self, key: str, pool: GpuPool, item: Sold) -> tuple[str, ...] | None:
        """The alternatives that the stack file names for spot nodes; None where it names none."""

    def check_reservation(self, key: str, reserved: Reserved, item: Sold | None) -> None:
        """What only the cloud knows of a reservation: how its id is spelt, what is sold in it."""

    def flex_start(self, key: str, pool: GpuPool) -> FlexStart | None:
        """The nodes that a job waits for in the cloud's own queue, where it has one."""


def switched_nvlinks(gpu: str, gpus: int, nvlink: str) -> int:
    """NVLinks that every GPU of a machine must have up; 0 where the catalogue does not say, and for a part of a
    machine: what its GPUs show of the links is not on record.

    Args:
        gpu: its model, as in the catalogue: A100-40GB.
        gpus: how many the machine has.
        nvlink: how they are joined: no, NVLink or NVSwitch.
    """
    return catalog.nvlinks(gpu) if nvlink == "NVSwitch" and gpus >= WHOLE_MACHINE_GPUS else 0


@dataclass(frozen=True, slots=True)
class Nodes:
    """How few and how many nodes, and where that comes from."""

    minimum: int
    maximum: int
    source: str


@dataclass(frozen=True, slots=True)
class PoolDraft(Generic[Sold]):
    """A pool before zones are chosen. A capacity without nodes is None."""

    name: str
    purpose: str
    instance: Sold
    fabric: bool
    root_disk_gib: int
    reserved: Reserved | None
    spot: Nodes | None
    on_demand: Nodes | None
    flex_start: FlexStart | None
    spot_types: tuple[str, ...] | None  # None: the catalogue's alternatives
    zone: str | None
    gang_nodes: int  # of a job that a capacity other than spot holds
    whole_nodes_only: bool
    sharing: Sharing

    @property
    def key(self) -> str:
        """The pool's key in a stack file."""
        return f"gpuPools.{self.name}"

    @property
    def reserved_nodes(self) -> int:
        """Nodes of the reservation that the pool uses; 0 without one."""
        if self.reserved is None:
            return 0
        return self.reserved.nodes if self.reserved.max_nodes is None else self.reserved.max_nodes

    @property
    def pinned_zone(self) -> str | None:
        """The zone that the pool cannot do without."""
        return self.reserved.availability_zone if self.reserved else self.zone


def draft_pools(market: Market[Sold], context: Context) -> tuple[PoolDraft[Sold], ...]:
    """Drafts every pool of the profile and of the stack file; records what is wrong with those it leaves out."""
    if not market.sells_gpus():
        return ()
    asked, ledger = context.settings.gpu_pools, context.ledger
    of_profile = context.profile.names("gpu_pools")
    names = [*of_profile, *(name for name in asked if name not in of_profile)]
    for name, pool in asked.items():
        if not pool.enabled and name not in of_profile:
            allowed = f"the profile has no such pool, only {', '.join(of_profile)}"
            ledger.problem(f"gpuPools.{name}.enabled", False, allowed, nearest(name, of_profile))
    enabled = [name for name in names if asked.get(name, GpuPool()).enabled]
    if not enabled:
        ledger.problem("gpuPools", "no enabled pool", "an environment needs at least one GPU pool")
    drafts = [_draft(name, asked.get(name, GpuPool()), name in of_profile, market, context) for name in enabled]
    found = tuple(draft for draft in drafts if draft is not None)
    for draft in found:
        _check_gang(draft, context)
    _check_owners(found, context)
    return found


def _draft(name: str, pool: GpuPool, known: bool, market: Market[Sold], context: Context) -> PoolDraft[Sold] | None:
    key, ledger = f"gpuPools.{name}", context.ledger
    item = market.pick(name, pool, known)
    reserved = _reserved(key, pool.reserved, item, market, context)
    if item is None:
        return None
    found = len(ledger.problems)
    fabric = market.fabric(name, pool, known, item)
    gang = _gang(name, pool, fabric, context)
    flex_start = market.flex_start(key, pool)
    enough = 0 if flex_start is None else flex_start.max_nodes
    spot, on_demand = _elastic(name, pool, known, item, 1 if enough >= gang else gang, context)
    if not (pool.reserved or spot or on_demand or flex_start) and len(ledger.problems) == found:
        ledger.problem(key, "no node", "needs nodes: reserved, or spot.maxNodes or onDemand.maxNodes of at least 1")
    return PoolDraft(
        name=name,
        purpose=pool.purpose or (str(context.figure(f"gpu_pools.{name}.purpose")) if known else f"pool {name}"),
        instance=item,
        fabric=fabric,
        root_disk_gib=context.take(
            f"gpu_pools.{name}.root_disk_gib" if known else "gpu_pool_defaults.root_disk_gib",
            f"{key}.rootDiskGib",
            pool.root_disk_gib,
            key=f"pools.{name}.root_disk_gib",
        ),
        reserved=reserved,
        spot=spot,
        on_demand=on_demand,
        flex_start=flex_start,
        spot_types=market.spot_types(key, pool, item),
        zone=pool.zone,
        gang_nodes=gang,
        whole_nodes_only=_whole_nodes_only(name, pool, known, item, fabric, context),
        sharing=plan_sharing(name, pool, item.gpu, fabric, flex_start is not None, context),
    )


def _gang(name: str, pool: GpuPool, fabric: bool, context: Context) -> int:
    """How many nodes a job has that the pool holds whole without spot: a job never spans two capacities."""
    key, given = f"gpuPools.{name}.gangNodes", pool.gang_nodes
    if given is not None and given > 1 and not fabric:
        context.ledger.problem(key, given, "only a pool with a fabric has jobs over several nodes", "set fabric: true")
    if given is None and not fabric:
        return 1
    path = "gpu_pool_defaults.gang_nodes"
    return int(context.take(path, key, given, key=f"pools.{name}.gang_nodes"))


def _check_gang(draft: PoolDraft[Sold], context: Context) -> None:
    """Notes a problem where the stack file asks for a gang that no capacity but spot holds."""
    given = context.settings.gpu_pools.get(draft.name, GpuPool()).gang_nodes
    bought = {
        "reserved": draft.reserved_nodes,
        "on-demand": draft.on_demand.maximum if draft.on_demand else 0,
        "flex-start": draft.flex_start.max_nodes if draft.flex_start else 0,
    }
    held = {capacity: nodes for capacity, nodes in bought.items() if nodes}
    if given is not None and given > max(held.values(), default=0):
        has = " and ".join(f"{nodes} {capacity}" for capacity, nodes in held.items()) or "none"
        allowed = f"must be at most the nodes of one capacity that is not spot; the pool has {has}"
        hint = f"raise {draft.key}.onDemand.maxNodes, or set 1: jobs over several nodes then wait for spot"
        context.ledger.problem(f"{draft.key}.gangNodes", given, allowed, hint)


def _whole_nodes_only(name: str, pool: GpuPool, known: bool, item: Sold, fabric: bool, context: Context) -> bool:
    """Whether small jobs are kept off the pool: on a node each they would break up what a large one waits for.

    A pool of the profile that is meant for a fabric trains on whole nodes, whether or not the region's machine has one;
    the profile's others are for small work, on whatever machine.
    """
    interfaces = item.fabric_interfaces if fabric else 0
    for_large_jobs = bool(context.figure(f"gpu_pools.{name}.fabric")) if known else taken_whole(item.gpus, interfaces)
    default = pool.sharing is None and item.gpus > 1 and (fabric or for_large_jobs)
    value = default if pool.whole_nodes_only is None else pool.whole_nodes_only
    source = (
        f"setting gpuPools.{name}.wholeNodesOnly"
        if pool.whole_nodes_only is not None
        else "small jobs on a node each would break up the nodes that a job of whole nodes waits for"
        if default
        else "small jobs share its nodes"
    )
    return context.ledger.decide(f"pools.{name}.whole_nodes_only", value, source)


def _reserved(
    key: str, reserved: Reserved | None, item: Sold | None, market: Market[Sold], context: Context
) -> Reserved | None:
    """The reservation if nothing is wrong with it. Zones are checked when all of them are known."""
    if reserved is None:
        return None
    ledger = context.ledger
    found = len(ledger.problems)
    if reserved.max_nodes is not None and reserved.max_nodes > reserved.nodes:
        allowed = f"must be 1 to {reserved.nodes}, the size of the reservation"
        ledger.problem(f"{key}.reserved.maxNodes", reserved.max_nodes, allowed)
    market.check_reservation(key, reserved, item)
    return reserved if len(ledger.problems) == found else None


def _check_owners(drafts: tuple[PoolDraft[Sold], ...], context: Context) -> None:
    """Notes a problem for each reservation that two pools name."""
    owners: dict[str, str] = {}
    for draft in drafts:
        if draft.reserved is not None:
            owner = owners.setdefault(draft.reserved.reservation_id, draft.name)
            if owner != draft.name:
                key = f"{draft.key}.reserved.reservationId"
                allowed = f"pool {owner} has this reservation already"
                context.ledger.problem(key, draft.reserved.reservation_id, allowed)


def _elastic(
    name: str, pool: GpuPool, known: bool, item: Sold, gang: int, context: Context
) -> tuple[Nodes | None, Nodes | None]:
    """Spot and on-demand nodes: the profile's GPUs in whole nodes, shared between the two, then the overrides."""
    of_profile = Nodes(0, 0, "not of the profile"), Nodes(0, 0, "not of the profile")
    if known:
        path = f"gpu_pools.{name}"
        gpus, percent = context.grown(f"{path}.gpus"), context.grown(f"{path}.on_demand_percent")
        least = context.grown(f"{path}.min_nodes")
        nodes = math.ceil(gpus / item.gpus)
        if (most := context.profile.figure(f"{path}.gpus").maximum) is not None:
            nodes = min(nodes, max(1, int(most) // item.gpus))  # whole nodes hold no more than the profile's most
        on_demand = max(1, nodes * percent // 100) if percent else 0
        source = (
            f"{context.source(f'{path}.gpus')}: {gpus} GPUs for {context.team_size} people are {nodes} nodes, "
            f"{percent} % of them on demand"
        )
        spot = nodes - on_demand
        reserved = 0 if pool.reserved is None else pool.reserved.max_nodes or pool.reserved.nodes
        if max(on_demand, reserved) < gang:
            on_demand = gang
            source += f"; {gang} on demand, so that a job of {gang} nodes does not depend on spot"
        of_profile = Nodes(min(least, spot), spot, source), Nodes(min(least, on_demand), on_demand, source)
    key = f"gpuPools.{name}"
    return (
        _range(f"{key}.spot", pool.spot, of_profile[0], known, context),
        _range(f"{key}.onDemand", pool.on_demand, of_profile[1], known, context),
    )


def _range(key: str, asked: NodeRange | None, default: Nodes, known: bool, context: Context) -> Nodes | None:
    if asked is None:
        return default if default.maximum else None
    if asked.max_nodes is None and not known:
        context.ledger.problem(f"{key}.maxNodes", None, "how many nodes at most; the profile does not know this pool")
        return None
    maximum = default.maximum if asked.max_nodes is None else asked.max_nodes
    if asked.min_nodes is None:  # the profile's fewest, or as many as there may be at most
        minimum = min(default.minimum, maximum)
    else:
        minimum = asked.min_nodes
    if minimum > maximum:
        context.ledger.problem(f"{key}.minNodes", minimum, f"must be at most maxNodes, which is {maximum}")
        return None
    source = f"setting {key}" if asked.max_nodes is not None else f"setting {key}; {default.source}"
    return Nodes(minimum, maximum, source) if maximum else None
