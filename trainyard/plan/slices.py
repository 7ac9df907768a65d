"""GPUs that pods share: on which pools that makes sense, and between whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.catalog.mig import mig_profiles
from trainyard.plan.context import Context
from trainyard.problems import nearest, some_of
from trainyard.settings.pools import GpuPool

NO_WALL = "pods take turns on a GPU and share its memory: one that takes it all ends the others, which no wall keeps"
"""What whoever shares GPUs has to know (docs/decisions/0060-shared-gpus.md)."""
_NEEDS_A_RESET: Final = ("A100-40GB", "A100-80GB")
"""Models that are partitioned after a reset only, which a virtual machine may lack the right to; from Hopper on none is
needed (NVIDIA MIG user guide, "Enable MIG mode"). GKE partitions them itself, before a node joins."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How pods share each GPU of a pool."""

    pods_per_gpu: int = 1
    mig_profile: str = ""  # empty: they take turns, or have it whole


def plan_sharing(name: str, pool: GpuPool, gpu: str, fabric: bool, waited_for: bool, context: Context) -> Sharing:
    """How GPUs of a pool are shared; notes what is wrong with that.

    `waited_for`: jobs wait in the cloud's own queue for nodes of the pool.
    """
    own, key, ledger = pool.sharing, f"gpuPools.{name}.sharing", context.ledger
    if own is None:
        return Sharing()
    if (own.time_slices is None) == (own.mig is None):
        ledger.problem(key, "both" if own.mig else "neither", "must be one of timeSlices and mig")
        return Sharing()
    said = f"{key}.timeSlices" if own.mig is None else f"{key}.mig"
    for allowed, hint in _not_for(pool, fabric, waited_for):
        ledger.problem(said, own.time_slices or own.mig, allowed, hint)
    if own.mig is not None:
        return _partitioned(name, own.mig, said, gpu, context)
    teams = len(context.settings.teams)
    if teams > 1 and not own.across_teams:
        allowed = f"{teams} teams would share GPUs, whose memory nothing keeps apart"
        ledger.problem(f"{key}.acrossTeams", False, allowed, "set it to true where the teams accept that, or use mig")
    slices = own.time_slices or 1
    return Sharing(ledger.decide(f"pools.{name}.time_slices", slices, f"setting {said}: {NO_WALL}"))


def _partitioned(name: str, profile: str, said: str, gpu: str, context: Context) -> Sharing:
    """GPUs in instances of one size, which keep memory and faults apart."""
    known, ledger = mig_profiles(gpu), context.ledger
    if profile not in known:
        allowed = f"must be one of {some_of(list(known))} for {gpu}" if known else f"a {gpu} cannot be partitioned"
        ledger.problem(said, profile, allowed, nearest(profile, list(known)) or "timeSlices shares any GPU")
        return Sharing()
    if context.settings.cloud == "aws" and gpu in _NEEDS_A_RESET:
        allowed = f"a {gpu} has to be reset to be partitioned, which a node on EKS does not do by itself"
        ledger.problem(said, profile, allowed, "a pool of H100, or timeSlices")
    found = known[profile]
    why = f"setting {said}: a GPU has {found.instances}, each with {found.memory_eighths}/8 of its memory, kept apart"
    ledger.decide(f"pools.{name}.mig_profile", profile, why)
    return Sharing(found.instances, profile)


def _not_for(pool: GpuPool, fabric: bool, waited_for: bool) -> Iterator[tuple[str, str]]:
    """What does not go with shared GPUs: what is allowed, and what to do."""
    if fabric:
        allowed = "GPUs of a pool with a fabric are for jobs that take nodes whole"
        yield allowed, "share the GPUs of a pool with fabric: false"
    if pool.reserved is not None or waited_for:
        allowed = "GPUs that are reserved, or that a job waits for in the cloud's queue, are for large jobs"
        yield allowed, "share the GPUs of a pool of spot and onDemand nodes"
    if pool.whole_nodes_only:
        yield (
            "a pod has one GPU of those that are shared, and wholeNodesOnly asks it to take all",
            ("take one of the two away"),
        )
