"""What training holds on one GPU and on its host.

Model states (AdamW in mixed precision: 18 bytes a parameter: 6 weights with the fp32 master copy, 8 Adam, 4 gradients;
16 in fp32) and their sharding: DeepSpeed's and Megatron-Bridge's formulas. Activations with fused attention 34·s·b·h a
layer; recomputed in full 2·s·b·h a layer and one layer of 34·s·b·h; logits 4·b·s·V (EleutherAI cookbook;
stas00/ml-engineering). Fixed: CUDA context 0.5-1 GiB, NCCL 1-2 GiB; fragmentation 5-10 %. All read 2026-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stacks.sizing.recommend.architectures import Architecture

Strategy = Literal["DDP", "ZeRO-2", "FSDP", "FSDP + offload"]
STRATEGIES: tuple[Strategy, ...] = ("DDP", "ZeRO-2", "FSDP", "FSDP + offload")
"""In the order in which they are preferred at the same speed: the simplest first. FSDP is ZeRO-3."""

GIB = 2**30
CONTEXT_GIB = 1.0
NCCL_GIB = 1.5
FRAGMENTATION = 0.08
HOST_BUFFER = 1.5
"""Host memory of offloaded states, over their size (DeepSpeed's estimators)."""


@dataclass(frozen=True, slots=True)
class States:
    """Bytes a trained parameter takes, and parameters by kind. `frozen` ones take 2 bytes each and nothing more."""

    trained: float
    frozen: float
    bytes_per_param: float  # 18 mixed, 16 fp32
    weight_bytes: float  # of what a GPU computes with: 2, or 4 in fp32

    @property
    def total_bytes(self) -> float:
        """Unsharded."""
        return self.trained * self.bytes_per_param + self.frozen * 2


def states(model: Architecture, *, lora_rank: int | None, precision: str) -> States:
    """Model states of full training, or of LoRA adapters on every linear layer (rank times 19·h a layer)."""
    full = precision in {"fp32", "tf32"}
    per_param, weight = (16.0, 4.0) if full else (18.0, 2.0)
    if lora_rank is None:
        return States(model.params, 0, per_param, weight)
    # Four h x h attention matrices and three h x 2.7h of a gated MLP: 4·2h + 3·3.7h = 19·h parameters a rank.
    trained = min(model.params, 19.0 * model.hidden * lora_rank * model.layers)
    return States(trained, model.params, per_param, weight)


def model_bytes(held: States, largest_layer: float, strategy: Strategy, gpus: int) -> float:
    """Bytes of model states on one GPU. Never less with fewer GPUs."""
    trained, frozen = held.trained, held.frozen
    match strategy:
        case "DDP":
            return trained * held.bytes_per_param + frozen * 2
        case "ZeRO-2":
            return trained * (4 + (held.bytes_per_param - 2) / gpus) + frozen * 2
        case "FSDP":
            # The parameter gathered now and the one prefetched: 4 bytes of the largest layer.
            return 4 * largest_layer + held.total_bytes / gpus
        case "FSDP + offload":
            return 4 * largest_layer + (trained + frozen) * 2 / gpus


def host_bytes(held: States, strategy: Strategy, nodes: int) -> float:
    """Bytes of offloaded states in the memory of one node."""
    return held.trained * 16 / nodes * HOST_BUFFER if strategy == "FSDP + offload" else 0.0


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
    return max(0.0, (gpu_memory_gib * (1 - FRAGMENTATION) - fixed) * GIB)
