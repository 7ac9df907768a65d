"""Curves as inline SVG: no script, no font, no library, so a page stays one file and prints.

Colours come from the page's style sheet (`series-0` …), which has a light and a dark set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 500, 290
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 44

SERIES_COLOURS = 6
"""Classes that the style sheet has; further series begin again."""

_MARKS = (
    "M3.4 0A3.4 3.4 0 1 1-3.4 0A3.4 3.4 0 1 1 3.4 0Z",  # a circle
    "M-3-3H3V3H-3Z",
    "M0-4.2L4.2 0L0 4.2L-4.2 0Z",
    "M0-4L3.8 3H-3.8Z",
    "M0 4L3.8-3H-3.8Z",
    "M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5",
)
"""The shape of each colour's points, around the point in pixels: a printer without colours tells lines apart by it."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line; x above 0 and ascending, y at least 0."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False  # a reference, not a measurement


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with a logarithmic x axis to base 2, and a y axis from 0 or, where `log_y`, logarithmic to base 10."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_text: Callable[[float], str]
    log_y: bool = False
    lines: tuple[tuple[float, str], ...] = field(default=())  # horizontal: value, text


def bytes_text(value: float) -> str:
    """A size in bytes, short: 4194304 -> "4 MiB"."""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:g} {unit}"
        value /= 1024
    return f"{value:g} GiB"


def number_text(value: float) -> str:
    """A number, short: 40000 -> "40k", 0.05 -> "0.05"."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.4g}{unit}"
    return f"{value:.4g}"


def svg(chart: Chart) -> str:
    """The chart; an empty text without points."""
    xs = sorted({x for line in chart.series for x, _ in line.points})
    ys = [y for line in chart.series for _, y in line.points] + [value for value, _ in chart.lines]
    if not xs or not any(y > 0 for y in ys):
        return ""
    place = _Scale(xs[0], xs[-1], ys, chart.log_y)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">',
        *_grid(chart, place, xs),
    ]
    for value, text in chart.lines:
        y = place.y(value)
        parts.append(f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="limit-text" x="{WIDTH - RIGHT}" y="{y - 5:.1f}" text-anchor="end">{escape(text)}</text>'
        )
    for index, line in enumerate(chart.series):
        parts += _line(chart, line, index, place)
    return "".join([*parts, "</svg>"])


class _Scale:
    def __init__(self, low: float, high: float, ys: Sequence[float], log_y: bool) -> None:
        self._low, self._high, self._log = math.log2(low), math.log2(high), log_y
        positive = [y for y in ys if y > 0]
        if log_y:
            self.bottom = 10 ** math.floor(math.log10(min(positive)))
            self.top = 10 ** math.ceil(math.log10(max(positive)) + 1e-9)
        else:
            self.step = _step(max(positive) * 1.08)
            self.bottom, self.top = 0.0, math.ceil(max(positive) * 1.08 / self.step) * self.step

    def x(self, value: float) -> float:
        if self._high == self._low:
            return (LEFT + WIDTH - RIGHT) / 2
        share = (math.log2(value) - self._low) / (self._high - self._low)
        return LEFT + 8 + share * (WIDTH - RIGHT - LEFT - 16)

    def y(self, value: float) -> float:
        if self._log:
            bottom, top = math.log10(self.bottom), math.log10(self.top)
            share = (math.log10(max(value, self.bottom)) - bottom) / (top - bottom)
        else:
            share = value / self.top
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def ticks(self) -> list[float]:
        if self._log:
            count = round(math.log10(self.top / self.bottom))
            return [self.bottom * 10**n for n in range(count + 1)]
        return [self.step * n for n in range(round(self.top / self.step) + 1)]


def _step(top: float) -> float:
    """A round step that makes four to eight ticks."""
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    return float(power * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda factor: abs(factor * power - raw)))


def _grid(chart: Chart, place: _Scale, xs: Sequence[float]) -> list[str]:
    parts = []
    floor = HEIGHT - BOTTOM
    for tick in place.ticks():
        y = place.y(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number_text(tick)}</text>')
    every = -(-len(xs) // 7)
    for index, x in enumerate(xs):
        # The largest always has its label: counted from the end.
        if (len(xs) - 1 - index) % every == 0:
            text = escape(chart.x_text(x))
            parts.append(f'<text x="{place.x(x):.1f}" y="{floor + 18}" text-anchor="middle">{text}</text>')
        parts.append(f'<line class="tick" x1="{place.x(x):.1f}" x2="{place.x(x):.1f}" y1="{floor}" y2="{floor + 4}"/>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="label" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(chart.x_label)}</text>'
    )
    parts.append(f'<text class="label" x="0" y="14">{escape(chart.y_label)}</text>')
    return parts


def _line(chart: Chart, line: Series, index: int, place: _Scale) -> list[str]:
    style = f"series-{index % SERIES_COLOURS}" + (" dashed" if line.dashed else "")
    points = [(place.x(x), place.y(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline class="{style}" points="{path}"/>']
    if not line.dashed:
        for (x, y), (raw_x, raw_y) in zip(points, line.points, strict=True):
            text = f"{line.name}: {chart.x_text(raw_x)}, {raw_y:.4g} {chart.y_label}"
            parts.append(
                f'<path class="{style}" d="{_mark(index)}" transform="translate({x:.1f} {y:.1f})">'
                f"<title>{escape(text)}</title></path>"
            )
    return parts


def _mark(index: int) -> str:
    return _MARKS[index % SERIES_COLOURS]


def swatch(index: int, *, dashed: bool = False) -> str:
    """What a legend has before the name of a line: a piece of it, with the shape of its points."""
    style = f"series-{index % SERIES_COLOURS}" + (" dashed" if dashed else "")
    point = "" if dashed else f'<path class="{style}" d="{_mark(index)}" transform="translate(14 6)"/>'
    line = f'<polyline class="{style}" points="0,6 28,6"/>'
    return f'<svg viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">{line}{point}</svg>'
