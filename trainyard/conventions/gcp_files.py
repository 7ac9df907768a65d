"""File systems that Google Cloud sells: the sizes of Managed Lustre and Filestore.

Source: Managed Lustre, "Performance tiers"; Filestore, "Service tiers", both as read 2026-11; sizes of Filestore in the
documentation of pulumi_gcp 10.2.0 (`InstanceFileSharesArgs.capacity_gb`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class LustreTier:
    """Sizes of a throughput, GiB."""

    step: int
    """The smallest size, and the step from there."""
    until: int
    """How far that step goes."""
    larger_step: int
    """The step from there on."""
    most: int
    """The largest size."""

    def sells(self, gib: float) -> bool:
        """Whether there is a file system of that size."""
        if self.step <= gib <= self.until:
            return gib % self.step == 0
        return self.until < gib <= self.most and gib % self.larger_step == 0

    def at_least(self, gib: float) -> int:
        """The smallest size that holds so much, or the largest of all."""
        step = self.step if gib <= self.until else self.larger_step
        return min(self.most, max(self.step, math.ceil(gib / step) * step))

    def at_most(self, gib: float) -> int:
        """The largest size up to so much, or the smallest of all."""
        step = self.step if gib < self.until + self.larger_step else self.larger_step
        return max(self.step, min(self.most, int(gib // step) * step, self.until if step == self.step else self.most))

    @property
    def words(self) -> str:
        """The sizes, for people."""
        more = f", then by {self.larger_step:,} to {self.most:,}" if self.most > self.until else ""
        return f"{self.step:,} to {self.until:,} GiB in steps of {self.step:,}{more}"


LUSTRE_TIERS: Final[Mapping[int, LustreTier]] = {
    125: LustreTier(72_000, 12_240_000, 72_000, 12_240_000),
    250: LustreTier(36_000, 6_120_000, 288_000, 40_032_000),
    500: LustreTier(18_000, 3_060_000, 144_000, 20_016_000),
    1000: LustreTier(9_000, 1_530_000, 72_000, 10_008_000),
}
"""By throughput, MB/s a TiB."""
LUSTRE_DYNAMIC: Final = LustreTier(472_000, 84_016_000, 472_000, 84_016_000)
"""Sizes of the dynamic tier, which is asked for without a throughput."""


@dataclass(frozen=True, slots=True)
class FilestoreTier:
    """Sizes of a tier, GiB."""

    least: int
    most: int
    regional: bool
    """Whether it stands in a region; the others stand in a zone."""
    step: int = 1
    by_steps_from: int | None = None
    """From which size on it goes in steps of 2,560. Default: never."""
    older_step: int = 1
    """Step of which the documentation still speaks where the provider's says one GiB."""
    encrypts: bool = True
    """Whether it takes a key of the project's, and NFS 4.1."""

    def sells(self, gib: float) -> bool:
        """Whether there is a share of that size."""
        by_steps = self.by_steps_from is not None and gib >= self.by_steps_from
        return self.least <= gib <= self.most and gib % (FILESTORE_STEP if by_steps else self.step) == 0

    @property
    def words(self) -> str:
        """The sizes, for people."""
        steps = f" in steps of {self.step:,}" if self.step > 1 else ""
        further = f", from {self.by_steps_from:,} on in steps of {FILESTORE_STEP:,}" if self.by_steps_from else ""
        return f"{self.least:,} to {self.most:,} GiB{steps}{further}"


FILESTORE_STEP: Final = 2560
FILESTORE_TIERS: Final[Mapping[str, FilestoreTier]] = {
    "BASIC_HDD": FilestoreTier(1024, 65_433, regional=False, encrypts=False),
    "BASIC_SSD": FilestoreTier(2560, 65_433, regional=False, encrypts=False),
    "HIGH_SCALE_SSD": FilestoreTier(10_240, 102_400, regional=False, by_steps_from=10_240),
    "ZONAL": FilestoreTier(100, 102_400, regional=False, by_steps_from=10_240, older_step=256),
    "REGIONAL": FilestoreTier(100, 102_400, regional=True, by_steps_from=10_240, older_step=256),
    "ENTERPRISE": FilestoreTier(1024, 10_240, regional=True, step=256),
}
"""By tier. Below 1,024 GiB a zonal or regional share is sold in some regions only."""

FUSE_DISK_GIB: Final = 5
"""Local storage (GiB) that the sidecar of Cloud Storage FUSE requests in each pod, where nothing else is said (GKE,
"Configure the Cloud Storage FUSE CSI driver sidecar container", as generally known in 2026-11)."""
