"""Into how many instances of one size a GPU is partitioned (NVIDIA's Multi-Instance GPU)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from trainyard.catalog.tables import rows


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One size of instance of a GPU model."""

    name: str
    """As NVIDIA calls it: slices of the processors, and its memory, `1g.10gb`."""
    instances: int
    """How many of it a GPU holds, all of them alike."""
    memory_eighths: int
    """Its part of the GPU's memory."""


@cache
def _all() -> Mapping[str, Mapping[str, MigProfile]]:
    found: dict[str, dict[str, MigProfile]] = {}
    for row in rows("mig_profiles.csv"):
        profile = MigProfile(row["profile"], int(row["instances"]), int(row["memory_eighths"]))
        found.setdefault(row["gpu"], {})[profile.name] = profile
    return found


def mig_profiles(gpu: str) -> Mapping[str, MigProfile]:
    """The profiles of a GPU model by their names, those of which a GPU holds several; none where it has no MIG."""
    return _all().get(gpu, {})
