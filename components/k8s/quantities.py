"""Quantities of Kubernetes as an API server keeps them: any other spelling would show as a change at every preview."""

from collections.abc import Sequence


def whole(count: int) -> str:
    """A whole number as a quantity: 24 -> "24", 2000 -> "2k". As text, and as an API server keeps it, see `gibibytes`.

    Raises ValueError for less than 0.
    """
    if count < 0:
        raise ValueError(f"a quantity is at least 0, got {count}")
    return _with_unit(count, 1000, ("", "k", "M", "G"))


def gibibytes(count: int) -> str:
    """A quantity of gibibytes as an API server keeps it: 1200 -> "1200Gi", 2048 -> "2Ti".

    The server writes a quantity with the largest unit that leaves a whole number; any other spelling would show as a
    change at every preview. Raises ValueError for less than 1.
    """
    if count < 1:
        raise ValueError(f"a capacity is at least 1 GiB, got {count}")
    return _with_unit(count, 1024, ("Gi", "Ti", "Pi"))


def bound(gib: int) -> str:
    """A bound of gibibytes in a quota, where 0 lets nothing by."""
    return gibibytes(gib) if gib else "0"


def _with_unit(count: int, base: int, units: Sequence[str]) -> str:
    unit = 0
    while count and count % base == 0 and unit < len(units) - 1:
        count //= base
        unit += 1
    return f"{count}{units[unit]}"
