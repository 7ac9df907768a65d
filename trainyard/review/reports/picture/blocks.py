"""Blocks that take the width they are given and say how high that makes them: text, frames, stacks, grids.

What a block draws stays within that width and height, and its shapes never overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from trainyard.review.reports.picture.lettering import NAME, PLAIN, SOFT, Style, broken, printable, width_of
from trainyard.review.reports.picture.shapes import Box, Shape, Text, moved

GAP: Final = 8.0
PADDING: Final = 9.0
_BASELINE: Final = 0.95
"""Where the baseline of a line is, in parts of the font size from its top."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What a block draws at a width, from its own corner, and how high it is."""

    height: float
    shapes: tuple[Shape, ...] = ()


NOTHING: Final = Placed(0.0)


class Block(Protocol):
    """What can be drawn."""

    def place(self, width: float) -> Placed:
        """Its shapes at a width."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text over as many lines as it needs; nothing for no text."""

    text: str
    style: Style = PLAIN

    def place(self, width: float) -> Placed:
        """Line by line."""
        lines = broken(printable(self.text), width, self.style)
        shapes = (
            Text(0.0, index * self.style.line + self.style.size * _BASELINE, line, self.style)
            for index, line in enumerate(lines)
        )
        return Placed(len(lines) * self.style.line, tuple(shapes))


@dataclass(frozen=True, slots=True)
class Heading:
    """A name, and at the right, or below where there is no room, what it is."""

    name: str
    aside: str = ""
    style: Style = NAME

    def place(self, width: float) -> Placed:
        """On one line, or one below the other."""
        name, aside = printable(self.name), printable(self.aside)
        if not aside or width_of(name, self.style) + width_of(aside, SOFT) + GAP > width:
            return Stack((Lines(name, self.style), Lines(aside, SOFT)), gap=0).place(width)
        baseline = self.style.size * _BASELINE
        texts = (Text(0.0, baseline, name, self.style), Text(width, baseline, aside, SOFT, ends=True))
        return Placed(self.style.line, texts if name else texts[1:])


@dataclass(frozen=True, slots=True)
class Stack:
    """Blocks one below the other; those without height leave no gap."""

    blocks: Sequence[Block]
    gap: float = GAP

    def place(self, width: float) -> Placed:
        """From the top."""
        return _below([block.place(width) for block in self.blocks], self.gap)


def _below(parts: Sequence[Placed], gap: float) -> Placed:
    shapes: list[Shape] = []
    top = 0.0
    for part in parts:
        if part.height:
            top += gap if top else 0.0
            shapes += (moved(shape, 0.0, top) for shape in part.shapes)
            top += part.height
    return Placed(top, tuple(shapes))


@dataclass(frozen=True, slots=True)
class Frame:
    """A box around a block."""

    style: str
    body: Block
    hint: str = ""
    padding: float = PADDING

    def place(self, width: float) -> Placed:
        """The box, with the body in it."""
        inner = self.body.place(width - 2 * self.padding)
        parts = tuple(moved(shape, self.padding, self.padding) for shape in inner.shapes)
        height = inner.height + 2 * self.padding
        return Placed(height, (Box(0.0, 0.0, width, height, self.style, parts, printable(self.hint)),))


@dataclass(frozen=True, slots=True)
class Grid:
    """Frames side by side in columns of one width, as many as fit, in rows of one height."""

    frames: Sequence[Frame]
    narrowest: float

    def place(self, width: float) -> Placed:
        """Row by row. Rows are filled evenly: four frames in rows of two rather than of three and one."""
        if not self.frames:
            return NOTHING
        fit = max(1, int((width + GAP) // (self.narrowest + GAP)))
        columns = math.ceil(len(self.frames) / math.ceil(len(self.frames) / fit))
        column = (width - GAP * (columns - 1)) / columns
        placed = [frame.place(column) for frame in self.frames]
        rows = (placed[start : start + columns] for start in range(0, len(placed), columns))
        return _below([_row(row, column + GAP) for row in rows], GAP)


def _row(row: Sequence[Placed], step: float) -> Placed:
    """Frames side by side, all as high as the highest."""
    height = max(frame.height for frame in row)
    shapes = (
        moved(replace(shape, height=height) if isinstance(shape, Box) else shape, index * step, 0.0)
        for index, frame in enumerate(row)
        for shape in frame.shapes
    )
    return Placed(height, tuple(shapes))


@dataclass(frozen=True, slots=True)
class Beside:
    """Two columns where there is the width for them, else all one below the other."""

    left: Sequence[Block]
    right: Sequence[Block]
    rest: Sequence[Block]  # each goes below the column that is shorter
    share: float  # of the width that is the left one's
    least: float  # width from which on they stand side by side

    def place(self, width: float) -> Placed:
        """Left, then right; one alone has all the width."""
        if width < self.least or not self.left or not (self.right or self.rest):
            return Stack((*self.left, *self.right, *self.rest)).place(width)
        share = (width - GAP) * self.share
        widths, columns = (share, width - GAP - share), [Stack(self.left), Stack(self.right)]
        left, right = (column.place(wide) for column, wide in zip(columns, widths, strict=True))
        for block in self.rest:
            shorter = 0 if left.height < right.height else 1
            columns[shorter] = Stack((*columns[shorter].blocks, block))
            left, right = (column.place(wide) for column, wide in zip(columns, widths, strict=True))
        beside = (moved(shape, share + GAP, 0.0) for shape in right.shapes)
        return Placed(max(left.height, right.height), (*left.shapes, *beside))


def flow(boxes: Iterator[Box], width: float, gap: float) -> Placed:
    """Boxes of one height from left to right, then below."""
    shapes: list[Shape] = []
    left = top = high = 0.0
    for box in boxes:
        if left and left + box.width > width:
            left, top = 0.0, top + high + gap
        high = box.height
        shapes.append(moved(box, left, top))
        left += box.width + gap
    return Placed(top + high, tuple(shapes))
