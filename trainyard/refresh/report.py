"""The catalogue's prices, and what a refresh found, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from trainyard.output import console
from trainyard.refresh.model import Refresh
from trainyard.refresh.overview import PricedRow


def show_refresh(found: Refresh, written: Sequence[str]) -> None:
    """What is different, what was left as it is, and which tables were written."""
    out = console()
    for cloud, reason in found.failures.items():
        out.print(Text(f"{cloud} was left out: {reason}", style="yellow"))
    different = found.different
    if different:
        table = _table()
        for name in ("table", "row"):
            table.add_column(name, overflow="fold")
        for name in ("was", "is", "change"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("unit", style="dim", overflow="fold")
        for change in different:
            percent = change.percent
            quote = change.quote
            table.add_row(
                quote.table.removesuffix(".csv"),
                quote.name,
                "new" if change.old is None else f"{change.old:g}",
                f"{quote.value:g}",
                "" if percent is None else Text(f"{percent:+.1f} %", style="red" if percent > 0 else "green"),
                quote.unit,
            )
        out.print(table)
    confirmed = len(found.changes) - len(different)
    out.print(
        f"{len(different)} differ, {confirmed} confirmed, {len(found.skipped)} left as they are "
        f"({', '.join(found.clouds)})"
    )
    for entry in found.skipped:
        out.print(Text(f"  {entry.table.removesuffix('.csv')} {entry.name}: {entry.reason}", style="dim"))
    if written:
        out.print(f"written: {', '.join(written)}")
    elif found.changes:
        out.print("nothing is written; --apply writes them")


def show_tables(rows: Sequence[PricedRow]) -> None:
    """Prints one line for each table of the catalogue."""
    table = _table()
    table.add_column("table")
    for name in ("prices", "oldest", "newest", "older than 180 days"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in dict.fromkeys(row.table for row in rows):
        mine = [row for row in rows if row.table == name]
        dates = sorted(row.date for row in mine)
        table.add_row(name, str(len(mine)), dates[0], dates[-1], str(sum(row.stale for row in mine)))
    console().print(table)


def show_rows(rows: Sequence[PricedRow]) -> None:
    """Prints one line for each price."""
    if not rows:
        console().print("no price in the catalogue is like that")
        return
    table = _table()
    for name in ("price of", "figure", "region"):
        table.add_column(name, overflow="fold")
    table.add_column("date", no_wrap=True)
    table.add_column("source", overflow="fold", style="dim")
    for row in rows:
        day = Text(row.date, style="yellow" if row.stale else "")
        table.add_row(row.name, row.figure, row.region, day, row.source)
    console().print(table)


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
