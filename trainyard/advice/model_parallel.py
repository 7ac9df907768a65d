"""Tensor parallelism inside a node and pipeline parallelism across nodes, beside data parallelism: large models.

Memory as Megatron-LM with its distributed optimizer: weight and gradient of the GPU's part of the model whole, the rest
sharded over the data parallel GPUs; activations divided by the tensor parallel GPUs (sequence parallelism). Time: each
layer's four all-reduces a micro-batch inside the node, which nothing hides; the pipeline's bubble, (stages - 1) over
the micro-batches of a step and the parts that each stage is interleaved in; gradients once a step between nodes, hidden
as in data parallelism. Formulas: arXiv 2104.04473 and 2205.05198. The calibration has no such runs, so none of this is
fitted, and it is flagged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.advice.architectures import Architecture
from trainyard.advice.fit import HIDDEN_SHARE, Fit, Ways, Work, busy, computing, cut_name, slowed
from trainyard.advice.hardware import Machine
from trainyard.advice.memory import GIB, States, usable_bytes
from trainyard.advice.throughput import Utilisation, bus_gb_per_s

MOST_STAGES = 64
MOST_UNEVEN = 1.5
"""The fullest stage's layers over the mean; layouts that are worse are not tried."""
INTERLEAVED = 4
"""Parts of a stage that take turns, where it has that many layers. Assumption; Megatron-LM's papers use 2 to 5."""
ACTIVATION_BYTES = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """How a model is cut: GPUs a layer is spread over (inside a node), stages, replicas."""

    tensor: int
    stages: int
    replicas: int

    def layers_of_fullest(self, layers: int) -> int:
        """Layers of the stage that has most of a model's; the others wait for it."""
        return math.ceil(layers / self.stages)

    @property
    def name(self) -> str:
        """For people."""
        return cut_name(self.tensor, self.stages)


def layouts(model: Architecture, machine: Machine, nodes: int) -> Iterator[Layout]:
    """The layouts of a number of machines, the simplest first; none without NVLink."""
    gpus = machine.gpus * nodes
    if not machine.nvlink or not model.layers:
        return
    for stages in range(1, min(MOST_STAGES, model.layers) + 1):
        if gpus % stages or math.ceil(model.layers / stages) * stages > MOST_UNEVEN * model.layers:
            continue
        for tensor in (2, 4, 8):
            if machine.gpus % tensor == 0 and gpus % (tensor * stages) == 0:
                yield Layout(tensor, stages, gpus // (tensor * stages))


def params_per_gpu(model: Architecture, layout: Layout) -> float:
    """Of the fullest stage, which holds the embedding or the head beside its layers."""
    embedding = float(model.vocabulary * model.hidden)
    ends = min(model.params, 2 * embedding)
    if layout.stages == 1:
        return model.params / layout.tensor
    share = layout.layers_of_fullest(model.layers) / model.layers
    return ((model.params - ends) * share + ends / 2) / layout.tensor


def model_bytes(model: Architecture, held: States, layout: Layout) -> float:
    """Bytes of model states on one GPU: its part of the frozen weights and of what is trained."""
    resident = held.weight_bytes + held.gradient_bytes
    sharded = held.bytes_per_param - resident
    whole = held.trained * (resident + sharded / layout.replicas) + held.frozen * held.frozen_bytes
    return params_per_gpu(model, layout) / model.params * whole


def smallest(work: Work, machine: Machine, nodes: int) -> Layout | None:
    """The layout that takes the least memory; None where a model cannot be cut."""
    every = layouts(work.model, machine, nodes)
    return min(every, key=lambda layout: model_bytes(work.model, work.states, layout), default=None)


def fits(
    work: Work, machine: Machine, nodes: int, ways: Ways, reached: Utilisation, peak_tflops: float
) -> Iterator[Fit]:
    """The layouts that fit, the simplest first; a micro-batch of one makes the bubble least, so that is the default."""
    usable = usable_bytes(machine.gpu_memory_gib, machine.gpus * nodes)
    for layout in layouts(work.model, machine, nodes):
        room = usable - model_bytes(work.model, work.states, layout)
        for recompute in ways.recompute:
            # As many micro-batches are in flight as there are stages, each of a stage's layers: a whole model's.
            one = work.activations[recompute] / layout.tensor
            batch = ways.micro_batch or 1
            if batch * layout.replicas <= work.sequences and batch * one <= room:
                yield _fit(work, machine, nodes, layout, recompute, batch, reached, peak_tflops, usable)


def _fit(
    work: Work,
    machine: Machine,
    nodes: int,
    layout: Layout,
    recompute: bool,
    batch: int,
    reached: Utilisation,
    peak_tflops: float,
    usable: float,
) -> Fit:
    mfu = computing(work, reached, recompute=recompute)
    rate = machine.gpus * nodes * peak_tflops * 1e12 / work.flops_per_token
    compute = work.batch_tokens / rate / mfu.typical
    of_replica = work.batch_tokens / layout.replicas
    accumulation = max(1, math.ceil(of_replica / work.sequence / batch))
    exposed = 0.0
    if not reached.whole:
        inside = _tensor_seconds(work.model, of_replica, layout, recompute, bus_gb_per_s(machine, 1) * 1e9)
        at_once = machine.gpus if nodes > 1 else 1  # that share a node's network
        between = _gradient_seconds(work, at_once, layout, bus_gb_per_s(machine, nodes) * 1e9)
        most = layout.layers_of_fullest(work.model.layers)
        waiting = most * layout.stages / work.model.layers - 1  # for the fullest stage
        bubble = (layout.stages - 1) / (accumulation * min(INTERLEAVED, most)) * (1 + waiting)
        exposed = inside + (waiting + bubble) * (compute + inside) + max(0.0, between - HIDDEN_SHARE * compute)
    real = slowed(mfu, exposed / compute).times(busy(work, layout.replicas, reached))
    states = model_bytes(work.model, work.states, layout)
    activations = work.activations[recompute] / layout.tensor * batch
    return Fit(
        strategy="TP + PP",
        recompute=recompute,
        micro_batch=batch,
        accumulation=accumulation,
        states_gib=states / GIB,
        activations_gib=activations / GIB,
        usable_gib=usable / GIB,
        host_gib=0.0,
        margin=1 - (states + activations) / usable,
        mfu=real,
        communication_share=exposed / (compute + exposed),
        tokens_per_second=real.times(rate),
        utilisation=reached,
        tensor=layout.tensor,
        stages=layout.stages,
    )


def _tensor_seconds(
    model: Architecture, tokens: float, layout: Layout, recompute: bool, bus_bytes_per_s: float
) -> float:
    """Seconds of a step's all-reduces inside the node for a replica's `tokens`: 2 a layer and pass."""
    part = 2 * (layout.tensor - 1) / layout.tensor
    return (
        (6 if recompute else 4)
        * part
        * ACTIVATION_BYTES
        * tokens
        * model.hidden
        * model.layers
        / layout.stages
        / bus_bytes_per_s
    )


def _gradient_seconds(work: Work, at_once: int, layout: Layout, bus_bytes_per_s: float) -> float:
    """Seconds of a step's gradient reduction and weight gathering, `at_once` GPUs sharing the bandwidth."""
    part = (layout.replicas - 1) / layout.replicas
    of_gpu = params_per_gpu(work.model, layout) / work.model.params * work.states.trained
    return part * of_gpu * at_once * 2 * work.states.weight_bytes / bus_bytes_per_s
