"""What of a Google Cloud machine a node of GKE has for pods: what the kubelet and the system keep for themselves.

Formulas: GKE documentation, "Plan GKE Standard node sizes" (read 2026-11).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from trainyard.catalog import gcp

MAX_PODS: Final = 110
"""Pods of a node where neither its pool nor its cluster says (GKE documentation, "Configure maximum Pods per node")."""

EVICTION_MIB: Final = 100
"""Free memory below which the kubelet evicts, which is no pod's (same page as the formulas)."""

SYSTEM_CORES: Final = Fraction("0.45")
SYSTEM_MIB: Final = 700
"""Requests of what GKE runs on every node: network, metadata, logging, metrics, drivers. Own choice, of the sort of
sizes that GKE's agents have (2026-11): nobody publishes the sum. No pod is refused by it alone."""

LOST_SHARE: Final = Fraction(3, 200)
"""The share of a machine's memory that the kernel takes at the very least. Own choice, as of EKS's nodes."""

USUAL_LOST_SHARE: Final = Fraction(3, 100)
"""What it usually takes. Own choice: of 16 GB machines kubelets are commonly seen to report 15.6."""

_MEMORY_STEPS: Final = ((4, Fraction(25, 100)), (4, Fraction(20, 100)), (8, Fraction(10, 100)), (112, Fraction(6, 100)))
_CORE_STEPS: Final = ((1, Fraction(6, 100)), (1, Fraction(1, 100)), (2, Fraction(1, 200)))


@dataclass(frozen=True, slots=True)
class Machine:
    """What a machine type has before the kubelet takes its part."""

    vcpus: int
    memory_gib: float
    gpus: int = 0


@lru_cache(maxsize=256)
def machine(type_: str) -> Machine | None:
    """The size of a machine type; None for one that the catalogue does not have."""
    try:
        found = gcp.instance(type_)
        return Machine(found.vcpus, found.memory_gib, found.gpus)
    except KeyError:
        pass
    try:
        plain = gcp.cpu_instance(type_)
        return Machine(plain.vcpus, plain.memory_gib)
    except KeyError:
        pass
    try:
        slices = gcp.tpu(type_)
        return Machine(slices.vcpus, slices.memory_gib)
    except KeyError:
        return None


def kubelet_gib(memory_gib: float) -> Fraction:
    """Memory that is kept: 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % of the next 112, 2 % of
    the rest."""
    return _kept(Fraction(str(memory_gib)), _MEMORY_STEPS, Fraction(1, 50))


def kubelet_cores(vcpus: int) -> Fraction:
    """Cores that are kept: 6 % of the first, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest."""
    return _kept(Fraction(vcpus), _CORE_STEPS, Fraction(1, 400))


def _kept(amount: Fraction, steps: tuple[tuple[int, Fraction], ...], rest: Fraction) -> Fraction:
    found = Fraction(0)
    for size, share in steps:
        part = min(amount, Fraction(size))
        found, amount = found + part * share, amount - part
    return found + amount * rest


def usable_disk_gib(disk_gib: float) -> float:
    """Disk that pods can have: all but a tenth, and but the least of half of it, 6 GiB and 35 % of it, and 100 GiB."""
    return disk_gib * 0.9 - min(disk_gib * 0.5, 6 + disk_gib * 0.35, 100.0)
