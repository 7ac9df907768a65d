"""From a request to the work: tokens, FLOPs, batch; and what the formulas do not cover."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.advice.architectures import DEFAULT_SEQUENCE, Architecture, shape
from trainyard.advice.data_need import BYTES_OF_TEXT_PER_TOKEN, BYTES_PER_TOKEN, KB_PER_IMAGE
from trainyard.advice.fit import LORA_RANK, Work
from trainyard.advice.request import ADAPTER_TASKS, Request

FINE_TUNE_SEQUENCES = 128
"""Sequences of a step of fine-tuning. Assumption, as Stanford Alpaca."""
SMALLEST_PARAMS = 120e6
"""Parameters of the calibration's smallest model, which is named 125M."""
VISION_BATCH_IMAGES = 4096
"""Images of a step of a vision transformer. Assumption, as the ViT paper."""
_TAKEN_OVER = "its share of the peak is taken over"
_PRECISION_NOTES = {"fp8": "fp8 reaches 0.64 of that share, so 1.3 times the speed; few measurements, H100 only"}
_BATCHES = ((0.6e9, 0.5e6), (2e9, 1e6), (30e9, 2e6), (float("inf"), 4e6))
"""Parameters up to which a pre-training step has so many tokens: the GPT-3 paper's table, rounded."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The work of one run with what was assumed and what is doubtful about it.

    `images` is None for tokens; `work.sequence` 1 with `images` stands for a convolutional network.
    """

    work: Work
    images: float | None
    convolutional: bool
    bytes_per_sequence: float
    token_spread: float  # 0: the count was given
    step: str  # the assumption about the tokens or images of a step; empty where they were given
    assumptions: tuple[str, ...]  # the others
    flags: tuple[str, ...]
    refusal: str


def workload_of(request: Request, known: Architecture | None) -> Workload:
    """The work of a request that `request.check` let pass."""
    if request.task == "tabular":
        nothing = Work(shape(1e6), DEFAULT_SEQUENCE, 1, 1, 6, None, request.precision)
        text = (
            "tabular training has no formula here: gradient-boosted trees run on CPUs, and small networks are bound by "
            "their input; measure one epoch on the smallest GPU instance (g6.xlarge, g2-standard-4) and scale by rows"
        )
        return Workload(nothing, None, False, 0, 0, "", (), (), text)
    model = known or shape(
        float(request.params or 0),
        request.active_params,
        layers=request.layers,
        hidden=request.hidden,
        vocabulary=request.vocabulary,
    )
    assumptions, flags = [], []
    if known is None and request.layers is None:
        assumptions.append(f"shape: {model.layers} layers of {model.hidden}, {model.source}; --architecture names one")
    if model.active_params < model.params:
        flags.append(
            "mixture of experts: computing counts the active parameters, memory and communication all; expert "
            "parallelism, which gathers less and exchanges more, is not covered"
        )
    elif known is None:
        assumptions.append("every parameter is active; a mixture of experts needs --active-params")
    if request.task == "vision":
        return _vision(request, model, assumptions, flags)
    return _language(request, model, assumptions, flags)


def _language(request: Request, model: Architecture, assumptions: list[str], flags: list[str]) -> Workload:
    spread = 0.0
    if request.tokens is not None:
        a_pass = request.tokens
    else:
        a_pass = float(request.dataset_gb or 0) * 1e9 / BYTES_OF_TEXT_PER_TOKEN
        spread = 0.25
        assumptions.append(f"{a_pass:.3g} tokens a pass: {BYTES_OF_TEXT_PER_TOKEN:g} bytes of text a token, ±25 %")
    sequence = request.sequence_length or min(model.sequence_length or DEFAULT_SEQUENCE, 8192)
    if request.sequence_length is None:
        assumptions.append(f"sequence length {sequence}")
    tuning = request.task == "fine-tune" or request.task in ADAPTER_TASKS
    default = float(FINE_TUNE_SEQUENCES * sequence) if tuning else next(b for top, b in _BATCHES if model.params <= top)
    batch = max(request.global_batch_tokens or default, float(sequence))
    step = "" if request.global_batch_tokens else f"{batch:,.0f} tokens a step; it bounds the number of GPUs"
    if sequence > 8192:
        flags.append(f"sequences of {sequence}: the calibration is at 2,048; utilisation is lower on long ones")
    if model.params > 70e9:
        flags.append("above 70B parameters: the calibration ends there")
    if model.params < SMALLEST_PARAMS:
        flags.append("below 125M parameters: the calibration begins there; kernels and input bound small models")
    flags += _precision_flags(request)
    rank = None
    if request.task in ADAPTER_TASKS:
        rank = request.lora_rank or LORA_RANK
        assumptions.append(f"LoRA of rank {rank} on every linear layer; 4 FLOPs a parameter and token")
    if request.task == "qlora":
        flags.append("QLoRA: 0.5 to 0.7 of the speed of LoRA, from measurements of two models on one A100")
    work = Work(
        model=model,
        sequence=sequence,
        tokens=a_pass * request.epochs,
        batch_tokens=batch,
        weights_flops=4 if rank else 6,
        lora_rank=rank,
        precision=request.precision,
        optimizer=request.optimizer,
        quantised=request.task == "qlora",
    )
    return Workload(work, None, False, BYTES_PER_TOKEN * sequence, spread, step, tuple(assumptions), tuple(flags), "")


def _precision_flags(request: Request) -> list[str]:
    if request.precision in ("bf16", "bf16-true"):
        return []
    note = _PRECISION_NOTES.get(request.precision, _TAKEN_OVER)
    return [f"{request.precision}: the calibration is in bf16; {note}"]


def _vision(request: Request, model: Architecture, assumptions: list[str], flags: list[str]) -> Workload:
    spread = 0.0
    if request.images is not None:
        images = request.images
    else:
        images = float(request.dataset_gb or 0) * 1e6 / KB_PER_IMAGE
        spread = 0.5
        assumptions.append(f"{images:.3g} images a pass: {KB_PER_IMAGE} kB an image as ImageNet's, ±50 %")
    images *= request.epochs
    convolutional = not model.layers
    sequence = 1 if convolutional else model.tokens_per_image
    if convolutional:
        assumptions.append("images a second as measured for this network at 224 pixels, not from FLOPs")
    else:
        flags.append(
            "vision transformer: FLOPs a token as for text; the calibration has no images, and decoding and "
            "augmenting on the CPU may be slower than the GPU"
        )
        flags += _precision_flags(request)
    work = Work(
        model=model,
        sequence=sequence,
        tokens=images * sequence,
        batch_tokens=(request.global_batch_tokens or VISION_BATCH_IMAGES) * sequence,
        weights_flops=6,
        lora_rank=None,
        precision=request.precision,
        optimizer=request.optimizer,
    )
    step = "" if request.global_batch_tokens else f"{VISION_BATCH_IMAGES:,} images a step; it bounds the number of GPUs"
    return Workload(work, images, convolutional, KB_PER_IMAGE * 1e3, spread, step, tuple(assumptions), tuple(flags), "")
