"""What a document is made of: parts, their sections, and blocks of plain text, which the page alone makes markup of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; what stands between backticks is a command. A `mood` (good, warn, bad) makes a box of it."""

    kind: ClassVar = "text"
    text: str
    mood: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not self.text


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with what is to be said of each."""

    kind: ClassVar = "facts"
    rows: tuple[tuple[str, str], ...]

    @property
    def is_empty(self) -> bool:
        """Whether no row says anything."""
        return not self.rows


_SHORT: Final = 7
"""Rows of a table that is not cut where a page ends: with three lines each, a third of a sheet. Of a longer one, two
rows stay together at either end (`document.css.j2`), so that no table leaves half a sheet empty."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; the columns in `numbers` are set as such. The last row of one with a `total` is the sum."""

    kind: ClassVar = "grid"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    numbers: frozenset[int] = frozenset()
    total: bool = False
    small: bool = False  # of evidence: many rows

    @property
    def is_figures(self) -> bool:
        """Whether all but the first column are numbers, so that a telephone has room for them beside each other."""
        return len(self.columns) <= 5 and self.numbers >= set(range(1, len(self.columns)))

    @property
    def styles(self) -> str:
        """How the table is set: `small` evidence, `figures` on a telephone, `short` on one sheet of paper."""
        kinds = {"small": self.small, "figures": not self.small and self.is_figures, "short": len(self.rows) <= _SHORT}
        return " ".join(kind for kind, is_so in kinds.items() if is_so)

    @property
    def is_empty(self) -> bool:
        """Whether there is no row."""
        return not self.rows


@dataclass(frozen=True, slots=True)
class Points:
    """A list under a title; in order where it is `ordered`."""

    kind: ClassVar = "points"
    items: tuple[str, ...]
    title: str = ""
    ordered: bool = False
    lead: str = ""  # between title and list

    @property
    def is_empty(self) -> bool:
        """Whether there is no item."""
        return not self.items


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the page draws itself, by name: the bar of the money, the picture, the curves of a smoke result."""

    kind: ClassVar = "drawn"
    name: str
    index: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return False


Block = Text | Facts | Grid | Points | Drawn


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it."""

    key: str  # for links and tests
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""  # a sentence that says what the section answers
    wide: bool = False  # drawn over the whole page


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the document for one reader."""

    key: str
    title: str
    reader: str
    sections: tuple[Section, ...]


def section(key: str, title: str, blocks: Iterable[Block], lead: str = "", *, wide: bool = False) -> Section:
    """A section of those blocks that say something."""
    return Section(key, title, tuple(block for block in blocks if not block.is_empty), lead, wide)


def part(key: str, title: str, reader: str, sections: Iterable[Section]) -> Part:
    """A part of those sections that say something."""
    return Part(key, title, reader, tuple(one for one in sections if one.blocks))
