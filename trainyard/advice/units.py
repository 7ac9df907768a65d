"""Quantities as people write and read them: 7B, 1e12, 200GB, 30d; and back."""

from __future__ import annotations

import math
import re

from trainyard.advice.ranges import Range

_SUFFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_BYTES = {"MB": 1e-3, "GB": 1.0, "TB": 1e3, "PB": 1e6, "MiB": 2**20 / 1e9, "GiB": 2**30 / 1e9, "TiB": 2**40 / 1e9}
_HOURS = {"h": 1.0, "d": 24.0, "w": 168.0}
_NUMBER = r"([0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?|\.[0-9]+)"


def _read(text: str, units: dict[str, float], wanted: str) -> float:
    found = re.fullmatch(rf"{_NUMBER}\s*([A-Za-z]*)", text.strip())
    if found is None or found[2] not in units:
        raise ValueError(f"must be {wanted}")
    value = float(found[1]) * units[found[2]]
    if not math.isfinite(value):
        raise ValueError(f"must be {wanted}")
    return value


def count(text: str) -> float:
    """7e9, 7B, 1.5T, 300M, 20k.

    Raises:
        ValueError: something else.
    """
    return _read(text, _SUFFIXES, "a number like 7e9, 7B, 300M or 1T")


def gigabytes(text: str) -> float:
    """200GB, 1.5TB, 500MiB, in 10**9 bytes.

    Raises:
        ValueError: something else, or no unit.
    """
    return _read(text, _BYTES, "a size with its unit, like 200GB, 1.5TB or 500MiB")


def hours(text: str) -> float:
    """12h, 30d, 2w.

    Raises:
        ValueError: something else, or no unit.
    """
    return _read(text, _HOURS, "a time with its unit, like 12h, 30d or 2w")


def short(value: float) -> str:
    """Three digits and a suffix: 95.8k, 1.29M, 712, 7B."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    for suffix in ("T", "B", "M", "k"):
        if abs(rounded) >= _SUFFIXES[suffix]:
            scaled = rounded / _SUFFIXES[suffix]
            return f"{scaled:,.0f}{suffix}" if scaled >= 1000 else f"{scaled:.3g}{suffix}"
    return f"{rounded:.3g}"


def money(value: Range) -> str:
    """Typical with its range, in USD: 95.8k (55.5k-269k)."""
    return f"{short(value.typical)} ({short(value.low)}-{short(value.high)})"


def duration(value: Range) -> str:
    """Typical with its range, in hours or days as fits the typical one: 29.7 d (24.1-58.4)."""
    unit, size = ("d", 24.0) if value.typical >= 72 else ("h", 1.0)
    low, typical, high = (_plain(part / size) for part in (value.low, value.typical, value.high))
    return f"{typical} {unit} ({low}-{high})"


def minutes(value: float) -> str:
    """A time given in minutes: 40 s, 37 min, 5.2 h."""
    if value < 1 / 60:
        return "under a second"
    if value < 1.5:
        return f"{value * 60:.0f} s"
    return f"{value:.0f} min" if value < 120 else f"{value / 60:.1f} h"


def _plain(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
