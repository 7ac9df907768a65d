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
from trainyard.advice.fit import HIDDEN_SHARE, Fit, GpuMemory, Step, Ways, Work, cut_name
from trainyard.advice.hardware import Machine
from trainyard.advice.memory import States, usable_bytes
from trainyard.advice.throughput import Utilisation, bus_gb_per_s

MOST_STAGES = 64
MOST_UNEVEN = 1.5
"""The fullest stage's layers over the mean; layouts that are worse are not tried."""
INTERLEAVED = 4
"""Parts of a stage that take turns, where it has that many layers. Assumption; Megatron-LM's papers use 2 to 5."""
ACTIVATION_BYTES = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """How a model is cut: GPUs of a node that a layer is spread over, stages of the pipeline, replicas of the whole."""

    tensor: int
    stages: int
    replicas: int

    def layers_of_fullest(self, layers: int) -> int:
        """Layers of the stage that has most of a model's; the others wait for it."""
        return math.ceil(layers / self.stages)

    @property
    def name(self) -> str:
        """The layout as it is printed."""
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
    """Parameters on a GPU of the fullest stage, which holds the embedding or the head beside its layers."""
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
    gpus = machine.gpus * nodes
    usable = usable_bytes(machine.gpu_memory_gib, gpus)
    for layout in layouts(work.model, machine, nodes):
        states = model_bytes(work.model, work.states, layout)
        for recompute in ways.recompute:
            # As many micro-batches are in flight as there are stages, each of a stage's layers: a whole model's.
            one = work.activations[recompute] / layout.tensor
            batch = ways.micro_batch or 1
            if batch * layout.replicas <= work.sequences and batch * one <= usable - states:
                step = Step(work, reached, peak_tflops, gpus, layout.replicas, batch, recompute)
                memory = GpuMemory(states, one * batch, usable)
                exposed = 0.0 if reached.whole else _exposed_seconds(step, machine, nodes, layout)
                yield step.fit("TP + PP", memory, exposed, layout.tensor, layout.stages)


def _exposed_seconds(step: Step, machine: Machine, nodes: int, layout: Layout) -> float:
    """Seconds of a step that no GPU computes: all-reduces inside the node, the pipeline's bubble, gradients."""
    work = step.work
    of_replica = work.batch_tokens / layout.replicas
    inside = _tensor_seconds(work.model, of_replica, layout, step.recompute, bus_gb_per_s(machine, 1) * 1e9)
    at_once = machine.gpus if nodes > 1 else 1  # that share a node's network
    between = _gradient_seconds(work, at_once, layout, bus_gb_per_s(machine, nodes) * 1e9)
    most = layout.layers_of_fullest(work.model.layers)
    waiting = most * layout.stages / work.model.layers - 1  # for the fullest stage
    bubble = (layout.stages - 1) / (step.accumulation * min(INTERLEAVED, most)) * (1 + waiting)
    return inside + (waiting + bubble) * (step.seconds + inside) + max(0.0, between - HIDDEN_SHARE * step.seconds)


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
