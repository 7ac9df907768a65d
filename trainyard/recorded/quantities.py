"""Quantities of Kubernetes as numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from trainyard.conventions.quantities import quantity as parsed
from trainyard.recorded.read import as_number


def quantity(value: Any) -> float | None:
    """A Kubernetes quantity of a resource as a number; None where it is none."""
    return _of_text(value) if isinstance(value, str) else as_number(value)


@lru_cache(maxsize=4096)
def _of_text(text: str) -> float | None:
    found = parsed(text)
    return as_number(text) if found is None else float(found)
