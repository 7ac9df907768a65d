"""A Lustre file system as every cloud plans it: whether there is one, and in which zone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.plan.context import LOCKED, Context
from trainyard.plan.parts import PoolPlan

LUSTRE: Final = "storage.lustre"
"""Where the settings and the profiles speak of it."""


def wants_lustre(context: Context, figure: str = f"{LUSTRE}.enabled") -> bool:
    """Whether there is a file system: what the stack file says of one asks for it; `figure` is the profile's word."""
    own, kept = context.settings.storage.lustre, context.lock.lustre
    said = {"capacityGib": own.capacity_gib, "throughputMbpsPerTib": own.throughput_mbps_per_tib, "zone": own.zone}
    asked = next((key for key, value in said.items() if value is not None), None)
    key = f"{LUSTRE}.enabled"
    if own.enabled is None and kept is None and asked is not None:
        return context.ledger.decide(key, True, f"setting {LUSTRE}.{asked}")
    return context.keep(figure, key, own.enabled, None if kept is None else True, "lustre", key=key)


def lustre_zone(zones: Sequence[str], pools: Sequence[PoolPlan], context: Context) -> str:
    """The zone of the nodes that read, so that reads stay in it; the lock's, where it has one."""
    own, ledger, kept = context.settings.storage.lustre, context.ledger, context.lock.lustre
    if kept is not None and kept.zone is not None:
        if own.zone is not None and own.zone != kept.zone:
            context.contradiction(f"{LUSTRE}.zone", own.zone, kept.zone, "lustre.zone")
        return ledger.decide(f"{LUSTRE}.zone", kept.zone, LOCKED)
    near = next((pool.node_groups[0].zones[0] for pool in pools if pool.node.fabric and pool.node_groups), zones[0])
    zone = own.zone if own.zone in zones and own.zone is not None else near
    why = (
        f"setting {LUSTRE}.zone"
        if own.zone is not None
        else "the zone of the first pool with a fabric, else the first: reads stay in it"
    )
    return ledger.decide(f"{LUSTRE}.zone", zone, why)
