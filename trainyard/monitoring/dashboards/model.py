"""A dashboard as data: rows of panels, each a question with the expressions that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["stat", "timeseries", "bargauge", "table"]

COLUMNS = 24
"""Width of Grafana's grid."""


@dataclass(frozen=True, slots=True)
class Query:
    """One expression, and what its series are called: `{{label}}` is filled in."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One question."""

    title: str
    queries: tuple[Query, ...]
    what: str
    """What it shows, for people."""
    kind: Kind = "timeseries"
    unit: str = "none"
    """As Grafana calls it: percentunit, s, currencyUSD, celsius."""
    width: int = 12
    height: int = 8
    target: float | None = None
    """A line, and the colour on either side of it."""
    more_is_better: bool = True
    stacked: bool = False
    highest: float | None = None
    """The end of the axis, where there is one."""


@dataclass(frozen=True, slots=True)
class Row:
    """Panels below one title."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """What whoever looks may choose: the values of a label."""

    name: str
    title: str
    series: str
    label: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One page."""

    uid: str
    title: str
    what: str
    rows: tuple[Row, ...]
    variables: tuple[Variable, ...] = ()
    days: int = 7
    """What it shows at first, back from now."""
