"""Amounts as messages say them."""

from __future__ import annotations

from trainyard.conventions.quantities import GIBIBYTE, MEBIBYTE


def amount_text(name: str, amount: float) -> str:
    """An amount of a resource: bytes in Gi or Mi, anything else as a number."""
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        if amount >= GIBIBYTE:
            return f"{amount / GIBIBYTE:.1f}".removesuffix(".0") + "Gi"
        return f"{amount / MEBIBYTE:.0f}Mi"
    return f"{amount:.2f}".rstrip("0").rstrip(".")
