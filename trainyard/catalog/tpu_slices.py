"""Slices of TPU chips: which topologies a machine is sold in, and how many machines one is.

A slice of one machine is a node like any other; one of several is a unit, which GKE makes and takes away whole (GKE,
"About TPUs in GKE", read 2026-11).
"""

from __future__ import annotations

import math
import re
from typing import Final

from trainyard.catalog.gcp import Tpu

_FORM: Final = re.compile(r"[1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){1,2}")

_CUBE: Final = 4
_MOST_CHIPS: Final = 6_144
"""The chips of the largest slice of v5p that a job can have, 16x16x24 (Cloud TPU, "TPU v5p", as generally known)."""


def chips(topology: str) -> int:
    """Chips of a slice: 16 of 4x4. Raises ValueError for what is no topology."""
    if not _FORM.fullmatch(topology):
        raise ValueError(f"{topology!r} is no topology; like 4x4, or 2x2x2")
    return math.prod(map(int, topology.split("x")))


def takes(machine: Tpu, topology: str) -> bool:
    """Whether a slice of that machine is sold in a topology: one of the usual, or of v5p any of whole cubes of 4x4x4,
    the shortest side first."""
    if topology in machine.topologies:
        return True
    if not _FORM.fullmatch(topology) or not any(usual.count("x") == 2 for usual in machine.topologies):
        return False
    sides = list(map(int, topology.split("x")))
    cubes = len(sides) == 3 and sides == sorted(sides) and all(side % _CUBE == 0 for side in sides)
    return cubes and math.prod(sides) <= _MOST_CHIPS


def machines(machine: Tpu, topology: str) -> int:
    """Machines of one slice: 4 of 4x4 with four chips each. Raises ValueError for what is no topology."""
    return max(1, chips(topology) // machine.chips)


def in_words(machine: Tpu) -> str:
    """The topologies that a machine takes, for a message."""
    cubes = any(usual.count("x") == 2 for usual in machine.topologies)
    return ", ".join(machine.topologies) + (f", and others of whole cubes of {_CUBE}x{_CUBE}x{_CUBE}" if cubes else "")
