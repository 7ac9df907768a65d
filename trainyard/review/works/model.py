"""A topic's answer: tables of text, which the terminal, the page and JSON show alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns. Where a table has nothing to say, `rows` is empty and it is shown as such."""

    name: str  # for machines: "pods"
    title: str  # for people
    columns: tuple[str, ...]  # for both: "pod", "nodes", "why"
    rows: tuple[tuple[str, ...], ...]  # as long as `columns`, each

    def about(self, text: str) -> Table:
        """The rows that hold a text, in any column."""
        kept = tuple(row for row in self.rows if any(text in cell for cell in row))
        return Table(self.name, self.title, self.columns, kept)

    def told_with(self, told: Callable[[str], str]) -> Table:
        """The table with each cell as `told` makes it."""
        rows = tuple(tuple(map(told, row)) for row in self.rows)
        return Table(self.name, self.title, self.columns, rows)

    def as_json(self) -> list[dict[str, str]]:
        """A mapping a row, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def tables_json(stack: str, tables: tuple[Table, ...]) -> dict[str, Any]:
    """The tables by name, in their order, under the stack that they tell of."""
    return {"stack": stack, **{table.name: table.as_json() for table in tables}}
