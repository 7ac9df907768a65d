"""What a drawing is made of: boxes, with boxes and texts in them, in pixels at the drawing's own width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from trainyard.review.reports.picture.lettering import Style, width_of

_LONGEST: Final = 1.6  # heights in widths, with which text of 12.5 pixels has 6 points on a sheet of A4


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; `x` is where it starts, or where it ends, and `y` its baseline."""

    x: float
    y: float
    text: str
    style: Style
    ends: bool = False

    @property
    def left(self) -> float:
        """Where it starts at the left-most."""
        return self.x - width_of(self.text, self.style) if self.ends else self.x

    @property
    def right(self) -> float:
        """Where it ends at the right-most."""
        return self.x if self.ends else self.x + width_of(self.text, self.style)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with what lies in it, placed from its own corner.

    `style` is its CSS class; `hint` is told where a pointer rests on it.
    """

    x: float
    y: float
    width: float
    height: float
    style: str
    parts: tuple[Shape, ...] = ()
    hint: str = ""


Shape: TypeAlias = "Text | Box"
"""Both have a place of their own: nothing beside them overlaps them."""


def moved(shape: Shape, right: float, down: float) -> Shape:
    """The same shape elsewhere."""
    return replace(shape, x=shape.x + right, y=shape.y + down)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A whole drawing. `name` tells several of one page apart."""

    name: str
    width: float
    height: float
    shapes: tuple[Shape, ...]

    @property
    def is_long(self) -> bool:
        """Whether it takes several sheets of paper: on one, too little of it could be read."""
        return self.height > _LONGEST * self.width
