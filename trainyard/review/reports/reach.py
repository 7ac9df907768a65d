"""What a team can reach and do, in the terminal: one table a section."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from trainyard.review.reach.model import Reach, Section


def report(reach: Reach) -> RenderableType:
    """Every section under its title, what is shut last in it."""
    parts: list[RenderableType] = []
    for section in reach.sections:
        parts += [*([Text()] if parts else []), Text(section.title, style="bold"), _table(section)]
    return Group(*parts)


def _table(section: Section) -> RenderableType:
    if not section.rows:
        return Text("none", style="dim")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("what", overflow="fold", ratio=3)
    table.add_column("may", overflow="fold", ratio=2)
    table.add_column("by", overflow="fold", style="dim", ratio=4)
    for row in section.rows:
        may = Text(", ".join(row.may)) if row.may else Text("nothing", style="green")
        table.add_row(Text(", ".join(row.what)), may, Text(row.why))
    return table
