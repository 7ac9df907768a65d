"""Zones: which of the region's an environment uses, and in which of them a pool's nodes stand.

A node pool of GKE may stand in several zones: its autoscaler takes whichever has capacity and evens nothing out by
taking nodes away. So a pool is in every zone that sells its machine, unless its nodes have to be in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.catalog import gcp as catalog
from trainyard.catalog.gcp import GcpInstance
from trainyard.catalog.gke_nodes import usable_disk_gib
from trainyard.conventions import Capacity, gpudirect
from trainyard.conventions.gcp import (
    GIB_TUNERS,
    LOCAL_SSD_GIB,
    LOCAL_SSDS,
    RDMA_DEVICE_CLASS,
    gib_environment,
    local_ssd_choices,
)
from trainyard.conventions.gcp_files import FUSE_DISK_GIB
from trainyard.conventions.pod_networks import GVNIC_NETWORK, pod_networks, rdma_networks
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.gcp.market import usd_per_hour
from trainyard.plan.parts import FabricPlan, NodeGroupPlan, NodePlan, PoolPlan, ReservationPlan
from trainyard.plan.pools import Nodes, PoolDraft, switched_nvlinks
from trainyard.problems import nearest
from trainyard.settings.pools import GpuPool
from trainyard.smoke_jobs.launch.pod import LOGS_GIB, SCRATCH_GIB


def choose_zones(drafts: Sequence[PoolDraft[GcpInstance]], context: Context) -> tuple[str, ...]:
    """The environment's zones: the lock's, the stack file's, or all of the region's."""
    ledger, usable = context.ledger, catalog.zones(context.region)
    asked = context.settings.network.zones
    pins = [
        (f"{draft.key}.reserved.availabilityZone", draft.reserved.availability_zone)
        for draft in drafts
        if draft.reserved
    ]
    pins += [(f"{draft.key}.zone", draft.zone) for draft in drafts if draft.zone is not None]
    pins += [("network.zones", zone) for zone in asked or ()]
    lustre = context.settings.storage.lustre.zone
    pins += [("storage.lustre.zone", lustre)] if lustre is not None else []
    for key, zone in pins:
        if zone not in usable:
            allowed = f"no zone of {context.region}; it has {', '.join(usable)}"
            ledger.regional(key, zone, allowed, nearest(zone, usable))
    kept = context.lock.zone_names
    if kept:
        if not set(kept) <= set(usable):
            hint = "an environment does not move: give the other region a stack of its own"
            allowed = f"the stack's lock has zones of another region: {', '.join(kept)}"
            ledger.regional("region", context.region, allowed, hint)
            return usable
        if asked is not None and set(asked) != set(kept):
            context.contradiction("network.zones", asked, kept, "zones")
        chosen, source = kept, LOCKED
    elif asked is not None:
        if len(set(asked)) != len(asked):
            ledger.problem("network.zones", asked, "each zone once")
        chosen, source = tuple(sorted(set(asked) & set(usable))) or usable, "setting network.zones"
    else:
        chosen, source = usable, "all of the region's: a subnet is the region's, and capacity is where it is"
    for key, zone in pins:
        if zone in usable and zone not in chosen:
            ledger.problem(key, zone, f"must be one of the environment's zones, which are {', '.join(chosen)}")
    return ledger.decide("network.zones", chosen, source)


def place(draft: PoolDraft[GcpInstance], zones: Sequence[str], context: Context) -> PoolPlan | None:
    """The pool with its node groups, or None where no zone of the environment sells its machine."""
    item, region, ledger = draft.instance, context.region, context.ledger
    there = catalog.offered_zones(item.type, region)
    sold = tuple(zone for zone in zones if zone in there)
    if not sold:
        allowed = f"no zone of the environment ({', '.join(zones)}) sells it; {', '.join(there)} do"
        ledger.regional(f"{draft.key}.instanceType", item.type, allowed, "change network.zones")
        return None
    pinned = {f"{draft.key}.zone": draft.zone}
    if draft.reserved:
        pinned[f"{draft.key}.reserved.availabilityZone"] = draft.reserved.availability_zone
    for key, zone in pinned.items():
        if zone in zones and zone not in sold:
            ledger.regional(key, zone, f"does not sell {item.type}; {', '.join(sold)} do")
    _check_disk(draft, context)
    own = draft.pinned_zone if draft.pinned_zone in sold else None
    if draft.fabric:
        own = _fabric_zone(draft, own, sold, context)
        spread: tuple[str, ...] = (own,)
    else:
        spread = (draft.zone,) if draft.zone in sold else sold
    return PoolPlan(
        name=draft.name,
        purpose=draft.purpose,
        node=NodePlan(
            instance_type=item.type,
            gpu=item.gpu,
            gpus=item.gpus,
            gpu_memory_gib=item.gpu_memory_gib,
            vcpus=item.vcpus,
            memory_gib=item.memory_gib,
            fabric=_fabric(item, context) if draft.fabric else None,
            network_cards=1,
            local_nvme_gb=round(_ssds(draft, context) * LOCAL_SSD_GIB * 1.073741824),
            root_disk_gib=draft.root_disk_gib,
            usd_per_hour=usd_per_hour(item, region),
            pods_per_gpu=draft.sharing.pods_per_gpu,
            mig_profile=draft.sharing.mig_profile,
            nvlinks=switched_nvlinks(item.gpu, item.gpus, item.nvlink),
        ),
        node_groups=_node_groups(draft, spread, own, context),
        whole_nodes_only=draft.whole_nodes_only,
    )


def _fabric_zone(draft: PoolDraft[GcpInstance], own: str | None, sold: tuple[str, ...], context: Context) -> str:
    """The one zone of a pool with a fabric, which is a zone's."""
    key = f"{draft.key}.reserved.availabilityZone" if draft.reserved else f"{draft.key}.zone"
    kept = context.lock.pools.get(draft.name)
    if draft.reserved and draft.zone is not None and own is not None and draft.zone != own:
        allowed = f"the reservation is in {own}; a pool with a fabric has one zone"
        context.ledger.problem(f"{draft.key}.zone", draft.zone, allowed)
    if kept is not None and kept.zone is not None:
        if own is not None and own != kept.zone:
            instead = "give the other zone a pool of its own"
            context.contradiction(key, own, kept.zone, f"pools.{draft.name}", instead)
        return context.ledger.decide(f"pools.{draft.name}.zone", kept.zone, LOCKED)
    why = "the reservation's zone" if draft.reserved else "setting" if own else "the first zone that sells the type"
    return context.ledger.decide(f"pools.{draft.name}.zone", own or sold[0], f"a fabric needs one zone: {why}")


def _fabric(item: GcpInstance, context: Context) -> FabricPlan:
    """How a pod of the machine gets its fast interfaces."""
    transport = gpudirect.OF_MACHINE.get(item.type)
    if transport is not None:
        variables, asked = tuple(transport.environment.items()), tuple(transport.pod_annotations.items())
        return FabricPlan("gpudirect", "", "", transport.interfaces, 0, variables, asked, transport.name)
    environment = tuple(gib_environment(item.type).items()) if item.type in GIB_TUNERS else ()
    if context.settings.gcp.fast_network == "networks":
        networks = pod_networks([GVNIC_NETWORK, *rdma_networks(item.fabric_interfaces)])
        return FabricPlan("gpudirect", "", "", item.fabric_interfaces, 0, environment, tuple(networks.items()))
    return FabricPlan("gpudirect", "", RDMA_DEVICE_CLASS, item.fabric_interfaces, 0, environment)


def _node_groups(
    draft: PoolDraft[GcpInstance], spread: tuple[str, ...], own: str | None, context: Context
) -> tuple[NodeGroupPlan, ...]:
    groups, reserved = [], draft.reserved
    if reserved is not None:
        zone = own or spread[0]
        bound = ReservationPlan(reserved.reservation_id, "reservation", zone, "", "", "", None)
        nodes = Nodes(0, draft.reserved_nodes, f"setting {draft.key}.reserved")
        groups.append(_group(draft, "reserved", nodes, (zone,), bound, context))
    if draft.spot is not None:
        groups.append(_group(draft, "spot", draft.spot, spread, None, context))
    if draft.on_demand is not None:
        if not draft.instance.on_demand:
            allowed = f"{draft.instance.type} is not sold on demand: as spot or reserved only"
            hint = "set onDemand: { maxNodes: 0 } and gangNodes: 1, or reserve it"
            context.ledger.problem(f"{draft.key}.onDemand.maxNodes", draft.on_demand.maximum, allowed, hint)
        groups.append(_group(draft, "on-demand", draft.on_demand, spread, None, context))
    if draft.flex_start is not None:
        nodes = Nodes(0, draft.flex_start.max_nodes, f"setting {draft.key}.flexStart")
        groups.append(_group(draft, "flex-start", nodes, spread, None, context))
    return tuple(groups)


def run_hours(drafts: Sequence[PoolDraft[GcpInstance]], context: Context) -> tuple[tuple[str, int], ...]:
    """After how many hours the nodes of flex-start are taken away, by node group."""
    found = []
    for draft in drafts:
        if draft.flex_start is not None:
            name = f"{draft.name}-flex-start"
            source = f"setting {draft.key}.flexStart.maxHours, seven days at most"
            hours = context.ledger.decide(
                f"pools.{draft.name}.node_groups.{name}.max_hours", draft.flex_start.max_hours, source
            )
            found.append((name, hours))
    return tuple(found)


def _check_disk(draft: PoolDraft[GcpInstance], context: Context) -> None:
    """Notes a boot disk that leaves no room for the smoke job, where pods have their scratch files on it."""
    needed = SCRATCH_GIB + LOGS_GIB + FUSE_DISK_GIB
    if _ssds(draft, context) or not context.settings.smoke.enabled:
        return
    if usable_disk_gib(draft.root_disk_gib) < needed:
        enough = next(size for size in range(draft.root_disk_gib, 16_384) if usable_disk_gib(size) >= needed)
        allowed = (
            f"must be at least {enough}: GKE keeps a part of a disk, and the smoke job takes {needed} GiB of the rest"
        )
        context.ledger.problem(f"{draft.key}.rootDiskGib", draft.root_disk_gib, allowed)


def local_ssds(drafts: Sequence[PoolDraft[GcpInstance]], context: Context) -> tuple[tuple[str, int], ...]:
    """How many local SSDs a node gets, by pool, where the stack file says so; notes what the machine does not take."""
    found = []
    for draft in drafts:
        asked, key, machine = _asked_ssds(draft, context), f"{draft.key}.localSsds", draft.instance.type
        choices = local_ssd_choices(machine)
        if asked is None:
            continue
        if asked not in choices:
            takes = f"takes {' or '.join(map(str, choices))}" if choices else "has its own, whose number nobody gives"
            context.ledger.problem(key, asked, f"{machine} {takes}", "" if choices else "leave it out")
        source = f"setting {key}, of {LOCAL_SSD_GIB} GiB each"
        found.append((draft.name, context.ledger.decide(f"pools.{draft.name}.local_ssds", asked, source)))
    return tuple(found)


def _asked_ssds(draft: PoolDraft[GcpInstance], context: Context) -> int | None:
    return context.settings.gpu_pools.get(draft.name, GpuPool()).local_ssds


def _ssds(draft: PoolDraft[GcpInstance], context: Context) -> int:
    """Local SSDs of a node: those that are asked for, or those that its machine always has."""
    asked = _asked_ssds(draft, context)
    return LOCAL_SSDS.get(draft.instance.type, 0) if asked is None else asked


def _group(
    draft: PoolDraft[GcpInstance],
    capacity: Capacity,
    nodes: Nodes,
    zones: tuple[str, ...],
    reservation: ReservationPlan | None,
    context: Context,
) -> NodeGroupPlan:
    name, ledger = f"{draft.name}-{capacity}", context.ledger
    key = f"pools.{draft.name}.node_groups.{name}"
    return NodeGroupPlan(
        name=name,
        pool=draft.name,
        capacity=capacity,
        instance_types=(draft.instance.type,),
        min_nodes=ledger.decide(f"{key}.min_nodes", nodes.minimum, nodes.source),
        max_nodes=ledger.decide(f"{key}.max_nodes", nodes.maximum, nodes.source),
        zones=ledger.decide(f"{key}.zones", zones, "those that sell the machine; a zone may change in place"),
        # A reservation is placed where it was made, and Google's queue takes no placement.
        placement_group=draft.fabric and capacity in ("spot", "on-demand"),
        reservation=reservation,
    )
