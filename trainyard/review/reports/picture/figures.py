"""Small drawings in a picture: nodes, bars and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainyard.review.reports.picture.blocks import NOTHING, Placed, flow
from trainyard.review.reports.picture.lettering import SOFT, clipped, printable, width_of
from trainyard.review.reports.picture.shapes import Box, Shape, Text

_CHIP_HEIGHT: Final = 19.0
_CHIP_SIDE: Final = 6.0
_NODE: Final = 12.0
_NODE_STEP: Final = 15.0
_BAR: Final = 12.0
_TICK: Final = 5.0
_TICK_WIDTH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Chips:
    """Short texts, each in a small box of its own. One that is too long for a line is cut, and told in a hint."""

    chips: Sequence[tuple[str, str]]  # style and text

    def place(self, width: float) -> Placed:
        """From left to right, then below."""
        return flow((_chip(style, printable(text), width) for style, text in self.chips), width, 4.0)


def _chip(style: str, full: str, width: float) -> Box:
    text = clipped(full, width - 2 * _CHIP_SIDE, SOFT)
    label = Text(_CHIP_SIDE, SOFT.size + 1.5, text, SOFT)
    hint = full if text != full else ""
    return Box(0.0, 0.0, width_of(text, SOFT) + 2 * _CHIP_SIDE, _CHIP_HEIGHT, style, (label,), hint)


@dataclass(frozen=True, slots=True)
class Nodes:
    """A square a node: those that always run are full. Of more than a line holds, a number tells the rest."""

    always: int
    most: int

    def place(self, width: float) -> Placed:
        """As many squares as fit."""
        if not self.most:
            return NOTHING
        shown = self.most
        if shown * _NODE_STEP > width:
            shown = max(0, int((width - width_of(f"+{self.most:,}", SOFT)) // _NODE_STEP))
        squares: list[Shape] = [
            Box(index * _NODE_STEP, 0.0, _NODE, _NODE, "node always" if index < self.always else "node")
            for index in range(shown)
        ]
        if shown < self.most:
            squares.append(Text(shown * _NODE_STEP, _NODE - 1, f"+{self.most - shown:,}", SOFT))
        return Placed(_NODE, tuple(squares))


@dataclass(frozen=True, slots=True)
class Bar:
    """Parts of a whole, side by side; what is left of it stays empty."""

    parts: Sequence[tuple[str, float]]  # style, and part of one
    marks: Sequence[float] = ()  # points of it, told below it, in parts of one

    def place(self, width: float) -> Placed:
        """The whole, the parts in it, the marks below."""
        left, drawn = 0.0, []
        for style, part in self.parts:
            right = min(width, left + width * part)
            if right > left:
                drawn.append(Box(left, 0.0, right - left, _BAR, style))
            left = right
        shapes: list[Shape] = [Box(0.0, 0.0, width, _BAR, "whole", tuple(drawn))]
        last = -_TICK_WIDTH
        for mark in sorted(set(self.marks)):
            at = min(max(0.0, width * mark - _TICK_WIDTH / 2), width - _TICK_WIDTH)
            if at >= last + _TICK_WIDTH:
                shapes.append(Box(at, _BAR, _TICK_WIDTH, _TICK, "tick"))
                last = at
        return Placed(_BAR + (_TICK if self.marks else 0.0), tuple(shapes))
