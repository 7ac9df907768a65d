"""A training as the hardware sees it, the ways that are allowed, and a way that fits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from trainyard.advice.architectures import Architecture
from trainyard.advice.memory import STRATEGIES, States, Strategy, activation_bytes, states
from trainyard.advice.ranges import Range
from trainyard.advice.throughput import QUANTISED, RECOMPUTE, RECOMPUTED_FROM, Utilisation

WANTED_MARGIN = 0.05
"""Of what is usable; a micro-batch of more than one leaves it, and of equally fast strategies one that does is
taken."""
STEP_ROUNDING = 0.05
"""By which the tokens of a step are rounded where people state them: 4,194,304 / 4,000,000."""
LORA_RANK = 16
HIDDEN_SHARE = 2 / 3
"""Of the computing, behind which communication hides: the backward pass is twice the forward one."""


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
        """Attention included."""
        return self.model.flops_per_token(self.sequence, weights=self.weights_flops)

    @property
    def sequences(self) -> float:
        """Of a step, at most: a rounded step, 4M for 4,194,304 tokens, may hold a few more than it says."""
        return self.batch_tokens / self.sequence * (1 + STEP_ROUNDING)

    def busy_share(self, replicas: int) -> float:
        """Of the replicas' time, when the sequences of a step do not divide among them."""
        each = self.batch_tokens / self.sequence / replicas
        return min(1.0, each / max(1, math.ceil(each / (1 + STEP_ROUNDING))))

    @cached_property
    def states(self) -> States:
        """Model states."""
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
        """Bytes of one sequence's activations: all kept, and recomputed."""
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
        """For people."""
        name = cut_name(self.tensor, self.stages) if self.tensor > 1 else self.strategy
        return f"{name}, recompute" if self.recompute else name


def cut_name(tensor: int, stages: int) -> str:
    """How a model is cut, for people."""
    return f"TP {tensor}" + (f" × PP {stages}" if stages > 1 else "")


def computing(work: Work, reached: Utilisation, *, recompute: bool) -> Range:
    """Share of the peak while computing: what the tables say, less recomputation and unpacking of 4-bit weights."""
    if reached.whole:
        return reached.mfu
    mfu = reached.mfu
    if recompute and work.model.active_params < RECOMPUTED_FROM:
        mfu = mfu.times(RECOMPUTE)
    return mfu.times(QUANTISED) if work.quantised else mfu


def busy(work: Work, replicas: int, reached: Utilisation) -> float:
    """Share of the replicas' time that has a sequence to train on; a measured share of the peak has it in it."""
    return 1.0 if reached.whole else work.busy_share(replicas)


def slowed(mfu: Range, exposed: float) -> Range:
    """Share of the peak when `exposed` seconds pass for every second of typical computing.

    Slow communication is as slow in the best case: only the computing varies.
    """
    low, typical, high = sorted(1 / (1 / value + exposed / mfu.typical) for value in (mfu.low, mfu.typical, mfu.high))
    return Range(low, typical, high)
