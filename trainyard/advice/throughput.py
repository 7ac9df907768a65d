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
- Typical is the table on one node, where it was measured with code that anyone can run; from 64 to 512 GPUs it is the
  table times 0.86: torchtitan's compiled Llama 8B reaches 39.6 % on H100 (6,667 tokens a second on 8, 6,514 on 128,
  attention counted) where the table has 46 %; from 1,024 on it is the table again.
- The best and the worst case are those that published runs imply end to end, 55 and 14 %. The best is what the table
  reaches at any size on that chip where that is more (A100 64 %), since a stack made for the model closes the gap at
  its size; on one node half of the way from there to what plain matrix products reach (an assumption). The worst is
  less at sizes where the table itself is lower.
"""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
from dataclasses import dataclass
from functools import lru_cache

from trainyard.advice.architectures import PACKAGE, shape
from trainyard.advice.hardware import Gpu, Machine, gpus
from trainyard.advice.ranges import Range
from trainyard.catalog.tables import rows

CALIBRATED_GPUS = 512
BEST_END_TO_END, WORST_END_TO_END = 0.55, 0.14
"""Share of the peak that published runs imply, with all that went wrong."""
MATRIX_PRODUCTS = {"A100": 0.87, "H100": 0.80}
"""Share of the peak that plain matrix products reach: 271 of 312 and 795 of 989 TFLOPS (stas00/ml-engineering)."""
COMPILED = 0.86
"""Share of the table's figure that torchtitan reaches, compiled."""
ONE_NODE, MANY_NODES = 8, 64
"""GPUs up to which runs go as on one node, and from which they go as large ones do; between, straight in the logarithm.
The second is an assumption."""
TUNED = 1024
"""GPUs from which a run is taken to have a stack tuned like the tables' own. Assumption: a loss of a seventh is worth a
team's work there; published runs of that size bear it out."""
GOODPUT = Range(0.59, 0.85, 1.0)
"""Share of the time that trains on many nodes: evaluation, stalls, hardware failures, restarts by hand. OPT-175B 59 %;
Llama 3 above 90 %; 85 % is an assumption between."""
GOODPUT_ON_ONE_NODE = Range(0.59, 0.97, 1.0)
"""Share of the time that trains on one node: evaluation and checkpoints take the rest. Assumption."""
UNMEASURED = Range(0.8, 1.0, 1.2)
"""Factor on the throughput of a GPU that the table does not have, where it is less certain."""
BEYOND = Range(0.85, 1.0, 1.1)
"""Factor on the throughput above 512 GPUs, where it is less certain."""
FP8_SHARE = 0.64
"""Share of the bf16 utilisation that fp8 reaches of its own peak: 27.7 of 43.7 % (3B), 29.1 of 43.2 (1B), 30.3 of 46.3
(3B, sequence 512) on 8 H100, in the calibration's source. So fp8 is 1.3 times as fast, not twice."""
RECOMPUTE = Range(0.75, 0.88, 1.0)
"""Speed with full recomputation: 6/8 by FLOPs; 0.90 (A100) and 0.87 (H100) for 7B in the calibration's source, where
the larger micro-batch makes up for a part; nothing lost for 13B."""
RECOMPUTED_FROM = 20e9
"""Parameters above which the calibration's own measurements (30B, 70B) recompute, so that nothing more is lost; the
smaller ones (up to 13B) do not."""
QUANTISED = Range(0.5, 0.6, 0.7)
"""Speed of QLoRA over LoRA, since 4-bit weights are unpacked before every product: 3.19 against 6.38 minutes for 13B,
2.52 against 3.68 for 7B, on one A100-40 (Lightning-AI/litgpt, resource tables of 2023-10)."""

PCIE_BUS_GB_PER_S = 10.0
"""All-reduce bus bandwidth between GPUs without NVLink. Assumption: no trustworthy figure is published for G5 and
G6."""
NVLINK_SHARE = 0.78
"""Share of NVLink's one-way rate that collectives reach: 235 of 300 GB/s on 8 A100, 368 of 450 on 8 H200
(stas00/ml-engineering)."""
FABRIC_SHARE = 0.71
"""Share of a node's network rate that collectives reach with RDMA: the lowest of the published shares, 0.71 (A3 High)
to 0.97 (InfiniBand)."""
TCP_SHARE = 0.35
"""Share of a node's network rate that collectives reach without RDMA, over TCP. Assumption."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Model FLOPS utilisation as shares of the peak, and what it rests on."""

    mfu: Range
    measured: bool  # the table has this GPU
    within: bool  # and this many GPUs
    whole: bool = False  # measured on the training itself: recomputation, unpacking and networks are in it


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, int], dict[float, float]]:
    """(GPU, count) to parameters to utilisation, with attention counted as `flops_per_token` does.

    The measurements count 12·L·h·s for it.
    """
    found: dict[tuple[str, int], dict[float, float]] = {}
    for row in rows("mfu.csv", PACKAGE):
        params = float(row["params"])
        done = float(row["mfu_percent"]) / 100 * attention_recounted(params, int(row["sequence_length"]))
        found.setdefault((row["gpu"], int(row["gpus"])), {})[params] = done
    return found


def attention_recounted(params: float, sequence: int) -> float:
    """FLOPs as they are counted here over FLOPs with 12·L·h·s for attention, of a model of the usual shape."""
    model = shape(params)
    return model.flops_per_token(sequence) / (6 * params + 12 * model.layers * model.hidden * sequence)


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


def size_of_job(count: int) -> float:
    """0 up to one node, 1 from `MANY_NODES` GPUs on."""
    return min(1.0, max(0.0, math.log(count / ONE_NODE) / math.log(MANY_NODES / ONE_NODE)))


def practice(count: int) -> float:
    """Share of the tables' speed that is typical: 1 on one node, `COMPILED` on many, 1 again where teams tune."""
    tuned = min(1.0, max(0.0, math.log(count / CALIBRATED_GPUS) / math.log(TUNED / CALIBRATED_GPUS)))
    return 1 - (size_of_job(count) - tuned) * (1 - COMPILED)


def goodput(count: int) -> Range:
    """Share of the time that trains, of a job on that many GPUs."""
    share, one, many = size_of_job(count), GOODPUT_ON_ONE_NODE, GOODPUT
    return one.times(1 - share).plus(many.times(share))


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
def curve(gpu: str, params: float) -> float:
    """Utilisation on eight GPUs of the table, of a model of that many parameters."""
    points = _series(gpu)
    smallest = points[0][0]
    if params >= smallest:
        return _interpolate(points, params)
    full = _series("A100-80GB")
    return points[0][1] * _interpolate(full, params) / _interpolate(full, smallest)


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


def utilisation(gpu: Gpu, params: float, count: int, precision: str = "bf16", *, sharded: bool = True) -> Utilisation:
    """What `count` GPUs reach on a model whose tokens pass through `params` parameters; without slow networks.

    `sharded` False leaves out what the tables' FSDP loses by the count of GPUs: a cut model's communication is reckoned
    by formula and would count twice.
    """
    measured = any(name == gpu.name for name, _ in _table())
    like, carried = (gpu.name, 1.0) if measured else ("H100", _carried_over(gpu))
    kept = carried * (count_factor(count) if sharded else 1.0)
    here = curve(like, params) * kept
    size = size_of_job(count)
    table_best = _best_of_chip(like)
    closed = math.sqrt(MATRIX_PRODUCTS[like.partition("-")[0]] / table_best)  # half of the way
    best = max(table_best * (closed + (1 - closed) * size) * kept, here)
    typical = here * practice(count)
    of_best_size = min(1.0, here / (max(value for _, value in _series(like)) * kept))
    worst = min(typical, WORST_END_TO_END / GOODPUT.low * of_best_size * carried)
    spread = Range(worst, typical, best)
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
