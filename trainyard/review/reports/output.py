"""Where reports go: a terminal of at most a hundred columns, plain text, or one self-contained page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from rich.console import Console, RenderableType

WIDTH = 100
"""Columns that a report in the terminal fits into."""


def show(report: RenderableType, console: Console | None = None) -> None:
    """Prints a report. Colours follow the console: none with NO_COLOR or in a pipe."""
    if console is None:
        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=WIDTH)
    console.print(report, width=min(console.width, WIDTH))


def as_text(report: RenderableType) -> str:
    """A report as plain text."""
    buffer = io.StringIO()
    show(report, Console(file=buffer, width=WIDTH, color_system=None, highlight=False))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def page(template: str, filters: dict[str, Callable[..., Any]], **values: Any) -> str:
    """A template beside this module as one self-contained page: no script, nothing to load."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(filters)
    return environment.get_template(template).render(**values)
