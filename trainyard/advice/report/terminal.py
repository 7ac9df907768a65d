"""What recommendations and estimates have in common on the terminal, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from trainyard.advice.units import short
from trainyard.advice.workload import Workload


def table(*headings: str, gap: int = 2) -> Table:
    """An empty table without lines, its columns `gap` blanks apart and never wrapped."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for heading in headings:
        made.add_column(heading, no_wrap=True)
    return made


def work_line(workload: Workload) -> str:
    """The model and how much it is trained on."""
    model = workload.work.model
    name = model.name if model.name.endswith("parameters") else f"{model.name}, {short(model.params)} parameters"
    if workload.images is not None:
        return f"{name}, {short(workload.images)} images"
    return f"{name}, {short(workload.work.tokens)} tokens"


def speed(workload: Workload, per_second: float) -> tuple[float, str]:
    """What a fit does in a second and its unit: images for vision, tokens for the rest."""
    if workload.images is None:
        return per_second, "tokens/s"
    return per_second / workload.work.sequence, "images/s"


def bullet(out: Console, name: str, text: str, style: str = "bold") -> None:
    """A named line, folded beside its name."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=17 if name == "no recommendation" else 13, style=style, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(name, escape(text))
    out.print(Padding(grid, (0, 0, 0, 2)))


def bullets(out: Console, name: str, texts: Iterable[str], style: str = "bold") -> None:
    """Several lines, the first of them named."""
    for index, text in enumerate(texts):
        bullet(out, "" if index else name, text, style)
