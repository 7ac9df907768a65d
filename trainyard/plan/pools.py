"""GPU pools: which instance, how many nodes, in which capacities; then in which zones (`placement`).

A pool is drafted first, from the profile's figures and the stack file's overrides; zones are chosen with all drafts
in view, and only then do drafts become plans.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard import catalog
from trainyard.catalog import Instance
from trainyard.plan.choice import named_instance, pick_instance, usable
from trainyard.plan.ledger import Ledger
from trainyard.plan.profiles import Profile
from trainyard.plan.request import PoolRequest, RangeRequest, ReservedRequest
from trainyard.problems import nearest

NAME = re.compile(r"[a-z]([a-z0-9]|-(?!-))*")
MAX_NODE_GROUP_NAME = 55
"""EKS allows 63; eight are left for what Pulumi appends."""
_LONGEST_CAPACITY = len("-on-demand")
_RESERVATION_ID = re.compile(r"cr-[0-9a-f]{8,17}")


@dataclass(frozen=True, slots=True)
class Nodes:
    """How few and how many nodes, and where that comes from."""

    minimum: int
    maximum: int
    source: str


@dataclass(frozen=True, slots=True)
class PoolDraft:
    """A pool before zones are chosen. A capacity without nodes is None."""

    name: str
    purpose: str
    instance: Instance
    fabric: bool
    root_disk_gib: int
    reserved: ReservedRequest | None
    spot: Nodes | None
    on_demand: Nodes | None
    spot_types: tuple[str, ...] | None  # None: the catalogue's alternatives
    zone: str | None

    @property
    def key(self) -> str:
        """The pool's key in a stack file."""
        return f"gpuPools.{self.name}"

    @property
    def pinned_zone(self) -> str | None:
        """The zone that the pool cannot do without."""
        return self.reserved.availability_zone if self.reserved else self.zone


def draft_pools(
    requests: Mapping[str, PoolRequest], profile: Profile, team_size: int, region: str, ledger: Ledger
) -> tuple[PoolDraft, ...]:
    """Drafts every pool of the profile and of the stack file; records what is wrong with those it leaves out."""
    if not any(usable(item, region) for item in catalog.instances()):
        selling = (name for name in catalog.regions() if any(usable(item, name) for item in catalog.instances()))
        ledger.regional("region", region, f"sells no GPU instance; these do: {', '.join(selling)}")
        return ()
    of_profile = profile.names("gpu_pools")
    names = [*of_profile, *(name for name in requests if name not in of_profile)]
    enabled = [name for name in names if requests.get(name, PoolRequest()).enabled]
    for name in names:
        if name in requests and not requests[name].enabled and name not in of_profile:
            known = ", ".join(of_profile)
            ledger.problem(
                f"gpuPools.{name}.enabled",
                False,
                f"the profile has no such pool, only {known}",
                nearest(name, of_profile),
            )
    if not enabled:
        ledger.problem("gpuPools", "no enabled pool", "an environment needs at least one GPU pool")
    drafts = [
        _draft(name, requests.get(name, PoolRequest()), profile, name in of_profile, team_size, region, ledger)
        for name in enabled
    ]
    _check_reservations(drafts, ledger)
    return tuple(draft for draft in drafts if draft is not None)


def _draft(
    name: str, request: PoolRequest, profile: Profile, known: bool, team_size: int, region: str, ledger: Ledger
) -> PoolDraft | None:
    key = f"gpuPools.{name}"
    if not NAME.fullmatch(name) or name.endswith("-"):
        ledger.problem(key, name, "a pool's name is lower-case letters, digits and single '-', beginning with a letter")
    elif len(name) + _LONGEST_CAPACITY > MAX_NODE_GROUP_NAME:
        ledger.problem(
            key, name, f"must be at most {MAX_NODE_GROUP_NAME - _LONGEST_CAPACITY} long, for node group names"
        )
    item = pick_instance(name, request, profile, known, region, ledger)
    reserved = _reserved(key, request.reserved, item, ledger)
    if item is None:
        return None
    found = len(ledger.problems)
    spot, on_demand = _elastic(name, request, profile, known, team_size, item, ledger)
    nodes = request.reserved or spot or on_demand
    if not nodes and len(ledger.problems) == found:
        ledger.problem(key, "no node", "needs nodes: reserved, or spot.maxNodes or onDemand.maxNodes of at least 1")
    return PoolDraft(
        name=name,
        purpose=request.purpose
        or (str(profile.figure(f"gpu_pools.{name}.purpose").value) if known else f"pool {name}"),
        instance=item,
        fabric=_fabric(name, request, profile, known, item, ledger),
        root_disk_gib=_root_disk(name, request, profile, known, ledger),
        reserved=reserved,
        spot=spot,
        on_demand=on_demand,
        spot_types=_spot_types(key, request, item, region, ledger),
        zone=request.zone,
    )


def _reserved(
    key: str, reserved: ReservedRequest | None, item: Instance | None, ledger: Ledger
) -> ReservedRequest | None:
    """The reservation if nothing is wrong with it. Zones are checked when all of them are known."""
    if reserved is None:
        return None
    found = len(ledger.problems)
    if not _RESERVATION_ID.fullmatch(reserved.id):
        ledger.problem(f"{key}.reserved.reservationId", reserved.id, "must look like cr-0123456789abcdef0")
    if reserved.kind not in ("odcr", "capacity-block"):
        ledger.problem(f"{key}.reserved.kind", reserved.kind, "must be odcr or capacity-block")
    if reserved.nodes < 1:
        ledger.problem(f"{key}.reserved.nodes", reserved.nodes, "must be at least 1")
    elif reserved.max_nodes is not None and not 1 <= reserved.max_nodes <= reserved.nodes:
        ledger.problem(
            f"{key}.reserved.maxNodes",
            reserved.max_nodes,
            f"must be 1 to {reserved.nodes}, the size of the reservation",
        )
    if item is not None and reserved.kind == "capacity-block" and not item.capacity_block:
        able = ", ".join(other.type for other in catalog.instances() if other.capacity_block)
        ledger.problem(f"{key}.reserved.kind", reserved.kind, f"{item.type} is not sold in Capacity Blocks; {able} are")
    return reserved if len(ledger.problems) == found else None


def _check_reservations(drafts: list[PoolDraft | None], ledger: Ledger) -> None:
    owners: dict[str, str] = {}
    for draft in drafts:
        if draft is not None and draft.reserved is not None:
            owner = owners.setdefault(draft.reserved.id, draft.name)
            if owner != draft.name:
                key = f"{draft.key}.reserved.reservationId"
                ledger.problem(key, draft.reserved.id, f"pool {owner} has this reservation already")


def _elastic(
    name: str, request: PoolRequest, profile: Profile, known: bool, team_size: int, item: Instance, ledger: Ledger
) -> tuple[Nodes | None, Nodes | None]:
    """Spot and on-demand nodes: the profile's GPUs in whole nodes, shared between the two, then the overrides."""
    spot = on_demand = least = 0
    source = "not of the profile"
    if known:
        gpus = profile.figure(f"gpu_pools.{name}.gpus").at(team_size)
        percent = profile.figure(f"gpu_pools.{name}.on_demand_percent").at(team_size)
        least = profile.figure(f"gpu_pools.{name}.min_nodes").at(team_size)
        nodes = math.ceil(gpus / item.gpus)
        on_demand = max(1, nodes * percent // 100) if percent else 0
        spot = nodes - on_demand
        source = (
            f"{profile.source(f'gpu_pools.{name}.gpus')}: {gpus} GPUs for {team_size} people are {nodes} nodes, "
            f"{percent} % of them on demand"
        )
    key = f"gpuPools.{name}"
    return (
        _range(f"{key}.spot", request.spot, min(least, spot), spot, known, source, ledger),
        _range(f"{key}.onDemand", request.on_demand, min(least, on_demand), on_demand, known, source, ledger),
    )


def _range(
    key: str, request: RangeRequest | None, least: int, most: int, known: bool, source: str, ledger: Ledger
) -> Nodes | None:
    if request is None:
        return Nodes(least, most, source) if most else None
    if request.max_nodes is None and not known:
        ledger.problem(f"{key}.maxNodes", None, "how many nodes at most; the profile does not know this pool")
        return None
    minimum = least if request.min_nodes is None else request.min_nodes
    maximum = most if request.max_nodes is None else request.max_nodes
    if minimum < 0:
        ledger.problem(f"{key}.minNodes", minimum, "must be 0 or more")
    elif maximum < 0:
        ledger.problem(f"{key}.maxNodes", maximum, "must be 0 or more")
    elif minimum > maximum:
        if request.min_nodes is None:  # the profile's least, where the stack file asks for fewer
            return Nodes(maximum, maximum, f"setting {key}") if maximum else None
        ledger.problem(f"{key}.minNodes", minimum, f"must be at most maxNodes, which is {maximum}")
    elif maximum:
        return Nodes(
            minimum, maximum, f"setting {key}" if request.max_nodes is not None else f"setting {key}; {source}"
        )
    return None


def _fabric(name: str, request: PoolRequest, profile: Profile, known: bool, item: Instance, ledger: Ledger) -> bool:
    key = f"gpuPools.{name}.fabric"
    if request.fabric is not None:
        if request.fabric and not item.efa_interfaces:
            ledger.problem(key, True, f"{item.type} has no Elastic Fabric Adapter")
        fabric, source = request.fabric, f"setting {key}"
    elif known:
        path = f"gpu_pools.{name}.fabric"
        fabric, source = bool(profile.figure(path).value), profile.source(path)
    else:
        # One interface comes with any large instance; several mean that the instance is made for a fabric.
        fabric, source = item.efa_interfaces > 1, "a new pool has a fabric where its instance has several interfaces"
    interfaces = item.efa_interfaces if fabric else 0
    ledger.decide(f"pools.{name}.efa_interfaces", interfaces, f"{source}; catalogue: {item.efa_interfaces}")
    return interfaces > 0


def _root_disk(name: str, request: PoolRequest, profile: Profile, known: bool, ledger: Ledger) -> int:
    if request.root_disk_gib is not None:
        return ledger.decide(
            f"pools.{name}.root_disk_gib", request.root_disk_gib, f"setting gpuPools.{name}.rootDiskGib"
        )
    path = f"gpu_pools.{name}.root_disk_gib" if known else "gpu_pool_defaults.root_disk_gib"
    return ledger.decide(f"pools.{name}.root_disk_gib", int(profile.figure(path).value), profile.source(path))


def _spot_types(key: str, request: PoolRequest, item: Instance, region: str, ledger: Ledger) -> tuple[str, ...] | None:
    if request.spot_instance_types is None:
        return None
    kept = []
    for type_ in request.spot_instance_types:
        here = f"{key}.spot.instanceTypes"
        other = named_instance(here, type_, region, ledger)
        if other is None or other.type == item.type:
            continue
        if (other.gpu, other.gpus) != (item.gpu, item.gpus):
            ledger.problem(here, type_, f"has {other.gpus} {other.gpu}; the pool has {item.gpus} {item.gpu} a node")
        elif other.vcpus < item.vcpus or other.memory_gib < item.memory_gib:
            ledger.problem(here, type_, f"has fewer vCPUs or less memory than {item.type}, for which jobs are sized")
        else:
            kept.append(type_)
    return tuple(dict.fromkeys(kept))
