"""Which strategy fits a model on a number of machines, at what speed, and with what margin.

Data parallelism: DDP, ZeRO-2, FSDP (ZeRO-3), FSDP with the optimizer in host memory. Where none of them fits, the
network holds them up, or there are more GPUs than the tables have, tensor and pipeline parallelism are tried as well
(`model_parallel.py`), but for models that a GPU holds whole.

A step is computing (FLOPs over peak times utilisation) and what communication does not hide behind the backward pass,
two thirds of the computing. With gradient accumulation DDP all-reduces once a step; ZeRO-2 and FSDP reduce and FSDP
gathers every micro-batch.
"""

from __future__ import annotations

import math

from trainyard.advice import model_parallel
from trainyard.advice.fit import ANY_WAY, HIDDEN_SHARE, WANTED_MARGIN, Fit, GpuMemory, Step, Ways, Work
from trainyard.advice.hardware import Machine
from trainyard.advice.memory import States, Strategy, host_bytes, model_bytes, usable_bytes
from trainyard.advice.ranges import exactly
from trainyard.advice.throughput import CALIBRATED_GPUS, Utilisation, bus_gb_per_s, utilisation
from trainyard.conventions.quantities import GIBIBYTE

HOST_LINK_GB_PER_S = 12.0
"""What a GPU and its host exchange over PCIe 4 x16 in practice. Assumption."""
HOST_MEMORY_GB_PER_S = 100.0
"""Memory traffic of an optimizer that runs on a host's CPUs. Assumption."""
HOST_SHARE = 0.9
"""Share of a host's memory that offloaded states may take."""
HELD_UP_SHARE = 0.1
"""Share of a step: where the best data parallel strategy waits longer for the network, cutting the model is tried."""
WORTH_CUTTING = 1.1
"""How much faster a cut model must be, since it takes other code."""
LARGEST_MICRO_BATCH = 64
NOTHING_TO_SHARD = "nothing to shard over"


def obstacle(work: Work, machine: Machine, nodes: int, strategy: Strategy) -> str:
    """Why a data parallel strategy is out of the question whatever the GPU's memory; empty where it is not."""
    gpus = machine.gpus * nodes
    if strategy in ("ZeRO-2", "FSDP") and gpus == 1:
        return NOTHING_TO_SHARD
    if gpus > work.sequences:
        return "under a sequence a GPU"
    needed = host_bytes(work.states, strategy, nodes) / GIBIBYTE
    if needed > machine.memory_gib * HOST_SHARE:
        return f"{needed:,.0f} of {machine.memory_gib:,.0f} GiB host memory"
    return ""


def room_bytes(work: Work, machine: Machine, nodes: int, strategy: Strategy) -> float:
    """What the model states leave on a GPU for activations; negative where they do not fit."""
    gpus = machine.gpus * nodes
    held = model_bytes(work.states, work.model.largest_layer_params, strategy, gpus)
    return usable_bytes(machine.gpu_memory_gib, gpus) - held


def fits(work: Work, machine: Machine, nodes: int, strategy: Strategy, recompute: bool) -> int:
    """The largest micro-batch (sequences, a power of two) that fits; 0 where one does not."""
    if obstacle(work, machine, nodes, strategy):
        return 0
    room = room_bytes(work, machine, nodes, strategy)
    one = work.activations[recompute]
    if room < one:
        return 0
    share = work.batch_tokens / work.sequence / (machine.gpus * nodes)
    spare = WANTED_MARGIN * usable_bytes(machine.gpu_memory_gib, machine.gpus * nodes)
    return 1 << int(math.log2(max(1.0, min((room - spare) / one, LARGEST_MICRO_BATCH, share))))


def choose(work: Work, machine: Machine, nodes: int, ways: Ways = ANY_WAY) -> Fit | None:
    """The fastest strategy that fits, the simplest with room to spare of about equals; None where none does."""
    gpus = machine.gpus * nodes
    peak = machine.gpu.training_tflops(work.arithmetic)
    if peak is None:
        return None
    reached = utilisation(machine.gpu, work.model.active_params, gpus, work.arithmetic)
    if ways.mfu is not None:
        reached = Utilisation(exactly(ways.mfu), measured=True, within=True, whole=True)
    found: list[Fit] = []
    for recompute in ways.recompute:
        for strategy in ways.strategies:
            if strategy == "TP + PP":
                continue
            batch = _micro_batch(work, machine, nodes, strategy, recompute, ways)
            if batch:
                step = Step(work, reached, peak, gpus, gpus, batch, recompute)
                fit = _data_parallel(step, machine, nodes, strategy)
                found.append(fit)
                if fit.communication_share == 0 and fit.margin >= WANTED_MARGIN:
                    # Nothing can be faster: of equals the simplest, without recomputation, comes first.
                    return _first(found)
    whole = _first(found) if found else None
    alone = any(fit.strategy == "DDP" for fit in found)  # a GPU holds all of it: nobody cuts such a model
    fine = whole is not None and whole.communication_share <= HELD_UP_SHARE and gpus <= CALIBRATED_GPUS
    if "TP + PP" not in ways.strategies or fine or alone:
        return whole
    if not reached.whole:
        reached = utilisation(machine.gpu, work.model.active_params, gpus, work.arithmetic, sharded=False)
    cuts = list(model_parallel.fits(work, machine, nodes, ways, reached, peak))
    cut = _first(cuts) if cuts else None
    if whole is None or (cut is not None and cut.mfu.typical > whole.mfu.typical * WORTH_CUTTING):
        return cut
    return whole


def _micro_batch(work: Work, machine: Machine, nodes: int, strategy: Strategy, recompute: bool, ways: Ways) -> int:
    """The micro-batch to run with; 0 where it does not fit."""
    if ways.micro_batch is None:
        return fits(work, machine, nodes, strategy, recompute)
    needed = work.activations[recompute] * ways.micro_batch
    fitting = not obstacle(work, machine, nodes, strategy) and needed <= room_bytes(work, machine, nodes, strategy)
    return ways.micro_batch if fitting else 0


def _first(found: list[Fit]) -> Fit:
    """The simplest with room to spare among those within 2 % of the fastest; else the simplest of these."""
    fastest = max(fit.mfu.typical for fit in found)
    near = [fit for fit in found if fit.mfu.typical >= 0.98 * fastest]
    return next((fit for fit in near if fit.margin >= WANTED_MARGIN), near[0])


def _data_parallel(step: Step, machine: Machine, nodes: int, strategy: Strategy) -> Fit:
    work, gpus, held = step.work, step.gpus, step.work.states
    exposed = 0.0
    if not step.reached.whole:
        waiting = _communication(held, machine, nodes, strategy, step.accumulation)
        exposed = max(0.0, waiting - HIDDEN_SHARE * step.seconds)
        if strategy == "FSDP + offload":
            # Gradients and weights once a step, frozen weights for both passes of every micro-batch.
            moved = held.trained * 6 + held.frozen * held.frozen_bytes * 2 * step.accumulation
            to_host = moved / gpus / (HOST_LINK_GB_PER_S * 1e9)
            on_host = held.trained * held.offloaded_bytes_per_param / nodes / (HOST_MEMORY_GB_PER_S * 1e9)
            exposed += to_host + on_host
    memory = GpuMemory(
        states=model_bytes(held, work.model.largest_layer_params, strategy, gpus),
        activations=work.activations[step.recompute] * step.micro_batch,
        usable=usable_bytes(machine.gpu_memory_gib, gpus),
        host=host_bytes(held, strategy, nodes),
    )
    return step.fit(strategy, memory, exposed)


def _communication(held: States, machine: Machine, nodes: int, strategy: Strategy, accumulation: int) -> float:
    """Seconds of collectives a step, were nothing hidden."""
    gpus = machine.gpus * nodes
    if gpus == 1:
        return 0.0
    part = (gpus - 1) / gpus
    bus = bus_gb_per_s(machine, nodes) * 1e9
    gathered = held.trained * held.weight_bytes + held.frozen * held.frozen_bytes
    reduced = held.trained * held.weight_bytes
    if strategy == "DDP":
        return 2 * part * held.trained * held.gradient_bytes / bus
    if strategy == "ZeRO-2":
        return part * (held.trained * held.weight_bytes + reduced * accumulation) / bus
    return part * (2 * gathered + reduced) * accumulation / bus
