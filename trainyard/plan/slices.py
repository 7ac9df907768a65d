"""GPUs that pods share: on which pools that makes sense, and between whom."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.plan.context import Context
from trainyard.settings.pools import GpuPool, GpuSharing

NO_WALL = "pods take turns on a GPU and share its memory: one that takes it all ends the others, which no wall keeps"
"""What whoever shares GPUs has to know (docs/decisions/0060-shared-gpus.md)."""


def time_slices(name: str, pool: GpuPool, fabric: bool, waited_for: bool, context: Context) -> int:
    """How many pods take turns on each GPU of a pool, 1 where it is not shared; notes what is wrong with that.

    `waited_for`: jobs wait in the cloud's own queue for nodes of the pool.
    """
    sharing, key, ledger = pool.sharing, f"gpuPools.{name}.sharing", context.ledger
    if sharing is None:
        return 1
    for setting, given, allowed, hint in _refused(key, sharing, pool, fabric, waited_for, len(context.settings.teams)):
        ledger.problem(setting, given, allowed, hint)
    return ledger.decide(f"pools.{name}.time_slices", sharing.time_slices, f"setting {key}.timeSlices: {NO_WALL}")


def _refused(
    key: str, sharing: GpuSharing, pool: GpuPool, fabric: bool, waited_for: bool, teams: int
) -> Iterator[tuple[str, object, str, str]]:
    """Each setting that does not go with shared GPUs: its key, what it is, what is allowed and what to do."""
    slices = f"{key}.timeSlices"
    if fabric:
        allowed = "GPUs of a pool with a fabric are for jobs that take nodes whole"
        yield slices, sharing.time_slices, allowed, "share the GPUs of a pool with fabric: false"
    if pool.reserved is not None or waited_for:
        allowed = "GPUs that are reserved, or that a job waits for in the cloud's queue, are for large jobs"
        yield slices, sharing.time_slices, allowed, "share the GPUs of a pool of spot and onDemand nodes"
    if pool.whole_nodes_only:
        allowed = "a pod has one GPU of those that are shared, and wholeNodesOnly asks it to take all"
        yield slices, sharing.time_slices, allowed, "take one of the two away"
    if teams > 1 and not sharing.across_teams:
        allowed = f"{teams} teams would share GPUs, whose memory nothing keeps apart"
        yield f"{key}.acrossTeams", False, allowed, "set it to true where the teams accept that"
