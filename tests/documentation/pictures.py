"""The pictures of the site, drawn by the commands that they show."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable

from rich.console import Console

from tests.shared import ROOT
from trainyard.output import WIDTH
from trainyard.review.reports import page, terminal
from trainyard.review.review import Outcome, review

TERMINAL = "pictures/rehearse-demo.svg"
REPORT = "pictures/rehearse-demo.html"

# As the library's own, without the font that it loads from elsewhere.
_FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


@functools.cache
def _demo() -> Outcome:
    return review(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml")


def terminal_picture() -> str:
    """What `trainyard rehearse demo --tree` prints first, as a picture of a terminal."""
    screen = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    screen.print(terminal.head(_demo()))
    return screen.export_svg(title="trainyard rehearse demo", code_format=_FRAME, unique_id="rehearse")


def report() -> str:
    """The page that `trainyard rehearse demo --html` writes."""
    return page.as_html(_demo())


PICTURES: dict[str, Callable[[], str]] = {TERMINAL: terminal_picture, REPORT: report}
"""How each picture is drawn, by its place on the site."""


def shown(readme: str) -> str:
    """The README as the site's first page: what the demo prints is a picture, with the whole report behind it."""
    before, title, after = readme.partition("## What `make demo` shows\n")
    prose, _, rest = after.partition("```\n")
    picture = f"![What trainyard rehearse demo prints]({TERMINAL})\n\n[The whole report]({REPORT})\n"
    return f"{before}{title}{prose}{picture}{rest.partition('```' + chr(10))[2]}"
