"""Quantities of Kubernetes as numbers."""

from __future__ import annotations

from typing import Any

from trainyard.conventions.quantities import quantity as parsed
from trainyard.recorded.read import as_number


def quantity(value: Any) -> float | None:
    """A Kubernetes quantity of a resource as a number; None where it is none."""
    found = parsed(value) if isinstance(value, str) else None
    return as_number(value) if found is None else float(found)
