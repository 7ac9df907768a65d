"""The cost of a stack in a few lines, for the rehearsal's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def summary(cost: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and figure of `Cost.as_json()`: the month, the budget, and what the figures lack; empty for no cost."""
    if not cost:
        return []
    figures = f"{cost['floor']:,.0f} idle, {cost['expected']:,.0f} expected, {cost['ceiling']:,.0f} at most"
    rows = [("USD a month", figures)]
    if cost["budget"]:
        used = 100 * cost["expected"] / cost["budget"]
        rows.append(("budget", f"{cost['budget']:,.0f}, {used:.0f} % of it expected to be used"))
    lacks = []
    if cost["unpriced"]:
        lacks.append(f"{len(cost['unpriced'])} not priced")
    if cost["prices"]["of_another_region"]:
        lacks.append("prices of another region")
    if cost["prices"]["stale"]:
        lacks.append(f"some older than 180 days (oldest {cost['prices']['oldest']})")
    if lacks:
        rows.append(("prices", "; ".join(lacks)))
    return rows
