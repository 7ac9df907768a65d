"""What Vertex AI makes of a machine type and accelerators: the same of jobs and of editors."""

from __future__ import annotations

from typing import Final

from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import VERTEX_ACCELERATORS, vertex_gpu

ATTACHED: Final = ("n1-",)
"""Machine types that accelerators are attached to; those of every other family with GPUs bring their own (Compute
Engine, "GPU machine types", as generally known in 2026-11)."""

COUNTS: Final = {
    "NVIDIA_TESLA_T4": (1, 2, 4),
    "NVIDIA_TESLA_P4": (1, 2, 4),
    "NVIDIA_TESLA_P100": (1, 2, 4),
    "NVIDIA_TESLA_V100": (1, 2, 4, 8),
}
"""Accelerators that are attached to a machine, and how many there may be (as above)."""


def mistake(machine: str, accelerator: str | None, count: float | None) -> str | None:
    """What Vertex AI refuses of the three; None where nothing is known against them."""
    if accelerator is None and count is None:
        own = _of(machine)
        return f"{machine} has {own}, and neither acceleratorType nor acceleratorCount says so" if own else None
    if accelerator is None or count is None:
        return "acceleratorType and acceleratorCount go together"
    if machine.startswith(ATTACHED):
        return _attached(machine, accelerator, count)
    item = next((each for each in catalog.instances() if each.type == machine), None)
    if item is None:
        bare = machine in [each.type for each in catalog.cpu_instances()]
        return f"{machine} takes no accelerator: n1 machines do" if bare else None
    if accelerator != VERTEX_ACCELERATORS.get(vertex_gpu(machine, item.gpu), accelerator):
        return f"{machine} has {_of(machine)}, and not {accelerator}"
    return None if count == item.gpus else f"{machine} has {item.gpus:g} of its GPU, and not {count:g}"


def _attached(machine: str, accelerator: str, count: float) -> str | None:
    if accelerator in COUNTS:
        allowed = ", ".join(map(str, COUNTS[accelerator]))
        return None if count in COUNTS[accelerator] else f"{count:g} {accelerator} on {machine}; one of {allowed}"
    if accelerator not in VERTEX_ACCELERATORS.values():
        return None
    return f"{machine} takes no {accelerator}, which stands on machines of its own; {', '.join(COUNTS)} are attached"


def _of(machine: str) -> str:
    found = next((item for item in catalog.instances() if item.type == machine), None)
    if found is None:
        return ""
    return f"{found.gpus:g} {VERTEX_ACCELERATORS.get(vertex_gpu(machine, found.gpu), found.gpu)}"
