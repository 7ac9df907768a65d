"""Where reports go: a terminal of at most a hundred columns, plain text, or one self-contained page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

WIDTH = 100
"""Columns that a report in the terminal fits into, and has where nobody watches (a pipe, CI)."""


def console() -> Console:
    """Standard output. Colours follow it: none with NO_COLOR or in a pipe."""
    found = Console(highlight=False)
    return Console(highlight=False, width=min(found.width, WIDTH) if found.is_terminal else WIDTH)


def as_text(write: Callable[[Console], object], *, soft_wrap: bool = False) -> str:
    """What `write` prints on the console that it is given, as plain text. With `soft_wrap` no line is folded."""
    text = io.StringIO()
    write(Console(file=text, width=WIDTH, color_system=None, highlight=False, soft_wrap=soft_wrap))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def page(template: Path, filters: dict[str, Callable[..., Any]], **values: Any) -> str:
    """A template as one self-contained page: no script, nothing to load. What is missing in `values` is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only a page takes the time to load it

    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment.get_template(template.name).render(**values)
