"""Google Cloud's part of the storage tiers: Managed Lustre for scratch space, Filestore for home directories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.conventions.gcp_files import FILESTORE_TIERS, LUSTRE_TIERS
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import FilestorePlan, GcpLustrePlan
from trainyard.plan.lustre import LUSTRE, lustre_zone, wants_lustre
from trainyard.plan.parts import PoolPlan

FILESTORE_TIER: Final = "REGIONAL"
"""In three zones, since home directories have no copy elsewhere; Filestore's cheaper tiers stand in one."""


def plan_lustre(zones: Sequence[str], pools: Sequence[PoolPlan], context: Context) -> GcpLustrePlan | None:
    """The teams' fast scratch space, in the zone of the nodes that use it; None where there is none."""
    own, ledger, kept = context.settings.storage.lustre, context.ledger, context.lock.lustre
    if not wants_lustre(context, "gcp.storage.lustre_enabled"):
        return None
    path, key = f"{LUSTRE}.throughput_mbps_per_tib", f"{LUSTRE}.throughputMbpsPerTib"
    throughput = int(context.take(path, key, own.throughput_mbps_per_tib))
    if throughput not in LUSTRE_TIERS:
        allowed = f"must be one of {', '.join(map(str, LUSTRE_TIERS))} MB/s per TiB"
        ledger.problem(key, throughput, allowed)
        throughput = min(LUSTRE_TIERS)
    capacity = _capacity(own.capacity_gib, kept.capacity_gib if kept else None, throughput, context)
    return GcpLustrePlan(capacity, throughput, lustre_zone(zones, pools, context))


def _capacity(given: int | None, kept: int | None, throughput: int, context: Context) -> int:
    """The size in GiB that is sold with a throughput; a stand-in where the setting is none, so that the rest is priced.

    A size that the lock keeps follows no team: it grows when somebody wants it to, and never shrinks.
    """
    path, key, ledger, tier = (
        f"{LUSTRE}.capacity_gib",
        f"{LUSTRE}.capacityGib",
        context.ledger,
        LUSTRE_TIERS[throughput],
    )
    if kept is not None:
        capacity = context.keep(path, key, given, kept, "lustre.capacityGib")
    elif given is None:
        source = f"{context.source(path)}; sold with {throughput} MB/s per TiB in {tier.words}"
        return ledger.decide(path, tier.at_least(context.grown(path)), source)
    else:
        capacity = ledger.decide(path, given, f"setting {key}")
    if tier.sells(capacity):
        return capacity
    steps = " and ".join(f"{step}" for step in dict.fromkeys((tier.at_most(capacity), tier.at_least(capacity))))
    allowed = f"Managed Lustre with {throughput} MB/s per TiB is sold in {tier.words}"
    ledger.problem(key, capacity, allowed, f"nearest: {steps}; or another throughputMbpsPerTib")
    return tier.step


def plan_shared_files(context: Context) -> FilestorePlan | None:
    """The file system of home directories and code, where there is one."""
    own, ledger = context.settings, context.ledger
    key, path = "gcp.sharedFilesGib", "storage.shared_files_gib"
    given = own.gcp.shared_files_gib
    asked = own.storage.shared_file_system
    if asked is None and given is not None:  # a size asks for it, as of Lustre
        ledger.decide("storage.shared_file_system", True, f"setting {key}")
    elif not context.take("storage.shared_file_system", "storage.sharedFileSystem", asked):
        if given is not None:
            allowed = "storage.sharedFileSystem is false: there is no file system to be of that size"
            ledger.problem(key, given, allowed, "leave one of them out")
        return None
    capacity = int(context.take("gcp.storage.shared_files_gib", key, given, path))
    sold = FILESTORE_TIERS[FILESTORE_TIER]
    if not sold.sells(capacity):
        ledger.problem(key, capacity, f"Filestore's regional tier is sold in {sold.words}")
    return FilestorePlan(capacity)
