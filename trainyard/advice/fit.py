"""A training as the hardware sees it, the ways that are allowed, and a way that fits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from trainyard.advice.architectures import Architecture
from trainyard.advice.memory import STRATEGIES, States, Strategy, activation_bytes, states
from trainyard.advice.ranges import Range
from trainyard.advice.throughput import QUANTISED, RECOMPUTE, RECOMPUTED_FROM, Utilisation
from trainyard.conventions.quantities import GIBIBYTE

WANTED_MARGIN = 0.05
"""Share of a GPU's usable memory that is left free where it can be: by a micro-batch of more than one, and in the
choice between strategies of equal speed."""
STEP_ROUNDING = 0.05
"""People round the tokens of a step that they state by so much: 4,194,304 / 4,000,000."""
LORA_RANK = 16
HIDDEN_SHARE = 2 / 3
"""Share of the computing that communication hides behind: the backward pass, which is twice the forward one."""


@dataclass(frozen=True)
class Work:
    """A training, as the hardware sees it. Sequences are texts or images."""

    model: Architecture
    sequence: int  # tokens
    tokens: float  # in all
    batch_tokens: float  # a step
    weights_flops: float  # a parameter and token: 6, LoRA 4
    lora_rank: int | None
    precision: str  # of request.PRECISIONS
    optimizer: str = "adamw"
    quantised: bool = False  # frozen weights in 4 bits (QLoRA)

    @cached_property
    def flops_per_token(self) -> float:
        """FLOPs that training computes for one token, attention included."""
        return self.model.flops_per_token(self.sequence, weights=self.weights_flops)

    @property
    def sequences(self) -> float:
        """The most sequences of a step: a rounded one, 4M for 4,194,304 tokens, may hold a few more than it says."""
        return self.batch_tokens / self.sequence * (1 + STEP_ROUNDING)

    def busy_share(self, replicas: int) -> float:
        """Share of the replicas' time that has a sequence to train on; below 1 where those of a step do not divide."""
        each = self.batch_tokens / self.sequence / replicas
        return min(1.0, each / max(1, math.ceil(each / (1 + STEP_ROUNDING))))

    @cached_property
    def states(self) -> States:
        """Memory of the model's states: weights, gradients, optimizer."""
        return states(
            self.model,
            lora_rank=self.lora_rank,
            precision=self.precision,
            optimizer=self.optimizer,
            quantised=self.quantised,
        )

    @property
    def arithmetic(self) -> str:
        """The precision that the GPU multiplies in: a column of the catalogue's peaks."""
        return self.precision.removesuffix("-true")

    @cached_property
    def activations(self) -> tuple[float, float]:
        """Bytes of one sequence's activations: all of them kept, and recomputed in the backward pass."""
        return (
            activation_bytes(self.model, self.sequence, 1, recompute=False),
            activation_bytes(self.model, self.sequence, 1, recompute=True),
        )


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to train that are allowed.

    `micro_batch` None: the largest power of two that fits. `mfu`: the share of the peak, where it was measured; None:
    from the tables.
    """

    strategies: tuple[Strategy, ...] = STRATEGIES
    recompute: tuple[bool, ...] = (False, True)
    micro_batch: int | None = None
    mfu: float | None = None


ANY_WAY = Ways()


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
    tensor: int = 1  # GPUs a layer is spread over
    stages: int = 1  # of a pipeline

    @property
    def name(self) -> str:
        """The strategy as it is printed."""
        name = cut_name(self.tensor, self.stages) if self.tensor > 1 else self.strategy
        return f"{name}, recompute" if self.recompute else name


def cut_name(tensor: int, stages: int) -> str:
    """How a model is cut, as it is printed."""
    return f"TP {tensor}" + (f" × PP {stages}" if stages > 1 else "")


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """Memory that a way to train takes of a GPU and of its host, in bytes."""

    states: float
    activations: float
    usable: float
    host: float = 0.0  # a node

    @property
    def margin(self) -> float:
        """The free share of what is usable."""
        return 1 - (self.states + self.activations) / self.usable


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a training in one way: how many micro-batches a replica takes, and how long it computes."""

    work: Work
    reached: Utilisation
    peak_tflops: float  # of a GPU
    gpus: int
    replicas: int
    micro_batch: int  # sequences
    recompute: bool

    @property
    def accumulation(self) -> int:
        """Micro-batches of a replica in a step."""
        work = self.work
        return max(1, math.ceil(work.batch_tokens / (self.replicas * self.micro_batch * work.sequence)))

    @property
    def peak_tokens_per_second(self) -> float:
        """Tokens a second that all GPUs would train on at their peak."""
        return self.gpus * self.peak_tflops * 1e12 / self.work.flops_per_token

    @property
    def mfu(self) -> Range:
        """Share of the peak while computing: what the tables say, less recomputation and unpacking of 4-bit weights."""
        mfu = self.reached.mfu
        if self.reached.whole:
            return mfu
        if self.recompute and self.work.model.active_params < RECOMPUTED_FROM:
            mfu = mfu.times(RECOMPUTE)
        return mfu.times(QUANTISED) if self.work.quantised else mfu

    @property
    def seconds(self) -> float:
        """Typical seconds that a step computes."""
        return self.work.batch_tokens / self.peak_tokens_per_second / self.mfu.typical

    def fit(self, strategy: Strategy, memory: GpuMemory, exposed: float, tensor: int = 1, stages: int = 1) -> Fit:
        """The way as a fit; `exposed` are seconds of a step that nothing computes.

        A measured share of the peak has in it that the sequences of a step do not divide among the replicas.
        """
        seconds = self.seconds
        busy = 1.0 if self.reached.whole else self.work.busy_share(self.replicas)
        mfu = _slowed(self.mfu, exposed / seconds).times(busy)
        return Fit(
            strategy=strategy,
            recompute=self.recompute,
            micro_batch=self.micro_batch,
            accumulation=self.accumulation,
            states_gib=memory.states / GIBIBYTE,
            activations_gib=memory.activations / GIBIBYTE,
            usable_gib=memory.usable / GIBIBYTE,
            host_gib=memory.host / GIBIBYTE,
            margin=memory.margin,
            mfu=mfu,
            communication_share=exposed / (seconds + exposed),
            tokens_per_second=mfu.times(self.peak_tokens_per_second),
            utilisation=self.reached,
            tensor=tensor,
            stages=stages,
        )


def _slowed(mfu: Range, exposed: float) -> Range:
    """Share of the peak when `exposed` seconds pass for every second of typical computing.

    Slow communication is as slow in the best case: only the computing varies.
    """
    low, typical, high = sorted(1 / (1 / value + exposed / mfu.typical) for value in (mfu.low, mfu.typical, mfu.high))
    return Range(low, typical, high)
