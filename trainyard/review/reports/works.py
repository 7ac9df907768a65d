"""What is told of the played environment, in the terminal: one table under its title each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from trainyard.review.works.model import Table


def report(tables: Sequence[Table]) -> RenderableType:
    """Every table; one without rows says so."""
    parts: list[RenderableType] = []
    for table in tables:
        parts += [*([Text()] if parts else []), Text(table.title, style="bold"), _shown(table)]
    return Group(*parts)


def _shown(table: Table) -> RenderableType:
    if not table.rows:
        return Text("none", style="dim")
    shown = RichTable(box=None, pad_edge=False, header_style="dim")
    for column in table.columns:
        shown.add_column(column, overflow="fold")
    for row in table.rows:
        shown.add_row(*map(Text, row))
    return shown
