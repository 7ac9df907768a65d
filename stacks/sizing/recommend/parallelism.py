"""Which strategy fits a model on a number of machines, at what speed, and with what margin.

Data parallel strategies only: DDP, ZeRO-2, FSDP (ZeRO-3), FSDP with the optimizer in host memory. Tensor and pipeline
parallelism have no formula here; a model that needs them does not fit.

A step is computing (FLOPs over peak times utilisation) and what communication does not hide behind the backward pass,
two thirds of the computing. With gradient accumulation DDP all-reduces once a step; ZeRO-2 and FSDP reduce and FSDP
gathers every micro-batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from stacks.sizing.recommend.architectures import Architecture
from stacks.sizing.recommend.hardware import Machine
from stacks.sizing.recommend.memory import (
    GIB,
    STRATEGIES,
    States,
    Strategy,
    activation_bytes,
    host_bytes,
    model_bytes,
    states,
    usable_bytes,
)
from stacks.sizing.recommend.ranges import Range
from stacks.sizing.recommend.throughput import RECOMPUTE, RECOMPUTED_FROM, Utilisation, bus_gb_per_s, utilisation

HIDDEN_SHARE = 2 / 3
"""Of the computing, behind which communication hides: the backward pass is twice the forward one."""
HOST_LINK_GB_PER_S = 12.0
"""Between a GPU and its host, PCIe 4 x16 in practice. Assumption."""
HOST_MEMORY_GB_PER_S = 100.0
"""Memory traffic of the optimizer on a host's CPUs. Assumption."""
LARGEST_MICRO_BATCH = 64
WANTED_MARGIN = 0.05
"""Of what is usable; a micro-batch of more than one leaves it, and of equally fast strategies one that does is
taken."""
LORA_RANK = 16


@dataclass(frozen=True)
class Work:
    """A training, as the hardware sees it. Sequences are texts or images."""

    model: Architecture
    sequence: int  # tokens
    tokens: float  # in all
    batch_tokens: float  # a step
    weights_flops: float  # a parameter and token: 6, LoRA 4
    lora_rank: int | None
    precision: str

    @cached_property
    def flops_per_token(self) -> float:
        """Attention included."""
        return self.model.flops_per_token(self.sequence, weights=self.weights_flops)

    @cached_property
    def states(self) -> States:
        """Model states."""
        return states(self.model, lora_rank=self.lora_rank, precision=self.precision)

    @cached_property
    def activations(self) -> tuple[float, float]:
        """Bytes of one sequence's activations: all kept, and recomputed."""
        return (
            activation_bytes(self.model, self.sequence, 1, recompute=False),
            activation_bytes(self.model, self.sequence, 1, recompute=True),
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """A strategy that fits. Memory in GiB a GPU; `margin` is the free share of what is usable."""

    strategy: Strategy
    recompute: bool
    micro_batch: int  # sequences
    accumulation: int
    states_gib: float
    activations_gib: float
    usable_gib: float
    host_gib: float  # a node
    margin: float
    mfu: Range  # reached, slow networks and recomputation counted
    communication_share: float  # of a step, not hidden
    tokens_per_second: Range  # of all GPUs
    utilisation: Utilisation

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.strategy}, recompute" if self.recompute else self.strategy


def fits(work: Work, machine: Machine, nodes: int, strategy: Strategy, recompute: bool) -> int:
    """The largest micro-batch (sequences, a power of two) that fits; 0 where one does not."""
    gpus = machine.gpus * nodes
    held = work.states
    if strategy in ("ZeRO-2", "FSDP") and gpus == 1:
        return 0  # nothing to shard over
    if host_bytes(held, strategy, nodes) > machine.memory_gib * GIB * 0.9:
        return 0
    room = usable_bytes(machine.gpu_memory_gib, gpus) - model_bytes(
        held, work.model.largest_layer_params, strategy, gpus
    )
    one = work.activations[recompute]
    if room < one:
        return 0
    share = work.batch_tokens / work.sequence / gpus
    return 1 << int(math.log2(max(1.0, min(room * (1 - WANTED_MARGIN) / one, LARGEST_MICRO_BATCH, share))))


def choose(work: Work, machine: Machine, nodes: int) -> Fit | None:
    """The fastest strategy that fits, the simplest with room to spare of about equals; None where none does."""
    gpus = machine.gpus * nodes
    peak = machine.gpu.training_tflops(work.precision)
    if peak is None or gpus * work.sequence > work.batch_tokens:
        return None
    reached = utilisation(machine.gpu, work.model.active_params, gpus, work.precision)
    found: list[Fit] = []
    for recompute in (False, True):
        for strategy in STRATEGIES:
            batch = fits(work, machine, nodes, strategy, recompute)
            if batch:
                fit = _speed(work, machine, nodes, strategy, recompute, batch, reached, peak)
                if fit.communication_share == 0 and fit.margin >= WANTED_MARGIN:
                    # Nothing can be faster: of equals the simplest, without recomputation, comes first.
                    return fit if not found else _first(found, fit)
                found.append(fit)
    return _first(found) if found else None


def _first(found: list[Fit], *more: Fit) -> Fit:
    """The simplest with room to spare among those within 2 % of the fastest; else the simplest of these."""
    fits_ = [*found, *more]
    fastest = max(fit.mfu.typical for fit in fits_)
    near = [fit for fit in fits_ if fit.mfu.typical >= 0.98 * fastest]
    return next((fit for fit in near if fit.margin >= WANTED_MARGIN), near[0])


def _speed(
    work: Work,
    machine: Machine,
    nodes: int,
    strategy: Strategy,
    recompute: bool,
    batch: int,
    reached: Utilisation,
    peak_tflops: float,
) -> Fit:
    gpus = machine.gpus * nodes
    held = work.states
    per_token = work.flops_per_token
    accumulation = max(1, math.ceil(work.batch_tokens / (gpus * batch * work.sequence)))
    slower = recompute and work.model.active_params < RECOMPUTED_FROM
    mfu = reached.mfu.times(RECOMPUTE) if slower else reached.mfu
    per_gpu = per_token * work.batch_tokens / gpus
    compute = per_gpu / (peak_tflops * 1e12 * mfu.typical)
    exposed = max(0.0, _communication(held, machine, nodes, strategy, accumulation) - HIDDEN_SHARE * compute)
    if strategy == "FSDP + offload":
        down_and_up = held.trained * 6 / gpus / (HOST_LINK_GB_PER_S * 1e9)
        exposed += down_and_up + held.trained * 16 / nodes / (HOST_MEMORY_GB_PER_S * 1e9)
    share = exposed / (compute + exposed)
    # Slow communication is as slow in the best case: only the computing varies.
    speeds = sorted(per_gpu / (peak_tflops * 1e12) / (compute * mfu.typical / value + exposed) for value in _three(mfu))
    real = Range(*speeds)
    tokens = gpus * peak_tflops * 1e12 / per_token
    states_bytes = model_bytes(held, work.model.largest_layer_params, strategy, gpus)
    activations = work.activations[recompute] * batch
    usable = usable_bytes(machine.gpu_memory_gib, gpus)
    return Fit(
        strategy=strategy,
        recompute=recompute,
        micro_batch=batch,
        accumulation=accumulation,
        states_gib=states_bytes / GIB,
        activations_gib=activations / GIB,
        usable_gib=usable / GIB,
        host_gib=host_bytes(held, strategy, nodes) / GIB,
        margin=1 - (states_bytes + activations) / usable,
        mfu=real,
        communication_share=share,
        tokens_per_second=real.times(tokens),
        utilisation=reached,
    )


def _three(figure: Range) -> tuple[float, float, float]:
    return figure.low, figure.typical, figure.high


def _communication(held: States, machine: Machine, nodes: int, strategy: Strategy, accumulation: int) -> float:
    """Seconds of collectives a step, were nothing hidden."""
    gpus = machine.gpus * nodes
    if gpus == 1:
        return 0.0
    part = (gpus - 1) / gpus
    bus = bus_gb_per_s(machine, nodes) * 1e9
    gathered = (held.trained + held.frozen) * held.weight_bytes
    reduced = held.trained * 2
    if strategy == "DDP":
        return 2 * part * held.trained * 4 / bus
    if strategy == "ZeRO-2":
        return part * (held.trained * held.weight_bytes + reduced * accumulation) / bus
    return part * (2 * gathered + reduced) * accumulation / bus
