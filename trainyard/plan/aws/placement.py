"""Zones: which of the region's an environment uses, and in which of them a pool's nodes stand."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from trainyard import catalog
from trainyard.catalog import Instance
from trainyard.conventions import Capacity
from trainyard.conventions.aws import EFA_ENVIRONMENT, EFA_HUGEPAGES_MIB, EFA_RESOURCE
from trainyard.plan.aws.cidr import MAX_ZONES
from trainyard.plan.aws.existing_network import requested_zones
from trainyard.plan.aws.reservations import reservation
from trainyard.plan.context import LOCKED, Context
from trainyard.plan.parts import FabricPlan, NodeGroupPlan, NodePlan, PoolPlan, ReservationPlan
from trainyard.plan.pools import Nodes, PoolDraft, switched_nvlinks
from trainyard.problems import nearest

_NAMES_DIFFER = "zone names of older regions stand for different places in each account: compare with yours"


def choose_zones(drafts: Sequence[PoolDraft[Instance]], context: Context) -> tuple[str, ...]:
    """The environment's zones: the stack file's, or as many as the profile says, best for the pools first.

    Every zone that something is bound to (a reservation, a pool's or the file system's zone) is among them.
    """
    settings, region, ledger = context.settings, context.region, context.ledger
    lustre_zone = settings.storage.lustre.zone
    usable = catalog.zones(region)
    pins = [
        (f"{draft.key}.reserved.availabilityZone", draft.reserved.availability_zone)
        for draft in drafts
        if draft.reserved
    ]
    pins += [(f"{draft.key}.zone", draft.zone) for draft in drafts if draft.zone is not None]
    pins += [("storage.lustre.zone", lustre_zone)] if lustre_zone is not None else []
    pins = [(key, zone) for key, zone in pins if _is_usable(key, zone, context)]
    named = requested_zones(context)
    if context.lock.zones:
        return _locked_zones(pins, named, context)
    if named is not None:
        where, requested = named
        good = [zone for zone in requested if _is_usable(where, zone, context)]
        if len(set(requested)) != len(requested):
            ledger.problem(where, requested, "each zone once")
        elif not 2 <= len(requested) <= MAX_ZONES:
            ledger.problem(where, requested, f"two to {MAX_ZONES} zones; EKS needs two")
        elif len(good) == len(requested):
            for key, zone in pins:
                if zone not in requested:
                    ledger.problem(key, zone, f"must be one of {where}, which are {', '.join(requested)}")
            return ledger.decide("network.zones", tuple(sorted(requested)), f"setting {where}")
        return usable
    count = min(int(context.figure("network.zones")), len(usable))

    def rank(zone: str) -> tuple[int, int, str]:
        sold = [draft for draft in drafts if zone in catalog.offered_zones(draft.instance.type, region)]
        return -sum(draft.fabric for draft in sold), -len(sold), zone

    pinned = list(dict.fromkeys(zone for _, zone in pins))
    rest = [zone for zone in sorted(usable, key=rank) if zone not in pinned]
    chosen = tuple(sorted((pinned + rest)[: max(count, len(pinned))]))
    why = f"{context.source('network.zones')}; those that sell most of the pools' instances; {_NAMES_DIFFER}"
    return ledger.decide("network.zones", chosen, why)


def _locked_zones(
    pins: Sequence[tuple[str, str]], named: tuple[str, tuple[str, ...]] | None, context: Context
) -> tuple[str, ...]:
    """The lock's zones, which hold whatever else is bound to one."""
    kept = context.lock.zone_names
    if not set(kept) <= {fact.name for fact in catalog.region(context.region).zones}:
        allowed = f"the stack's lock has zones of another region: {', '.join(kept)}"
        hint = "an environment does not move: give the other region a stack of its own"
        context.ledger.regional("region", context.region, allowed, hint)
        return catalog.zones(context.region)[:MAX_ZONES]
    if named is not None and set(named[1]) != set(kept):
        context.contradiction(named[0], named[1], kept, "zones")
    for key, zone in pins:
        if zone not in kept:
            context.contradiction(key, zone, kept, "zones")
    for where, zones in [
        ("controlPlaneZones", context.lock.control_plane_zones),
        *((f"nodeGroups.{name}", group.zones) for name, group in context.lock.node_groups.items()),
    ]:
        gone = [zone for zone in zones if zone not in kept]
        if gone:
            allowed = f"the stack's lock has no such zone, only {', '.join(kept)}"
            hint = f"`trainyard plan STACK --relock zones --relock {where}` says what it would replace, and writes it"
            context.ledger.problem(f"lock: {where}", gone, allowed, hint)
    return context.ledger.decide("network.zones", kept, LOCKED)


def _is_usable(key: str, zone: str, context: Context) -> bool:
    region, ledger = context.region, context.ledger
    usable = catalog.zones(region)
    if zone in usable:
        return True
    facts = {fact.name: fact for fact in catalog.region(region).zones}
    if zone in facts:
        ledger.regional(key, zone, f"EKS cannot use zone {facts[zone].id}; use one of {', '.join(usable)}")
    else:
        ledger.regional(key, zone, f"no zone of {region}; it has {', '.join(usable)}", nearest(zone, usable))
    return False


def zones_of_fabrics(drafts: Sequence[PoolDraft[Instance]], zones: Sequence[str], context: Context) -> frozenset[str]:
    """Where the pools with a fabric stand: each has one zone for all of its nodes."""
    found = set()
    for draft in drafts:
        sold = [zone for zone in zones if zone in catalog.offered_zones(draft.instance.type, context.region)]
        if draft.fabric and sold:
            found.add(draft.pinned_zone if draft.pinned_zone in sold else sold[0])
    return frozenset(found)


def place(
    draft: PoolDraft[Instance], zones: Sequence[str], crowded: frozenset[str], context: Context
) -> PoolPlan | None:
    """The pool with its node groups, or None where no zone of the environment sells its instance.

    `crowded` are the zones that others are kept out of where there is a choice: those of pools with a fabric.
    """
    item, region, ledger = draft.instance, context.region, context.ledger
    sold = [zone for zone in zones if zone in catalog.offered_zones(item.type, region)]
    kept = context.lock.pools.get(draft.name)
    kept_zone = kept.zone if kept is not None and draft.fabric else None
    if not sold and kept_zone is None:
        elsewhere = ", ".join(catalog.offered_zones(item.type, region))
        ledger.regional(
            f"{draft.key}.instanceType",
            item.type,
            f"no zone of the environment ({', '.join(zones)}) sells it; {elsewhere} do",
            f"change {named[0] if (named := requested_zones(context)) else 'network.zones'}",
        )
        return None
    own = draft.pinned_zone
    if draft.reserved and draft.zone is not None and draft.zone != own:
        ledger.problem(
            f"{draft.key}.zone", draft.zone, f"the reservation is in {own}; a pool with a fabric has one zone"
        )
    if kept_zone is not None:
        if own is not None and own != kept_zone:
            key = f"{draft.key}.reserved.availabilityZone" if draft.reserved else f"{draft.key}.zone"
            instead = "give the other zone a pool of its own"
            context.contradiction(key, own, kept_zone, f"pools.{draft.name}", instead)
        own = kept_zone
    elif own is not None and own not in sold:
        key = f"{draft.key}.reserved.availabilityZone" if draft.reserved else f"{draft.key}.zone"
        if own in catalog.zones(region) and own not in catalog.offered_zones(item.type, region):
            ledger.regional(key, own, f"does not sell {item.type}; {', '.join(sold)} do")
        own = None
    spread = (draft.zone,) if draft.zone is not None and own is not None else tuple(sold)
    if draft.fabric:
        spread = (own or sold[0],)
        why = "the reservation's zone" if draft.reserved else "setting" if own else "the first zone that sells the type"
        source = LOCKED if kept_zone is not None else f"a fabric needs one zone: {why}; {_NAMES_DIFFER}"
        ledger.decide(f"pools.{draft.name}.zone", spread[0], source)
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
            fabric=_efa(item.efa_interfaces) if draft.fabric else None,
            network_cards=item.network_cards,
            local_nvme_gb=item.nvme_gb,
            root_disk_gib=draft.root_disk_gib,
            usd_per_hour=item.usd_per_hour,
            pods_per_gpu=draft.sharing.pods_per_gpu,
            mig_profile=draft.sharing.mig_profile,
            nvlinks=switched_nvlinks(item.gpu, item.gpus, item.nvlink),
            driver=_driver(context),
        ),
        node_groups=_node_groups(draft, spread, own, crowded, context),
        whole_nodes_only=draft.whole_nodes_only,
    )


def _driver(context: Context) -> str:
    """The driver of the nodes' image; empty where an environment keeps a release whose driver is not on record."""
    own = context.lock.node_release or context.settings.aws.node_release
    known = {catalog.node_release(version)[0] for version in catalog.known_kubernetes_versions()}
    return str(catalog.ami_driver()[0]) if own is None or own in known else ""


def _efa(interfaces: int) -> FabricPlan:
    return FabricPlan("efa", EFA_RESOURCE, "", interfaces, EFA_HUGEPAGES_MIB, tuple(EFA_ENVIRONMENT.items()))


def _node_groups(
    draft: PoolDraft[Instance], spread: tuple[str, ...], own: str | None, crowded: frozenset[str], context: Context
) -> tuple[NodeGroupPlan, ...]:
    groups = []
    reserved = draft.reserved
    if reserved is not None:
        size = reserved.nodes if reserved.max_nodes is None else reserved.max_nodes
        nodes = Nodes(0, size, f"setting {draft.key}.reserved")
        bound = reservation(draft, reserved, context)
        groups.append(_group(draft, "reserved", (draft.instance.type,), nodes, (own or spread[0],), bound, context))
    if draft.spot is not None:
        types = (draft.instance.type, *_alternatives(draft, spread, context))
        stands = f"{draft.name}-spot" in context.lock.node_groups
        sold = spread if stands else _selling_all(types, draft, spread, context)
        zone = _one_zone(draft, "spot", sold, (), crowded, context)
        groups.append(_group(draft, "spot", types, draft.spot, zone, None, context))
    if draft.on_demand is not None:
        zone = _one_zone(draft, "on-demand", spread, [group.zones[0] for group in groups], crowded, context)
        groups.append(_group(draft, "on-demand", (draft.instance.type,), draft.on_demand, zone, None, context))
    return tuple(groups)


def _one_zone(
    draft: PoolDraft[Instance],
    capacity: Capacity,
    zones: Sequence[str],
    taken: Sequence[str],
    crowded: frozenset[str],
    context: Context,
) -> tuple[str, ...]:
    """The zone of a node group: the lock's, or another than those of the pool's other groups, where there is a choice.

    Which of several follows from the group's own name, so that groups are spread over the zones, and none moves because
    of what becomes of another pool.

    A managed node group over several zones evens them out (AZRebalance, which cannot be turned off for good): it takes
    away nodes, gives them 15 minutes, and asks no disruption budget (EKS user guide, "Managed node groups"; 2026-11).
    """
    key = f"pools.{draft.name}.node_groups.{draft.name}-{capacity}.zone"
    kept = context.lock.node_groups.get(f"{draft.name}-{capacity}")
    if kept is not None:
        if draft.zone is not None and not draft.fabric and kept.zones != (draft.zone,):
            context.contradiction(f"{draft.key}.zone", draft.zone, kept.zones, f"pools.{draft.name}")
        return context.ledger.decide(key, kept.zones, LOCKED)
    free = [zone for zone in zones if zone not in taken] or list(zones)
    free = [zone for zone in free if zone not in crowded] or free
    zone = free[zlib.crc32(f"{draft.name}-{capacity}".encode()) % len(free)]
    why = "one zone, or the zones are evened out by taking nodes away"
    why += "; another than the pool's other nodes', if one runs dry" if taken and zone not in taken else ""
    return (context.ledger.decide(key, zone, why),)


def _group(
    draft: PoolDraft[Instance],
    capacity: Capacity,
    types: tuple[str, ...],
    nodes: Nodes,
    zones: tuple[str, ...],
    reservation: ReservationPlan | None,
    context: Context,
) -> NodeGroupPlan:
    ledger = context.ledger
    name = f"{draft.name}-{capacity}"
    key = f"pools.{draft.name}.node_groups.{name}"
    types, zones = _locked_group(name, draft, types, zones, reservation, context)
    return NodeGroupPlan(
        name=name,
        pool=draft.name,
        capacity=capacity,
        instance_types=types,
        min_nodes=ledger.decide(f"{key}.min_nodes", nodes.minimum, nodes.source),
        max_nodes=ledger.decide(f"{key}.max_nodes", nodes.maximum, nodes.source),
        zones=zones,
        # A reservation has its own place already; AWS keeps a Capacity Block's nodes together.
        placement_group=draft.fabric and reservation is None,
        reservation=reservation,
    )


def _locked_group(
    name: str,
    draft: PoolDraft[Instance],
    types: tuple[str, ...],
    zones: tuple[str, ...],
    reservation: ReservationPlan | None,
    context: Context,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Instance types and zones of a node group: what the lock keeps of a group that stands."""
    kept = context.lock.node_groups.get(name)
    if kept is None or kept.instance_types[:1] != types[:1]:  # of another type: the pool's own contradiction
        return types, zones
    if reservation is not None and kept.zones != zones:
        context.contradiction(f"{draft.key}.reserved.availabilityZone", zones, kept.zones, f"nodeGroups.{name}")
    named = name.endswith("-spot") and draft.spot_types is not None
    if named and set(types) != set(kept.instance_types):
        given, key = types[1:], f"{draft.key}.spot.instanceTypes"
        context.contradiction(key, given, kept.instance_types[1:], f"nodeGroups.{name}")
    return kept.instance_types, kept.zones


def _selling_all(
    types: tuple[str, ...], draft: PoolDraft[Instance], zones: tuple[str, ...], context: Context
) -> tuple[str, ...]:
    """Those of the zones that sell every one of the types: a node group of any other cannot be made."""
    found = tuple(
        zone for zone in zones if all(zone in catalog.offered_zones(type_, context.region) for type_ in types)
    )
    if not found:
        where = "; ".join(
            f"{type_} in {', '.join(catalog.offered_zones(type_, context.region)) or 'none'}" for type_ in types
        )
        allowed = f"no zone of the pool ({', '.join(zones)}) sells all of them: {where}"
        context.ledger.regional(f"{draft.key}.spot.instanceTypes", types[1:], allowed)
    return found or zones


def _alternatives(draft: PoolDraft[Instance], zones: tuple[str, ...], context: Context) -> tuple[str, ...]:
    """Spot types besides the pool's own: same family, GPU and count, at least as large, sold in all its zones."""
    item, region, ledger = draft.instance, context.region, context.ledger
    key = f"pools.{draft.name}.node_groups.{draft.name}-spot.instance_types"
    if draft.spot_types is not None:
        for type_ in draft.spot_types:
            other = catalog.instance(type_)
            if draft.fabric and other.efa_interfaces != item.efa_interfaces:
                ledger.problem(
                    f"{draft.key}.spot.instanceTypes",
                    type_,
                    f"has {other.efa_interfaces} fabric interfaces, {item.type} has {item.efa_interfaces}",
                )
        return ledger.decide(key, draft.spot_types, f"setting {draft.key}.spot.instanceTypes")
    path = "gpu_pool_defaults.spot_alternatives"
    found = [
        other
        for other in catalog.instances(item.gpu)
        if other.type != item.type
        and other.family == item.family
        and other.gpus == item.gpus
        and other.vcpus >= item.vcpus
        and other.memory_gib >= item.memory_gib
        and (not draft.fabric or other.efa_interfaces == item.efa_interfaces)
        and all(zone in catalog.offered_zones(other.type, region) for zone in zones)
    ]
    found.sort(key=lambda other: (other.vcpus, other.memory_gib, other.type))
    kept = tuple(other.type for other in found[: int(context.figure(path))])
    return ledger.decide(key, kept, context.source(path))
