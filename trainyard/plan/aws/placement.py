"""Zones: which of the region's an environment uses, and in which of them a pool's nodes stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard import catalog
from trainyard.conventions import Capacity, ReservationKind
from trainyard.conventions.aws import EFA_HUGEPAGES_MIB, EFA_RESOURCE, RESERVATION_KINDS
from trainyard.plan.aws.cidr import MAX_ZONES
from trainyard.plan.context import Context
from trainyard.plan.parts import FabricPlan, NodeGroupPlan, NodePlan, PoolPlan, ReservationPlan
from trainyard.plan.pools import Nodes, PoolDraft
from trainyard.problems import nearest

_KINDS: Mapping[str, ReservationKind] = {name: kind for kind, name in RESERVATION_KINDS.items()}

_NAMES_DIFFER = "zone names of older regions stand for different places in each account: compare with yours"


def choose_zones(drafts: Sequence[PoolDraft], context: Context) -> tuple[str, ...]:
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
    if settings.network.zones is not None:
        requested = tuple(settings.network.zones)
        good = [zone for zone in requested if _is_usable("network.zones", zone, context)]
        if len(set(requested)) != len(requested):
            ledger.problem("network.zones", requested, "each zone once")
        elif not 2 <= len(requested) <= MAX_ZONES:
            ledger.problem("network.zones", requested, f"two to {MAX_ZONES} zones; EKS needs two")
        elif len(good) == len(requested):
            for key, zone in pins:
                if zone not in requested:
                    ledger.problem(key, zone, f"must be one of network.zones, which are {', '.join(requested)}")
            return ledger.decide("network.zones", requested, "setting network.zones")
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


def place(draft: PoolDraft, zones: Sequence[str], context: Context) -> PoolPlan | None:
    """The pool with its node groups, or None where no zone of the environment sells its instance."""
    item, region, ledger = draft.instance, context.region, context.ledger
    sold = [zone for zone in zones if zone in catalog.offered_zones(item.type, region)]
    if not sold:
        elsewhere = ", ".join(catalog.offered_zones(item.type, region))
        ledger.regional(
            f"{draft.key}.instanceType",
            item.type,
            f"no zone of the environment ({', '.join(zones)}) sells it; {elsewhere} do",
            "change network.zones",
        )
        return None
    own = draft.pinned_zone
    if draft.reserved and draft.zone is not None and draft.zone != own:
        ledger.problem(
            f"{draft.key}.zone", draft.zone, f"the reservation is in {own}; a pool with a fabric has one zone"
        )
    elif draft.zone is not None and not draft.fabric:
        ledger.problem(
            f"{draft.key}.zone", draft.zone, "only a pool with a fabric is bound to one zone", "set fabric: true"
        )
    if own is not None and own not in sold:
        key = f"{draft.key}.reserved.availabilityZone" if draft.reserved else f"{draft.key}.zone"
        if own in catalog.zones(region) and own not in catalog.offered_zones(item.type, region):
            ledger.regional(key, own, f"does not sell {item.type}; {', '.join(sold)} do")
        own = None
    spread = tuple(sold)
    if draft.fabric:
        spread = (own or sold[0],)
        why = "the reservation's zone" if draft.reserved else "setting" if own else "the first zone that sells the type"
        ledger.decide(f"pools.{draft.name}.zone", spread[0], f"a fabric needs one zone: {why}; {_NAMES_DIFFER}")
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
            fabric=FabricPlan("efa", EFA_RESOURCE, item.efa_interfaces, EFA_HUGEPAGES_MIB) if draft.fabric else None,
            network_cards=item.network_cards,
            local_nvme_gb=item.nvme_gb,
            root_disk_gib=draft.root_disk_gib,
        ),
        node_groups=_node_groups(draft, spread, own, context),
    )


def _node_groups(
    draft: PoolDraft, spread: tuple[str, ...], own: str | None, context: Context
) -> tuple[NodeGroupPlan, ...]:
    groups = []
    reserved = draft.reserved
    if reserved is not None:
        size = reserved.nodes if reserved.max_nodes is None else reserved.max_nodes
        nodes = Nodes(0, size, f"setting {draft.key}.reserved")
        bound = ReservationPlan(reserved.reservation_id, _KINDS[reserved.kind], reserved.availability_zone)
        groups.append(_group(draft, "reserved", (draft.instance.type,), nodes, (own or spread[0],), bound, context))
    if draft.spot is not None:
        types = (draft.instance.type, *_alternatives(draft, spread, context))
        groups.append(
            _group(draft, "spot", types, draft.spot, _selling_all(types, draft, spread, context), None, context)
        )
    if draft.on_demand is not None:
        groups.append(_group(draft, "on-demand", (draft.instance.type,), draft.on_demand, spread, None, context))
    return tuple(groups)


def _group(
    draft: PoolDraft,
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


def _selling_all(types: tuple[str, ...], draft: PoolDraft, zones: tuple[str, ...], context: Context) -> tuple[str, ...]:
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


def _alternatives(draft: PoolDraft, zones: tuple[str, ...], context: Context) -> tuple[str, ...]:
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
