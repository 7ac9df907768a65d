"""What training holds on one GPU and on its host.

Model states (AdamW in mixed precision: 18 bytes a parameter: 6 weights with the fp32 master copy, 8 Adam, 4 gradients;
16 in fp32, 8 in pure bf16) and their sharding: formulas of DeepSpeed and Megatron-Bridge. Activations with fused
attention 34·s·b·h a layer; recomputed in full 2·s·b·h a layer and one of 34·s·b·h; logits 4·b·s·V (EleutherAI cookbook;
stas00/ml-engineering). Fixed: CUDA context 0.5-1 GiB, NCCL 1-2 GiB; fragmentation 5-10 %. All read 2026-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.advice.architectures import Architecture
from trainyard.conventions.quantities import GIBIBYTE

Strategy = Literal["DDP", "ZeRO-2", "FSDP", "FSDP + offload", "TP + PP"]
STRATEGIES: tuple[Strategy, ...] = ("DDP", "ZeRO-2", "FSDP", "FSDP + offload", "TP + PP")
"""Strategies in the order in which they are preferred at the same speed: the simplest first. FSDP is ZeRO-3; the last
cuts the model itself, see model_parallel.py."""


CONTEXT_GIB = 1.0
NCCL_GIB = 1.5
FRAGMENTATION = 0.08
HOST_BUFFER = 1.5
"""Host memory of offloaded states, over their size (DeepSpeed's estimators)."""


OPTIMIZERS = ("adamw", "adamw-8bit", "adafactor", "sgd")
"""adamw-8bit: bitsandbytes' and the like; adafactor: factored second moment, no first; sgd: with momentum."""
_OPTIMIZER_BYTES = {"adamw": (8.0, 4.0), "adamw-8bit": (2.0, 2.0), "adafactor": (0.0, 0.0), "sgd": (4.0, 2.0)}
"""A parameter, beside fp32 and beside pure 16-bit weights."""
NF4_BYTES = 4.127 / 8
"""A quantised parameter: 4 bits and 0.127 of constants after double quantisation (QLoRA, arXiv 2305.14314)."""


@dataclass(frozen=True, slots=True)
class States:
    """Parameters by kind and the bytes each takes. `frozen` ones keep their weight and nothing more."""

    trained: float
    frozen: float
    weight_bytes: float  # of what a GPU computes with: 2, or 4 in fp32
    master_bytes: float  # fp32 copy of mixed precision
    gradient_bytes: float
    optimizer_bytes: float
    frozen_bytes: float  # of one frozen parameter: 2, or about half a byte quantised

    @property
    def bytes_per_param(self) -> float:
        """A trained parameter: 18 with AdamW in mixed precision, 16 in fp32, 8 in pure bf16."""
        return self.weight_bytes + self.master_bytes + self.gradient_bytes + self.optimizer_bytes

    @property
    def checkpoint_bytes_per_param(self) -> float:
        """What a checkpoint keeps of a trained parameter, everything but the gradient: 14 in mixed precision."""
        return self.bytes_per_param - self.gradient_bytes

    @property
    def offloaded_bytes_per_param(self) -> float:
        """What offloading moves to the host: everything but the weight that is computed with."""
        return self.bytes_per_param - self.weight_bytes

    @property
    def sharded_bytes_per_param(self) -> float:
        """What FSDP shards: 16 in mixed precision, where the 16-bit weight is made from the fp32 one when gathered."""
        return self.bytes_per_param - (self.weight_bytes if self.master_bytes else 0.0)

    @property
    def total_bytes(self) -> float:
        """Bytes of all states, as one GPU would hold them."""
        return self.trained * self.bytes_per_param + self.frozen * self.frozen_bytes


def states(
    model: Architecture,
    *,
    lora_rank: int | None,
    precision: str,
    optimizer: str = "adamw",
    quantised: bool = False,
) -> States:
    """Model states of full training, or of LoRA adapters on every linear layer (rank times 19·h a layer).

    `precision` bf16, fp16 and fp8 are mixed: 16-bit weights beside an fp32 copy; bf16-true has no copy. `quantised`
    holds the frozen linear layers in 4 bits, embedding and head in 16.
    """
    fp32 = precision in {"fp32", "tf32"}
    pure = precision == "bf16-true"
    weight, master, gradient = (4.0, 0.0, 4.0) if fp32 else (2.0, 0.0, 2.0) if pure else (2.0, 4.0, 4.0)
    held = _OPTIMIZER_BYTES[optimizer][pure]
    if lora_rank is None:
        return States(model.params, 0, weight, master, gradient, held, weight)
    # Four h x h attention matrices and three h x 2.7h of a gated MLP: 4·2h + 3·3.7h = 19·h parameters a rank.
    trained = min(model.params, 19.0 * model.hidden * lora_rank * model.layers)
    frozen = weight
    if quantised:
        ends = min(model.params, 2.0 * model.vocabulary * model.hidden)
        frozen = (NF4_BYTES * (model.params - ends) + 2 * ends) / model.params
    return States(trained, model.params, weight, master, gradient, held, frozen)


def model_bytes(held: States, largest_layer: float, strategy: Strategy, gpus: int) -> float:
    """Bytes of model states on one GPU under a data parallel strategy. Never less with fewer GPUs.

    Raises:
        ValueError: the strategy cuts the model; model_parallel.py has its formula.
    """
    trained, frozen, weight = held.trained, held.frozen * held.frozen_bytes, held.weight_bytes
    match strategy:
        case "DDP":
            return held.total_bytes
        case "ZeRO-2":
            # The weight whole, the rest sharded.
            return trained * (weight + held.offloaded_bytes_per_param / gpus) + frozen
        case "FSDP":
            # The layer gathered now and the one prefetched; the 16-bit weight exists only while gathered.
            return 2 * weight * largest_layer + (trained * held.sharded_bytes_per_param + frozen) / gpus
        case "FSDP + offload":
            # Frozen weights have no optimizer to move to the host: they go themselves.
            return 2 * weight * largest_layer + trained * weight / gpus
        case "TP + PP":
            raise ValueError("not data parallel")


def host_bytes(held: States, strategy: Strategy, nodes: int) -> float:
    """Bytes of offloaded states in the memory of one node."""
    if strategy != "FSDP + offload":
        return 0.0
    moved = held.trained * held.offloaded_bytes_per_param + held.frozen * held.frozen_bytes
    return moved / nodes * HOST_BUFFER


def activation_bytes(model: Architecture, sequence: int, batch: int, *, recompute: bool) -> float:
    """Bytes of activations and logits of one micro-batch (sequences)."""
    tokens = float(sequence * batch)
    layer = 34 * tokens * model.hidden
    kept = 2 * tokens * model.hidden * model.layers + layer if recompute else layer * model.layers
    logits = 0.0 if model.tokens_per_image else 4 * tokens * model.vocabulary
    return kept + logits


def usable_bytes(gpu_memory_gib: float, gpus: int) -> float:
    """What is left of a GPU's memory for the model and activations."""
    fixed = CONTEXT_GIB + (NCCL_GIB if gpus > 1 else 0)
    return max(0.0, (gpu_memory_gib * (1 - FRAGMENTATION) - fixed) * GIBIBYTE)
