"""Managed training, an own cluster and owned hardware beside each other, on the terminal."""

from __future__ import annotations

import math

from rich.console import Console
from rich.markup import escape

from trainyard.advice import Comparison, Option
from trainyard.advice.report.terminal import bullet, bullets, table
from trainyard.advice.units import money, short


def show(out: Console, comparison: Comparison, *, explain: bool) -> None:
    """Prints what a month costs each way, and when a purchase pays."""
    option = comparison.option
    out.print(
        f"\n[bold]A month of {short(comparison.gpu_hours_per_month)} hours of {escape(option.machine.gpu.name)}: "
        "managed, own cluster or owned[/]"
    )
    costs = table("", "USD a month")
    costs.add_column("of it", overflow="fold")
    for way in comparison.ways:
        best = way.name == comparison.cheapest
        parts = "; ".join(f"{line.what} {short(line.usd)}" for line in way.lines)
        costs.add_row(way.name, money(way.monthly_usd), parts, style="bold" if best else None)
    out.print(costs)
    servers = f"{comparison.servers} server{'s' if comparison.servers > 1 else ''} of 8"
    bullet(out, "purchase", f"{money(comparison.purchase_usd)} USD: {servers}, fabric and storage")
    bullet(out, "payback", payback_text(comparison))
    even = comparison.break_even_utilisation
    bullet(
        out,
        "break-even",
        f"owned costs less than the cluster on demand above {even:.0%} utilisation"
        if even <= 1
        else "owned never costs less than the cluster on demand, even at full use",
    )
    bullets(out, "note", comparison.notes, "bold yellow")
    told = [item for item in comparison.assumptions if used(item.key, option)]
    listed = table("assumption (--assume KEY=VALUE)", "value")
    listed.add_column("unit and source" if explain else "unit", overflow="fold", style="dim")
    for item in told:
        value = short(item.value) if item.given else money(item.range)
        listed.add_row(item.key, value, f"{item.unit}; {item.source}, {item.date} ({item.evidence})" if explain and not
                       item.given else item.unit + (" (given)" if item.given else ""))  # fmt: skip
    out.print()
    out.print(listed)
    if not explain:
        out.print("  [dim]--explain adds where each is from[/]")


def used(key: str, option: Option) -> bool:
    """Whether an assumption has to do with the option's GPU."""
    return "." not in key or key.endswith("." + option.machine.gpu.name)


def payback_text(comparison: Comparison) -> str:
    """When a purchase pays: `31 months (22 to 60) against the cluster on demand; never against …`."""
    months = comparison.payback_months

    def said(value: float) -> str:
        return "never" if math.isinf(value) or value > 240 else f"{value:.0f}"

    if said(months.typical) == "never":
        best = said(months.low)
        return "never at this use" + (f" ({best} months at best)" if best != "never" else "")
    against = said(comparison.payback_cheapest_months)
    return (
        f"{said(months.typical)} months ({said(months.low)} to {said(months.high)}) against the cluster on demand; "
        f"{against}{' months' if against != 'never' else ''} against the cheapest way to rent"
    )
