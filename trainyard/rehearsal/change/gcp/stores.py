"""File systems: Managed Lustre and the basic tiers of Filestore grow in place and never shrink.

Managed Lustre's capacity is increased only, in the steps of its tier (its documentation, "Performance tiers";
read 2026-11). That zonal and regional instances of Filestore shrink too is general knowledge, not read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.recorded.model import Finding
from trainyard.recorded.read import as_number, follow
from trainyard.recorded.types import FILESTORE, GCP_LUSTRE
from trainyard.rehearsal.change.model import Change, Operation

_BASIC = ("BASIC_HDD", "BASIC_SSD", "STANDARD", "PREMIUM")
"""Tiers of Filestore that grow only."""


def check(change: Change) -> Iterator[Finding]:
    """File systems that would shrink in place, which the service refuses."""
    for step in change.of_type(GCP_LUSTRE, FILESTORE):
        if step.operation is not Operation.UPDATE or step.was is None or step.now is None:
            continue
        if step.type == FILESTORE and follow(step.now.inputs, "tier") not in _BASIC:
            continue
        way = ("capacityGib",) if step.type == GCP_LUSTRE else ("fileShares", "capacityGb")
        before, after = (_size(each.inputs, *way) for each in (step.was, step.now))
        if before is not None and after is not None and after < before:
            yield Finding.of(
                step.now,
                "change-file-system-size",
                f"capacity {before:g} -> {after:g} GiB: the file system grows only",
                path=".".join(way),
                hint=f"keep {before:g} GiB, or make a smaller one beside it and copy",
            )


def _size(inputs: Any, *way: str) -> float | None:
    value = follow(inputs, *way)
    return as_number(float(value) if isinstance(value, str) and value.isdigit() else value)
