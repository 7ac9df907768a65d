"""Quantities of Kubernetes as numbers."""

from __future__ import annotations

import re
from typing import Any

from trainyard.recorded.read import as_number

_SUFFIXES = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip


def quantity(value: Any) -> float | None:
    """A Kubernetes quantity as a number; None where it is none."""
    if not isinstance(value, str):
        return as_number(value)
    found = re.fullmatch(r"([+-]?[\d.]+)([KMGTPE]i|[numkMGTPE])?", value)
    if found is None:
        return as_number(value)
    number = as_number(found[1])
    return None if number is None else number * _SUFFIXES[found[2] or ""]
