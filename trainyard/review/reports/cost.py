"""A cost for people: a table for the terminal, at most 100 columns wide, and a page for the browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trainyard.catalog.staleness import STALE_DAYS
from trainyard.cost.compare import Alternative
from trainyard.cost.model import Amounts, Cost, LineItem, Saving, Share, a_unit
from trainyard.output import page
from trainyard.review.verdict import dollars, money_of

DEAREST = 10
"""Lines that the terminal shows; the page and the JSON have all."""


def spread(figure: Alternative | Saving) -> str:
    """`9,169 to 13,577`; nothing where there is one figure."""
    low, high = dollars(figure.low_usd), dollars(figure.high_usd)
    return "" if low == high else f"{low} to {high}"


def of_budget(usd: float, budget: float) -> str:
    """How much of the budget an amount is: `91 %`."""
    return f"{100 * usd / budget:.0f} %"


def summary(cost: Cost) -> list[tuple[str, str]]:
    """Label and figure in a few lines: the month, the budget, and what the figures lack."""
    total = cost.total
    figures = f"{total.floor:,.0f} idle, {total.expected:,.0f} expected, {total.ceiling:,.0f} at most"
    rows = [("USD a month", figures)]
    if cost.budget_usd:
        used = of_budget(total.expected, cost.budget_usd)
        rows.append(("budget", f"{cost.budget_usd:,.0f}, {used} of it expected to be used"))
    lacks = []
    if cost.unpriced:
        lacks.append(f"{len(cost.unpriced)} not priced")
    if cost.other_region_lines:
        lacks.append("prices of another region")
    if cost.stale_lines:
        lacks.append(f"some older than {STALE_DAYS} days (oldest {cost.oldest})")
    if lacks:
        rows.append(("prices", "; ".join(lacks)))
    return rows


_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red"}


def report(cost: Cost, others: Sequence[Alternative] = ()) -> RenderableType:
    """The whole report for a `rich` console."""
    month = money_of(cost)
    title = Text(f"What {cost.stack or 'the stack'} costs a month", style="bold")
    title.append(f"  USD, {cost.region}", style="dim")
    parts: list[RenderableType] = [title, Text(month.sentence, style=_STYLES[month.mood]), Text()]
    parts += [_shares("component", cost.by_component, cost), Text()]
    if len(cost.by_team) > 1:
        parts += [_shares("team", cost.by_team, cost), Text()]
    parts += [*_dearest(cost), Text()]
    if others:
        parts += [_alternatives(others), Text()]
    if cost.savings:
        parts += [*_savings(cost.savings), Text()]
    parts += _notes(cost)
    return Group(*parts)


def _figures(title: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    table.add_column(title, overflow="fold")
    return table


def _shares(title: str, shares: Sequence[Share], cost: Cost) -> Table:
    table = _figures(title)
    budgets = any(share.budget_usd for share in shares)
    table.add_column("", style="dim", no_wrap=True)
    for name in ("floor", "expected", "ceiling"):
        table.add_column(name, justify="right", no_wrap=True)
    if budgets or title == "component":
        table.add_column("budget", justify="right", no_wrap=True)
    for share in shares:
        row = [share.name, share.kind, *_row(share.usd)]
        if share.budget_usd:
            used = of_budget(share.usd.expected, share.budget_usd)
            row.append(f"{used} of {dollars(share.budget_usd)}")
        table.add_row(*row)
    total: list[Text | str] = [
        Text("total", style="bold"),
        "",
        *(Text(text, style="bold") for text in _row(cost.total)),
    ]
    if cost.budget_usd and (budgets or title == "component"):
        used = of_budget(cost.total.expected, cost.budget_usd)
        total.append(Text(f"{used} of {dollars(cost.budget_usd)}", style="bold"))
    table.add_row(*total)
    return table


def _row(usd: Amounts) -> tuple[str, str, str]:
    return dollars(usd.floor), dollars(usd.expected), dollars(usd.ceiling)


def dearest(cost: Cost) -> list[LineItem]:
    """The lines with the largest expected cost, then ceiling."""
    return sorted(cost.lines, key=lambda line: (-line.usd.expected, -line.usd.ceiling))[:DEAREST]


def _dearest(cost: Cost) -> Iterator[RenderableType]:
    table = _figures("resource")
    table.add_column("what", overflow="fold", style="dim")
    for name in ("floor", "expected", "ceiling"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in dearest(cost):
        table.add_row(line.resource, line.what, *_row(line.usd))
    rest = len(cost.lines) - len(dearest(cost))
    title = Text("Dearest lines", style="bold")
    if rest > 0:
        title.append(f"  {rest} more with --html or --json", style="dim")
    yield title
    yield table


def _savings(savings: Sequence[Saving]) -> Iterator[RenderableType]:
    for status, title in (
        ("counted", "Saved already, and counted"),
        ("possible", "Could be saved by a commitment, not counted"),
    ):
        of_status = [saving for saving in savings if saving.status == status]
        if not of_status:
            continue
        yield Text(title, style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(justify="right", no_wrap=True)
        table.add_column(justify="right", no_wrap=True, style="dim")
        table.add_column(overflow="fold")
        for saving in of_status:
            table.add_row(dollars(saving.usd), spread(saving), saving.what + ("  (old price)" if saving.stale else ""))
        yield table


def _alternatives(others: Sequence[Alternative]) -> RenderableType:
    table = _figures("bought otherwise")
    table.add_column("expected", justify="right", no_wrap=True)
    table.add_column("range", justify="right", no_wrap=True, style="dim")
    table.add_column("", overflow="fold", style="dim")
    for other in others:
        table.add_row(other.name, dollars(other.expected_usd), spread(other), other.why)
    return table


def notes(cost: Cost) -> list[tuple[str, str]]:
    """What a reader must know of the figures, as (`warn` or `note`, sentence)."""
    found = []
    if cost.unpriced:
        count = len(cost.unpriced)
        found.append(("warn", f"{count} {'thing is' if count == 1 else 'things are'} not priced, and in no figure:"))
        found += [("item", f"{entry.resource}, {entry.what}: {entry.reason}") for entry in cost.unpriced]
    if cost.other_region_lines:
        regions = ", ".join(sorted({line.region for line in cost.other_region_lines}))
        count = len(cost.other_region_lines)
        text = f"{count} of {len(cost.lines)} lines use prices of {regions}, not of {cost.region}, where they differ"
        found.append(("warn", text))
    if cost.stale_lines:
        usd = sum(line.usd.expected for line in cost.stale_lines)
        text = (
            f"{len(cost.stale_lines)} of {len(cost.lines)} lines, {dollars(usd)} USD of the expected cost, use a price "
            f"older than {STALE_DAYS} days (the oldest of {cost.oldest}); trainyard catalog refresh gets current ones"
        )
        found.append(("warn", text))
    if cost.low_usd != cost.high_usd:
        text = f"spot prices move: {dollars(cost.low_usd)} to {dollars(cost.high_usd)} USD is expected"
        found.append(("note", text))
    used, share = cost.assumptions["utilisation_percent"], cost.assumptions["spot_share_percent"]
    text = (
        f"expected: pools used {used['value']:g} % of the month, {share['value']:g} % of the hours of mixed pools on "
        "spot; ceiling: every pool full at on-demand prices, no tax or discount"
    )
    found.append(("note", text))
    return found


def _notes(cost: Cost) -> Iterator[RenderableType]:
    for level, text in notes(cost):
        style = {"warn": "yellow", "item": "", "note": "dim"}[level]
        yield Padding(Text(text, style=style), (0, 0, 0, 2 if level == "item" else 0))


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a stacked bar, in percent of the chart's width."""

    name: str
    usd: float
    start: float
    width: float
    colour: int


@dataclass(frozen=True, slots=True)
class Bar:
    """One stacked bar."""

    name: str
    usd: float
    end: float
    slices: tuple[Slice, ...]


COLOURS = 8


def bars(shares: Sequence[Share], scale: float) -> tuple[Bar, ...]:
    """Floor, expected and ceiling, each stacked by share; `scale` is the amount that fills the width."""
    found = []
    for name in ("floor", "expected", "ceiling"):
        start, slices = 0.0, []
        for index, share in enumerate(shares):
            usd = getattr(share.usd, name)
            width = 100 * usd / scale
            if width > 0:
                slices.append(Slice(share.name, usd, start, width, index % COLOURS))
            start += max(width, 0.0)
        found.append(Bar(name, sum(part.usd for part in slices), start, tuple(slices)))
    return tuple(found)


def as_html(cost: Cost, others: Sequence[Alternative] = ()) -> str:
    """The report as one self-contained page: no script, nothing to load."""
    scale = max(cost.total.ceiling, cost.budget_usd or 0.0, 1.0) * 1.02
    month = money_of(cost)
    sources = list(dict.fromkeys((line.source, line.date) for line in cost.lines))
    return page(
        Path(__file__).with_name("cost.html.j2"),
        {"money": dollars, "spread": spread, "a_unit": a_unit},
        cost=cost,
        others=others,
        said=month.sentence,
        mood=month.mood,
        charts=[
            ("component", cost.by_component, bars(cost.by_component, scale)),
            *([("team", cost.by_team, bars(cost.by_team, scale))] if len(cost.by_team) > 1 else []),
        ],
        budget_at=100 * cost.budget_usd / scale if cost.budget_usd else None,
        notes=notes(cost),
        lines=sorted(cost.lines, key=lambda line: (-line.usd.expected, -line.usd.ceiling)),
        colours=COLOURS,
        sources=sources,
        free_count=sum(entry.count for entry in cost.free),
    )
