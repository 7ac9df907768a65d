"""Convolutional networks: images a second as measured (`images.csv`), since FLOPs say little about them.

ResNet-50 on A100 and H100 only; eight GPUs of a node give 6.72 times one (84 %, input bound), but for the fastest rate,
which was measured on eight. Anything else is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard.advice.architectures import PACKAGE
from trainyard.advice.fit import WANTED_MARGIN, Fit, GpuMemory, Work
from trainyard.advice.hardware import Machine
from trainyard.advice.memory import usable_bytes
from trainyard.advice.ranges import Range, exactly
from trainyard.advice.throughput import Utilisation
from trainyard.catalog.tables import rows
from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE

EIGHT_GPU_SCALING = 0.84


@dataclass(frozen=True, slots=True)
class _Measured:
    images_per_s: Range
    batch: int
    mib_per_image: float


@lru_cache(maxsize=1)
def _measured() -> dict[tuple[str, str], _Measured]:
    return {
        (row["architecture"], row["gpu"]): _Measured(
            Range(float(row["low_images_per_s"]), float(row["images_per_s"]), float(row["high_images_per_s"])),
            int(row["batch"]),
            float(row["memory_mib_per_image"]),
        )
        for row in rows("images.csv", PACKAGE)
    }


def measured_gpus(architecture: str) -> tuple[str, ...]:
    """The GPUs that a network was measured on."""
    return tuple(gpu for name, gpu in _measured() if name == architecture)


def choose(work: Work, machine: Machine, nodes: int) -> Fit | None:
    """DDP on one node of a measured GPU; None elsewhere."""
    measured = _measured().get((work.model.name, machine.gpu.name))
    if measured is None or nodes > 1:
        return None
    usable = usable_bytes(machine.gpu_memory_gib, machine.gpus)
    states = work.states.total_bytes
    image = measured.mib_per_image * MEBIBYTE
    batch = min(
        measured.batch, int((usable * (1 - WANTED_MARGIN) - states) / image), int(work.batch_tokens / machine.gpus)
    )
    if batch < 1:
        return None
    memory = GpuMemory(states, batch * image, usable)
    scaling = 1 - (1 - EIGHT_GPU_SCALING) * (machine.gpus - 1) / 7
    return Fit(
        strategy="DDP",
        recompute=False,
        micro_batch=batch,
        accumulation=max(1, round(work.batch_tokens / machine.gpus / batch)),
        states_gib=memory.states / GIBIBYTE,
        activations_gib=memory.activations / GIBIBYTE,
        usable_gib=memory.usable / GIBIBYTE,
        host_gib=0.0,
        margin=memory.margin,
        mfu=exactly(0.0),  # not a measure of these
        communication_share=0.0,
        tokens_per_second=measured.images_per_s.times(machine.gpus).times(Range(scaling, scaling, 1.0)),
        utilisation=Utilisation(exactly(0.0), measured=True, within=True),
    )
