"""How wide text is, and where it is broken, for drawings whose fonts are the reader's own.

Widths are those of DejaVu Sans 2.37 in parts of the font size, rounded up to a twentieth (read from the font's `hmtx`
table, 2026-11-22): it is the widest of the usual sans-serif fonts, so that what fits in it fits in the others.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

NO_BREAK: Final = "\N{NO-BREAK SPACE}"

_REGULAR: Final = {
    0.30: "'IJijl", 0.35: " ,./:;\\|", 0.40: "()-[]ft", 0.45: "!r", 0.50: '"*_`', 0.55: "?csz", 0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}", 0.70: "ABCKRVXZ", 0.75: "NU", 0.80: "&DGHOQ", 0.85: "#+<=>^w~×→",
    0.90: "M", 1.00: "%@Wm",
}  # fmt: skip
_BOLD: Final = {
    0.35: " 'ijl", 0.40: ",./:;IJ\\|", 0.45: "-f", 0.50: "!()[]_`rt", 0.55: '"*', 0.60: "?csz", 0.65: "Lx",
    0.70: "$0123456789EFTaekovy", 0.75: "CPSYZbdghnpqu{}", 0.80: "ABKRVX", 0.85: "#+<=>DGHNU^~×→", 0.90: "&OQ",
    0.95: "w", 1.00: "@M", 1.05: "%m", 1.15: "W",
}  # fmt: skip
_WIDTHS: Final = {
    bold: {c: width for width, characters in table.items() for c in characters.replace(" ", f" {NO_BREAK}")}
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}
_OTHER: Final = 1.15
"""Width of a character that is not in the tables, and a little more than that of one that fills the square of an
ideograph."""

_SPACES: Final = re.compile(rf"[^\S{NO_BREAK}]+")
_ELLIPSIS: Final = "…"
MOST_LINES: Final = 6
"""Most lines of one text: a name of a thousand characters is cut."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a text looks: CSS class, size in pixels at the drawing's own width, weight."""

    name: str
    size: float
    bold: bool = False

    @property
    def line(self) -> float:
        """Height of a line."""
        return round(self.size * 1.35, 1)


TITLE: Final = Style("title", 14.5, bold=True)
NAME: Final = Style("name", 13, bold=True)
PLAIN: Final = Style("plain", 12.5)
SOFT: Final = Style("soft", 12.5)
STYLES: Final = (TITLE, NAME, PLAIN, SOFT)


def printable(text: str) -> str:
    """`text` on one line, with a mark for every character that a page cannot hold. A no-break space stays one."""
    line = _SPACES.sub(" ", text).strip(" ")
    return "".join(c if c.isprintable() or c == NO_BREAK else "\N{REPLACEMENT CHARACTER}" for c in line)


def width_of(text: str, style: Style) -> float:
    """Pixels that a text takes at most."""
    widths = _WIDTHS[style.bold]
    return style.size * sum(widths.get(character) or _other(character) for character in text)


def _other(character: str) -> float:
    return 0.0 if unicodedata.combining(character) else _OTHER


def clipped(text: str, width: float, style: Style) -> str:
    """`text`, or as much of it as fits with an ellipsis."""
    if width_of(text, style) <= width:
        return text
    while text and width_of(text + _ELLIPSIS, style) > width:
        text = text[:-1]
    return text.rstrip() + _ELLIPSIS


def broken(text: str, width: float, style: Style) -> list[str]:
    """`text` in lines that fit: broken at spaces, and within what is longer than a line. No line for no text."""
    lines: list[str] = []
    line = ""
    for word in filter(None, text.split(" ")):
        longer = f"{line} {word}" if line else word
        if width_of(longer, style) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        while width_of(word, style) > width and len(lines) <= MOST_LINES:
            head = _head(word, width, style)
            lines.append(head)
            word = word[len(head) :]
        line = word
        if len(lines) > MOST_LINES:
            break
    lines += [line] if line else []
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[: MOST_LINES - 1], clipped(f"{lines[MOST_LINES - 1]}{_ELLIPSIS}{_ELLIPSIS}", width, style)]


def _head(word: str, width: float, style: Style) -> str:
    """As many of the first characters as fit, and one at least; after a hyphen, dot or slash where there is one."""
    end = 1
    while end < len(word) and width_of(word[: end + 1], style) <= width:
        end += 1
    good = max(word[:end].rfind(mark) for mark in "-./_:")
    return word[: good + 1] if good > end // 2 else word[:end]
