"""A handover as one self-contained page: no script, nothing to load, set for the screen, the telephone and paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

from trainyard.output import page
from trainyard.review.handover import proof
from trainyard.review.handover.agency import Look
from trainyard.review.handover.model import Part
from trainyard.review.handover.subject import Subject
from trainyard.review.reports import page as rehearsal_page
from trainyard.review.reports.page_parts import FILTERS, commands, money_bar
from trainyard.review.reports.picture.layout import drawings
from trainyard.review.reports.picture.lettering import STYLES
from trainyard.review.reports.picture.look import COLOURS
from trainyard.review.reports.picture.words import said_of
from trainyard.smoke_jobs.report.curves import SERIES_COLOURS, svg, swatch

SHARED: Final = Path(rehearsal_page.__file__).parent
"""Where the palette and the picture are set, which the rehearsal's page has too."""


MOODS: Final = {
    **dict.fromkeys(("error", "mandatory", "fail", "critical", "bad"), "bad"),
    **dict.fromkeys(("warning", "advisory", "below", "warn"), "warn"),
    **dict.fromkeys(("pass", "holds"), "good"),
}
"""Words of a table that have a colour."""


def mooded(cell: str) -> Markup:
    """A cell of a table: a word that is good or bad in its colour, what stands between backticks as a command, and
    numbers of three signs and more, dates and short words with a hyphen whole; a path breaks at its strokes."""
    mood = MOODS.get(cell)
    if mood:
        return Markup('<span class="word {}">{}</span>').format(mood, cell)
    parts = re.split(r"(<code>.*?</code>|<[^>]+>)", str(unbroken(commands(cell))))
    whole = [part if part.startswith("<") else _TOGETHER.sub(_on_one_line, part) for part in parts]
    broken = [part if part.startswith("<") else _AFTER_SLASH.sub("/<wbr>", part) for part in whole]
    return Markup("".join(broken))  # noqa: S704 (`unbroken` escapes)


def _on_one_line(found: re.Match[str]) -> str:
    return f'<span class="nb">{found[0]}</span>' if len(found[0]) > 2 else found[0]


_RANGE: Final = re.compile(r"\((\d[\d.,k]*)-(\d[\d.,k]*)\)")
_TOGETHER: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d\b"  # a date
    r"|(?<![\w.,#/\u2060-])\(?[−-]?\d[\d.,]*\d\)?(?![\w/\u2060-])"  # a number
    r"|(?:\d+ × )?(?<![\w./:@-])[A-Za-z]\w{0,4}-\w{2,6}(?![\w./:@-])"  # A100-40GB, on-demand
)
_AFTER_SLASH: Final = re.compile(r"(?<=\w)/(?=\w)")
_PERCENT: Final = re.compile(r"(?<=\d) %")
_JOINER: Final = "\N{WORD JOINER}"


def unbroken(text: str) -> Markup:
    """The text with its ranges, `(0.55-4.5)`, and its per cents each on one line, however narrow the column."""
    ranges = _RANGE.sub(rf"(\1{_JOINER}-{_JOINER}\2)", escape(text))
    return Markup(_PERCENT.sub("\N{NO-BREAK SPACE}%", ranges))  # noqa: S704 (escaped, or markup before)


def css_text(text: str) -> Markup:
    """A text inside of quotes in a style sheet: whatever could end them, or the element, is spelt by its number."""
    return Markup("".join(one if one.isalnum() or one == " " else f"\\{ord(one):x} " for one in text))  # noqa: S704


DOCUMENT_FILTERS: Final = {**FILTERS, "mooded": mooded, "unbroken": unbroken, "css_text": css_text}


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the figures on the first page."""

    figure: str
    unit: str
    label: str
    mood: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """What stands in a box on the first page."""

    mood: str  # good, warn, bad
    state: str  # one or two words
    headline: str
    counts: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says; the page says how it looks."""

    kind: str  # "Handover"
    over: str  # above the title
    title: str
    meta: tuple[str, ...]
    banners: tuple[Banner, ...]
    tiles: tuple[Tile, ...]
    parts: tuple[Part, ...]
    foot: str


def as_html(document: Document, subject: Subject, look: Look) -> str:
    """The document as a page, in the look of an agency."""
    return page(
        Path(__file__).with_name("document.html.j2"),
        DOCUMENT_FILTERS,
        SHARED,
        outcome=subject.review,
        document=document,
        parts=document.parts,
        look=look,
        **_drawn(subject),
    )


def _drawn(subject: Subject) -> Mapping[str, Any]:
    """What the page draws."""
    money = subject.review.verdict.money
    return {
        "money": money,
        "bar": money_bar(money) if money is not None else None,
        "drawings": drawings(subject.picture),
        "picture_said": said_of(subject.picture),
        "lettering": STYLES,
        "colours": COLOURS,
        "series": SERIES_COLOURS,
        "swatch": lambda index, dashed: Markup(swatch(index, dashed=dashed)),  # noqa: S704 (of fixed shapes)
        "has_pools": any(cluster.pools for cluster in subject.picture.clusters),
        "curves": [
            [(chart, Markup(made)) for chart in proof.charts(document) if (made := svg(chart))]  # noqa: S704 (`svg` escapes)
            for document in subject.smoke
        ],
    }
