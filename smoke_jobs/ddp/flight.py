"""Where each rank stood among the collectives when one failed, from PyTorch's flight recorder: who had not come.

A collective that runs into its limit fails on every rank with the same words, whoever kept it. The recorder knows what
each rank asked for last, and on a GPU whether it had begun: the rank that is behind the others is the one to look at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch._C import _distributed_c10d as c10d

LATE_SHARE = 0.5
"""A rank that asked for a collective so much of its limit after the first one kept it."""

_SOURCES = ("_dump_nccl_trace_json", "_dump_fr_trace_json")
"""What the recorder is asked by: NCCL's where PyTorch was built with it, gloo's; older ones have none for gloo."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What a rank had asked for.

    Args:
        operation: of its last collective: `nccl:all_reduce`, as the recorder calls it.
        group: number of that one's process group, in the order in which they were made.
        number: of it in its group, from 1.
        elements: of its first input.
        begun: whether the device had begun with it; None where the recorder does not know (gloo).
        at: when it was asked for, in seconds since the epoch by the clock of rank 0.
        asked: the number of the last collective of each group, by recorder and group.
        whole: whether the recorder still has the first one: a group that it does not name was not used then.
    """

    operation: str
    group: int
    number: int
    elements: int
    begun: bool | None
    at: float
    asked: Mapping[str, int]
    whole: bool

    def __str__(self) -> str:
        """`nccl:all_reduce 17 of group 1 (1048576 elements)`."""
        return f"{self.operation} {self.number} of group {self.group} ({self.elements} elements)"


def stand(clock_s: float) -> Stand | None:
    """Where this rank stands; None where nothing was recorded, or this PyTorch cannot tell.

    Args:
        clock_s: by how much this rank's clock is ahead of rank 0's.
    """
    entries = [entry for name in _SOURCES if (dump := getattr(c10d, name, None)) for entry in _entries(dump)]
    return latest(entries, clock_s)


def _entries(dump: Callable[..., bytes]) -> list[dict[str, Any]]:
    recorded = json.loads(dump(includeCollectives=True, onlyActive=False))
    return list(recorded.get("entries", ()))


def latest(entries: Sequence[Mapping[str, Any]], clock_s: float = 0.0) -> Stand | None:
    """Where a rank with these entries stands; transfers between two ranks are counted by each for itself, so not."""
    collectives = sorted((e for e in entries if not e.get("is_p2p")), key=lambda e: int(e["time_created_ns"]))
    if not collectives:
        return None
    entry = collectives[-1]
    operation = str(entry["profiling_name"])
    return Stand(
        operation=operation,
        group=int(entry["pg_id"]),
        number=int(entry["collective_seq_id"]),
        elements=math.prod(int(size) for size in (entry.get("input_sizes") or [[]])[0]),
        begun=None if operation.startswith("gloo:") else entry["state"] != "scheduled",
        at=int(entry["time_created_ns"]) / 1e9 - clock_s,
        asked={_group(e): int(e["collective_seq_id"]) for e in collectives},
        whole=any(e["record_id"] == 0 for e in entries),
    )


def _group(entry: Mapping[str, Any]) -> str:
    return f"{str(entry['profiling_name']).partition(':')[0]} {entry['pg_id']}"


def behind(stands: Sequence[Stand | None], limit_s: float) -> dict[int, str]:
    """Rank -> how it was behind the others, of those that kept them; empty where no rank was, or nobody knows.

    Args:
        stands: of all ranks, in rank order; None where one has no record.
        limit_s: of a collective.
    """
    known = {rank: found for rank, found in enumerate(stands) if found is not None}
    if len(known) < 2:
        return {}
    furthest: dict[str, int] = {}
    for found in known.values():
        furthest |= {group: max(number, furthest.get(group, 0)) for group, number in found.asked.items()}
    # All ranks ask for the same collectives in the same order, so one that lacks any of a group is behind.
    before = {
        rank: found
        for rank, found in known.items()
        if any(found.asked.get(group, 0 if found.whole else number) < number for group, number in furthest.items())
    }
    if before:
        ahead = next((str(found) for rank, found in known.items() if rank not in before), "another collective")
        return {
            rank: f"had asked for no more than {found}, while the others waited in {ahead}"
            for rank, found in before.items()
        }
    idle = [rank for rank, found in known.items() if found.begun is False]
    if idle and len(idle) < len(known):
        return {
            rank: f"had asked for {known[rank]} and its GPU had not begun it, while the others waited in it"
            for rank in idle
        }
    first = min(found.at for found in known.values())
    return {
        rank: f"asked for {found} {found.at - first:.0f} s after the first rank, which waited in it"
        for rank, found in known.items()
        if found.at - first > LATE_SHARE * limit_s
    }
