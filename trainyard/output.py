"""Where reports go: a terminal of at most a hundred columns, plain text, a pipe, or one self-contained page."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
"""Columns that a report fits into, on a terminal and as the plain text of a file."""

ENDLESS = 10_000
"""Columns where nobody watches: what reads a pipe or the log of a CI wants one line a row, and folds for itself."""

ColorSystem = Literal["auto", "standard", "256", "truecolor", "windows"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a report is to look, so that another process can write it for this one's standard output."""

    width: int
    color_system: ColorSystem | None  # None: no colour
    encoding: str


PLAIN = Look(WIDTH, None, "utf-8")
"""Plain text, as in a file."""


def console() -> Console:
    """Standard output. Colours follow it: none with NO_COLOR, in a pipe or on a terminal that is dumb."""
    from rich.console import Console  # what is told at the end is no reason to begin later

    class Output(Console):
        """Standard output, whose end is the command's to handle."""

        def on_broken_pipe(self) -> None:
            """`rich` would end the process with exit code 1, which is a verdict here."""
            raise BrokenPipeError

    found = Console()
    width = min(found.width, WIDTH) if sys.stdout.isatty() else ENDLESS
    return Output(highlight=False, width=width, color_system=None if found.no_color else "auto")


def look() -> Look:
    """How a report on standard output is to look."""
    out = console()
    colour: Any = out.color_system if out.is_terminal else None
    return Look(out.width, colour, out.encoding)


class _Text(io.StringIO):
    """Text for an output of another encoding than this process's: that decides on the characters of trees."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What the text will be encoded in."""
        return self._encoding


def rendered(write: Callable[[Console], object], how: Look) -> str:
    """What `write` prints on the console that it is given, without blanks at the ends of lines."""
    from rich.console import Console

    text = _Text(how.encoding)
    write(
        Console(
            file=text,
            width=how.width,
            color_system=how.color_system,
            force_terminal=how.color_system is not None,
            no_color=how.color_system is None,
            highlight=False,
        )
    )
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def as_text(write: Callable[[Console], object], *, soft_wrap: bool = False) -> str:
    """What `write` prints, as plain text. With `soft_wrap` no line is folded."""
    return rendered(write, Look(ENDLESS, None, PLAIN.encoding) if soft_wrap else PLAIN)


def show(write: Callable[[Console], object]) -> None:
    """Prints on standard output what `write` prints on the console that it is given."""
    sys.stdout.write(rendered(write, look()))


_SPELT = {"…": "...", "–": "-", "—": "-", "×": "x", "→": "->", "≥": ">=", "≤": "<=", "⚠": "!", "✅": "", "❌": ""}


def _spelt(error: UnicodeError) -> tuple[str, int]:
    """What an output that cannot hold a character gets instead: its letters without marks, a word, or `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = []
    for mark in error.object[error.start : error.end]:
        plain = unicodedata.normalize("NFKD", mark).encode("ascii", "ignore").decode("ascii")
        found.append(_SPELT.get(mark, plain or "?"))
    return "".join(found), error.end


def write_anything() -> None:
    """Lets standard output and error take any text, whatever the locale: what they cannot hold is spelt otherwise."""
    codecs.register_error("trainyard.spelt", _spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="trainyard.spelt")


def page(template: Path, filters: dict[str, Callable[..., Any]], *shared: Path, **values: Any) -> str:
    """A template as one self-contained page: no script, nothing to load. What is missing in `values` is an error.

    What it includes lies beside it, or in one of the folders that are `shared` with other pages.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only a page takes the time to load it

    environment = Environment(
        loader=FileSystemLoader((template.parent, *shared)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment.get_template(template.name).render(**values)
