"""How much of a GPU's peak training reaches (model FLOPS utilisation), and how fast gradients travel.

Calibration: `mfu.csv`, measurements of one tuned stack (llm-foundry, FSDP, sequence 2048) on A100-40, A100-80 and H100
from 125M to 70B parameters on 8 to 512 GPUs. Nothing else is fitted; how published runs were used:
docs/recommender.md.

- Model size: straight lines in the logarithm of the parameters between the measurements of a GPU; flat above the
  largest; below the smallest the shape of the A100-80 series, the only one that reaches 125M with eight GPUs.
- GPU count: one factor for all GPUs, the median of the table's own ratios of 128 to 8 and of 512 to 128 GPUs, straight
  in the logarithm between, and continued with the last slope beyond 512 (flagged).
- A GPU without measurements takes the H100's figures, times the root of the ratio of memory bandwidth to compute where
  it has less of it, as the three measured GPUs suggest (flagged, wider).
- Typical is the table times 0.86: torchtitan's compiled Llama 8B reaches 39.6 % on 8 H100 (6,667 tokens a second,
  attention counted) where the table has 46 %. The worst case is torchtitan without compilation: 34 of 46 %, 0.74. The
  best case is what the table reaches at any size on that chip (A100 64 %), and 55 % at least, the highest that
  published runs imply end to end (they spread from 14 to 55 %): a stack made for the model closes the gap at its size.
"""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
from dataclasses import dataclass
from functools import lru_cache

from stacks.sizing.recommend.architectures import table
from stacks.sizing.recommend.hardware import Gpu, Machine, gpus
from stacks.sizing.recommend.ranges import Range

CALIBRATED_GPUS = 512
BEST_END_TO_END = 0.55
EAGER, COMPILED = 0.74, 0.86
"""Share of the table's figure that torchtitan reaches without and with compilation."""
UNMEASURED = Range(0.8, 1.0, 1.2)
"""More spread for a GPU that the table does not have."""
BEYOND = Range(0.85, 1.0, 1.1)
"""More spread above 512 GPUs."""
FP8_SHARE = 0.64
"""Of the bf16 utilisation, that fp8 reaches of its own peak: 27.7 of 43.7 % (3B), 29.1 of 43.2 (1B), 30.3 of 46.3 (3B,
sequence 512) on 8 H100, in the calibration's source. So fp8 is 1.3 times as fast, not twice."""
RECOMPUTE = Range(0.75, 0.88, 1.0)
"""Speed with full recomputation: 6/8 by FLOPs; 0.90 (A100) and 0.87 (H100) for 7B in the calibration's source, where
the larger micro-batch makes up for a part; nothing lost for 13B."""
RECOMPUTED_FROM = 20e9
"""Parameters above which the calibration's own measurements (30B, 70B) recompute, so that nothing more is lost; the
smaller ones (up to 13B) do not."""

PCIE_BUS_GB_PER_S = 10.0
"""All-reduce bus bandwidth between GPUs without NVLink. Assumption: no trustworthy figure is published for G5 and
G6."""
NVLINK_SHARE = 0.78
"""Of NVLink's one-way rate: 235 of 300 GB/s on 8 A100, 368 of 450 on 8 H200 (stas00/ml-engineering)."""
FABRIC_SHARE = 0.71
"""Of the node's network rate with RDMA: the lowest of the published shares, 0.71 (A3 High) to 0.97 (InfiniBand)."""
TCP_SHARE = 0.35
"""Of the node's network rate without RDMA. Assumption."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Model FLOPS utilisation as shares of the peak, and what it rests on."""

    mfu: Range
    measured: bool  # the table has this GPU
    within: bool  # and this many GPUs


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, int], dict[float, float]]:
    found: dict[tuple[str, int], dict[float, float]] = {}
    for row in table("mfu.csv"):
        found.setdefault((row["gpu"], int(row["gpus"])), {})[float(row["params"])] = float(row["mfu_percent"]) / 100
    return found


@lru_cache(maxsize=1)
def count_factors() -> tuple[tuple[int, float], ...]:
    """Utilisation at 8, 128 and 512 GPUs relative to 8: medians of the table's ratios."""

    def median(few: int, many: int) -> float:
        return statistics.median(
            value / _table()[gpu, few][params]
            for (gpu, count), series in _table().items()
            if count == many and (gpu, few) in _table()
            for params, value in series.items()
            if params in _table()[gpu, few]
        )

    to_128 = median(8, 128)
    return ((8, 1.0), (128, to_128), (512, to_128 * median(128, 512)))


@lru_cache(maxsize=4096)
def count_factor(count: int) -> float:
    """The factor for that many GPUs; 1 up to eight."""
    points = count_factors()
    if count <= points[0][0]:
        return 1.0
    for (low, at_low), (high, at_high) in itertools.pairwise(points):
        if count <= high:
            return at_low + (at_high - at_low) * math.log(count / low) / math.log(high / low)
    (before, at_before), (last, at_last) = points[-2:]
    slope = math.log(at_last / at_before) / math.log(last / before)
    return float(at_last * (count / last) ** slope)


@lru_cache(maxsize=8)
def _series(gpu: str) -> tuple[tuple[float, float], ...]:
    """(parameters, utilisation on eight GPUs) of a GPU; several counts of a size are brought to 8 and averaged."""
    at: dict[float, list[float]] = {}
    for (name, count), series in _table().items():
        if name == gpu:
            for params, value in series.items():
                at.setdefault(params, []).append(value / count_factor(count))
    return tuple((params, statistics.fmean(values)) for params, values in sorted(at.items()))


def _interpolate(points: tuple[tuple[float, float], ...], params: float) -> float:
    index = bisect.bisect(points, (params, math.inf))
    if index == 0 or index == len(points):
        return points[min(index, len(points) - 1)][1]
    (low, at_low), (high, at_high) = points[index - 1 : index + 1]
    return at_low + (at_high - at_low) * math.log(params / low) / math.log(high / low)


@lru_cache(maxsize=256)
def _on_eight(gpu: str, params: float) -> float:
    points = _series(gpu)
    smallest = points[0][0]
    if params >= smallest:
        return _interpolate(points, params)
    shape = _series("A100-80GB")
    return points[0][1] * _interpolate(shape, params) / _interpolate(shape, smallest)


@lru_cache(maxsize=8)
def _best_of_chip(gpu: str) -> float:
    """The highest figure of the table for a chip, whatever its memory; the highest end to end at least."""
    chip = gpu.partition("-")[0]
    reached = (value for name, _ in _table() if name.partition("-")[0] == chip for _, value in _series(name))
    return max(BEST_END_TO_END, *reached)


@lru_cache(maxsize=32)
def _carried_over(gpu: Gpu) -> float:
    """What a GPU without measurements keeps of the H100's figures."""
    return min(1.0, math.sqrt(_balance(gpus()["H100"]) / _balance(gpu)))


def _balance(gpu: Gpu) -> float:
    """Half-precision FLOPS a byte of memory traffic."""
    peak = gpu.training_tflops("bf16")
    assert peak is not None  # hardware.py leaves out GPUs without a peak
    return peak / gpu.memory_tb_per_s


def utilisation(gpu: Gpu, params: float, count: int, precision: str = "bf16") -> Utilisation:
    """What `count` GPUs reach on a model whose tokens pass through `params` parameters; without slow networks."""
    measured = any(name == gpu.name for name, _ in _table())
    like, carried = (gpu.name, 1.0) if measured else ("H100", _carried_over(gpu))
    here = _on_eight(like, params) * carried * count_factor(count)
    best = max(_best_of_chip(like) * carried * count_factor(count), here)
    spread = Range(here * EAGER, here * COMPILED, best)
    if not measured:
        spread = spread.times(UNMEASURED)
    if precision == "fp8":
        spread = spread.times(FP8_SHARE)
    if count > CALIBRATED_GPUS:
        spread = spread.times(BEYOND)
    return Utilisation(Range(spread.low, spread.typical, min(0.9, spread.high)), measured, count <= CALIBRATED_GPUS)


def bus_gb_per_s(machine: Machine, nodes: int) -> float:
    """Bus bandwidth of collectives over all GPUs, GB/s (nccl-tests' definition)."""
    inside = machine.gpu.interconnect_gb_per_s * NVLINK_SHARE if machine.nvlink else PCIE_BUS_GB_PER_S
    if machine.gpus == 1:
        inside = math.inf
    if nodes == 1:
        return inside
    return min(inside, machine.network_gbps / 8 * (FABRIC_SHARE if machine.fabric else TCP_SHARE))
