"""What the data tier and the checkpoint tier must deliver, and which tier does.

Samples: 2 to 4 bytes a token; 114.66 kB an ImageNet image (MLPerf Storage). Loaders that stream from object storage
reach 3,100 to 7,200 images a second a node (LitData's benchmark of itself and others; vendors disagree): 350 MB/s, the
lowest, is taken as what streaming delivers. The size of a checkpoint is `memory.States`'s: 14 bytes a parameter (bf16
and fp32 weights, Adam; BLOOM 176B: 2.3 TB), 12 where weights are fp32 only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from trainyard.catalog import service_price
from trainyard.plan.aws.parts import LUSTRE_FIRST_STEPS, LUSTRE_STEP, LUSTRE_THROUGHPUTS

BYTES_PER_TOKEN = 4.0
BYTES_OF_TEXT_PER_TOKEN = 4.0
"""Bytes of English text a token stands for, to turn a data set's size into tokens. Rule of thumb: plus or minus a
quarter."""
KB_PER_IMAGE = 114.66
STREAMING_MB_PER_S = 350.0
HEADROOM = 1.25
"""Over the need, so that training does not wait: the bar is 90 % accelerator utilisation (MLPerf Storage)."""
OBJECT_WRITE_GB_PER_S = 2.0
"""What one node writes to object storage, at most half of its network. Assumption: parallel multipart uploads."""
WANTED_SAVE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class DataNeed:
    """MB (10**6 bytes) a second of all nodes, and the tier that delivers it."""

    mb_per_s: float
    per_gpu_mb_per_s: float
    tier: str


@dataclass(frozen=True, slots=True)
class CheckpointNeed:
    """Size of a checkpoint in GB, seconds to save it to the checkpoint tier, and what that takes."""

    size_gb: float
    save_seconds: float
    tier_gb_per_s: float
    wanted_gb_per_s: float  # to save within five minutes
    tier: str


def data_need(mb_per_s: float, gpus: int, nodes: int, cloud: str) -> DataNeed:
    """The tier for a rate: streaming from object storage, or the cheapest parallel file system that delivers it."""
    need = mb_per_s * HEADROOM
    if need <= STREAMING_MB_PER_S * nodes:
        tier = "object storage, streamed"
    else:
        capacity, throughput = _lustre(need)
        tier = f"FSx for Lustre, {capacity} GiB at {throughput} MB/s per TiB"
        if cloud == "gcp":
            tier = f"Managed Lustre for {need:,.0f} MB/s"
    return DataNeed(mb_per_s, mb_per_s / gpus, tier)


@lru_cache(maxsize=4096)
def _lustre(need_mb_per_s: float) -> tuple[int, int]:
    """Capacity (GiB) and throughput (MB/s per TiB) of the cheapest file system that delivers a rate."""

    def capacity(throughput: int) -> int:
        if LUSTRE_FIRST_STEPS[0] / 1024 * throughput >= need_mb_per_s:
            return LUSTRE_FIRST_STEPS[0]
        return math.ceil(need_mb_per_s * 1024 / throughput / LUSTRE_STEP) * LUSTRE_STEP

    def monthly_usd(throughput: int) -> float:
        return capacity(throughput) * service_price(f"fsx.lustre.persistent-2.ssd.{throughput}").usd

    best = min(LUSTRE_THROUGHPUTS, key=monthly_usd)
    return capacity(best), best


def checkpoint_need(size_bytes: float, nodes: int, network_gbps: float) -> CheckpointNeed:
    """Save time of a checkpoint of that many bytes that every node writes a part of."""
    size = size_bytes / 1e9
    rate = nodes * min(OBJECT_WRITE_GB_PER_S, network_gbps / 8 / 2)
    return CheckpointNeed(size, size / rate, rate, size / WANTED_SAVE_SECONDS, "object storage, all nodes writing")
