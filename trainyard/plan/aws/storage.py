"""AWS's part of the storage tiers: FSx for Lustre in front of the data bucket, EFS where it is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainyard.plan.aws.parts import LUSTRE_FIRST_STEPS, LUSTRE_STEP, LUSTRE_THROUGHPUTS, LustrePlan
from trainyard.plan.context import Context
from trainyard.plan.lustre import LUSTRE, lustre_zone, wants_lustre
from trainyard.plan.parts import PoolPlan


def plan_shared_file_system(context: Context) -> bool:
    """Whether there is an EFS file system for home directories and code."""
    given = context.settings.storage.shared_file_system
    return bool(context.take("storage.shared_file_system", "storage.sharedFileSystem", given))


def plan_lustre(zones: Sequence[str], pools: Sequence[PoolPlan], context: Context) -> LustrePlan | None:
    """The fast data tier, in the zone of the nodes that read it; None where there is none."""
    own, ledger, kept = context.settings.storage.lustre, context.ledger, context.lock.lustre
    if not wants_lustre(context):
        return None
    capacity = _capacity(own.capacity_gib, kept.capacity_gib if kept else None, context)
    path = f"{LUSTRE}.throughput_mbps_per_tib"
    throughput = int(context.take(path, f"{LUSTRE}.throughputMbpsPerTib", own.throughput_mbps_per_tib))
    if throughput not in LUSTRE_THROUGHPUTS:
        allowed = ", ".join(map(str, LUSTRE_THROUGHPUTS))
        ledger.problem(f"{LUSTRE}.throughputMbpsPerTib", throughput, f"must be one of {allowed} MB/s per TiB")
        throughput = LUSTRE_THROUGHPUTS[0]
    return LustrePlan(capacity, throughput, lustre_zone(zones, pools, context))


def _capacity(given: int | None, kept: int | None, context: Context) -> int:
    """The size in GiB that FSx sells; a stand-in where the setting is none, so that the rest can be priced.

    A size that the lock keeps follows no team: it grows when somebody wants it to, and never shrinks.
    """
    path, ledger = f"{LUSTRE}.capacity_gib", context.ledger
    if kept is not None:
        return context.keep(path, f"{LUSTRE}.capacityGib", given, kept, "lustre.capacityGib")
    if given is None:
        wanted, smallest = context.grown(path), LUSTRE_FIRST_STEPS[0]
        capacity = smallest if wanted <= smallest else math.ceil(wanted / LUSTRE_STEP) * LUSTRE_STEP
        return ledger.decide(path, capacity, context.source(path))
    ledger.decide(path, given, f"setting {LUSTRE}.capacityGib")
    if given in LUSTRE_FIRST_STEPS or (given >= LUSTRE_STEP and given % LUSTRE_STEP == 0):
        return given
    below = max(LUSTRE_FIRST_STEPS[0], given // LUSTRE_STEP * LUSTRE_STEP)
    above = max(LUSTRE_STEP, math.ceil(given / LUSTRE_STEP) * LUSTRE_STEP) if given > 1200 else 1200
    steps = " and ".join(str(step) for step in dict.fromkeys((below, above)))
    allowed = "FSx for Lustre is sold in 1200, 2400 and multiples of 2400 GiB"
    ledger.problem(f"{LUSTRE}.capacityGib", given, allowed, f"nearest: {steps}")
    return LUSTRE_STEP
