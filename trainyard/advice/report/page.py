"""A recommendation as one self-contained page: the ranked options, hours against cost, and the comparison as bars."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.advice import Comparison, Option, Recommendation
from trainyard.advice.report.recommendation_text import as_text, headline
from trainyard.advice.units import duration, minutes, money, short
from trainyard.output import page

WIDTH, HEIGHT = 920, 420
CLEAR = 19
"""Least distance of two numbers in the picture, pixels."""
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 16, 50
COLOURS = (
    "#0b6e99", "#c2571a", "#4f7a28", "#8a3ffc", "#b0275a", "#6b5b00", "#00786f",
    "#7a4a2b", "#5a6270", "#2a52be", "#a8328a", "#3d7ea6", "#9c6f00", "#546e00",
)  # fmt: skip
"""Colours of the picture, one for each GPU model or part of a bar."""
PEOPLE = "#5a6270"


@dataclass(frozen=True, slots=True)
class Dot:
    """A way that fits, in the picture's pixels."""

    x: float
    y: float
    colour: str
    title: str
    place: int  # in the ranking; 0: not shown there
    spot: bool
    label_y: float  # where the number stands, clear of the others


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a stacked bar, in percent of the widest."""

    start: float
    width: float
    colour: str
    title: str


def as_html(recommendation: Recommendation, comparison: Comparison | None = None) -> str:
    """The page. It loads nothing and follows the reader's light or dark setting."""
    points = _sampled(recommendation)
    gpus = list(dict.fromkeys(point.machine.gpu.name for point in points))
    colours = {gpu: COLOURS[index % len(COLOURS)] for index, gpu in enumerate(gpus)}
    dots, x_ticks, y_ticks, deadline = _picture(recommendation, points, colours)
    return page(
        Path(__file__).with_name("page.html.j2"),
        {"duration": duration, "money": money, "short": short, "minutes": minutes},
        headline=headline(recommendation),
        recommendation=recommendation,
        options=recommendation.options or recommendation.nearest,
        dots=dots,
        x_ticks=x_ticks,
        y_ticks=y_ticks,
        deadline=deadline,
        colours=colours,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        comparison=comparison,
        bars=_bars(comparison) if comparison else [],
        payback=comparison.payback_months if comparison else None,
        infinite=math.inf,
        text=as_text(recommendation, comparison, explain=True),
    )


def _sampled(recommendation: Recommendation) -> list[Option]:
    """The ways that fit, the cheapest of a kind of node, count and capacity: sizes of one GPU would lie on a heap."""
    best: dict[tuple[str, int, int, str], Option] = {}
    for point in recommendation.points:
        key = (point.machine.gpu.name, point.machine.gpus, point.nodes, point.capacity)
        if key not in best or point.cost_usd.typical < best[key].cost_usd.typical:
            best[key] = point
    for option in recommendation.options:
        best[option.machine.gpu.name, option.machine.gpus, option.nodes, option.capacity] = option
    return list(best.values())


def _picture(
    recommendation: Recommendation, points: list[Option], colours: dict[str, str]
) -> tuple[list[Dot], list[Tick], list[Tick], float | None]:
    if not points:
        return [], [], [], None
    deadline = recommendation.deadline_hours
    hours = [point.hours.typical for point in points]
    costs = [point.cost_usd.typical for point in points]
    # What takes ten times as long as allowed only squeezes the rest.
    far = max(deadline * 10, min(hours) * 4)
    x_of, x_ticks = _axis(min(hours), min(max(*hours, deadline), far), LEFT, WIDTH - RIGHT)
    inside = [cost for cost, hour in zip(costs, hours, strict=True) if hour <= far]
    y_of, y_ticks = _axis(min(inside), max(inside), HEIGHT - BOTTOM, TOP)
    places = {id(option): place for place, option in enumerate(recommendation.options, 1)}
    dots = [
        Dot(
            round(x_of(point.hours.typical), 1),
            round(y_of(point.cost_usd.typical), 1),
            colours[point.machine.gpu.name],
            f"{point.nodes * point.copies} {point.machine.type}, {point.capacity}, {point.fit.name}: "
            f"{duration(point.hours)}, {money(point.cost_usd)} USD",
            places.get(id(point), 0),
            point.capacity == "spot",
            round(y_of(point.cost_usd.typical), 1),
        )
        for point in points
        if point.hours.typical <= far
    ]
    dots.sort(key=lambda dot: dot.place)
    return _apart(dots), x_ticks, y_ticks, round(x_of(deadline), 1)


def _apart(dots: list[Dot]) -> list[Dot]:
    """The same dots, the numbers of the ranking moved up until none hides another."""
    placed: list[Dot] = []
    for dot in (dot for dot in dots if dot.place):
        y = dot.y
        while any(abs(other.x - dot.x) < CLEAR and abs(other.label_y - y) < CLEAR for other in placed):
            y -= 2
        placed.append(replace(dot, label_y=round(y, 1)))
    return [dot for dot in dots if not dot.place] + placed


def _axis(low: float, high: float, start: float, end: float) -> tuple[Callable[[float], float], list[Tick]]:
    """A logarithmic axis from pixel `start` to `end` with ticks at 1, 2 and 5."""
    below, above = math.log10(low) - 0.06, math.log10(max(high, low * 1.5)) + 0.06

    def place(value: float) -> float:
        return start + (math.log10(value) - below) / (above - below) * (end - start)

    steps = (1, 2, 5) if above - below < 2.5 else (1,)
    ticks = [
        Tick(round(place(step * 10.0**power), 1), short(step * 10.0**power))
        for power in range(math.floor(below), math.ceil(above) + 1)
        for step in steps
        if below <= math.log10(step * 10.0**power) <= above
    ]
    return place, ticks


def _bars(comparison: Comparison) -> list[tuple[str, str, list[Segment]]]:
    widest = max(sum(line.usd for line in way.lines) for way in comparison.ways)
    bars = []
    for way in comparison.ways:
        start, segments = 0.0, []
        for index, line in enumerate(way.lines):
            width = line.usd / widest * 100
            title = f"{line.what}: {short(line.usd)} USD"
            colour = PEOPLE if line.what == "people" else COLOURS[index]
            segments.append(Segment(round(start, 2), round(width, 2), colour, title))
            start += width
        bars.append((way.name, money(way.monthly_usd), segments))
    return bars
