"""Figures of the catalogue's tables that have a low, a typical and a high column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainyard.catalog.tables import number


class Spread(NamedTuple):
    """Low, typical and high of an uncertain figure, in order."""

    low: float
    typical: float
    high: float


def spread(row: Mapping[str, str], name: str, unit: str = "") -> Spread | None:
    """The figure of `{name}_low{unit}`, `{name}{unit}` and `{name}_high{unit}`; None where any of them is empty.

    Percentages (`unit` is `_percent`) become parts, 0 to 1.

    Raises:
        ValueError: the three are not in order, or one is no number.
    """
    found = [number(row[f"{name}{bound}{unit}"]) for bound in ("_low", "", "_high")]
    low, typical, high = (None if value is None else value / (100 if unit == "_percent" else 1) for value in found)
    if low is None or typical is None or high is None:
        return None
    if not low <= typical <= high:
        raise ValueError(f"{name} not in order: {low:g}, {typical:g}, {high:g} in {dict(row)}")
    return Spread(low, typical, high)
