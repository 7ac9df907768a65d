"""Which figure drives the cost: each uncertain one moved over its range while the others stay typical."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.advice.fit import Fit
from trainyard.advice.prices import Price
from trainyard.advice.ranges import Range
from trainyard.advice.spot import Interruptions

LEAST_SWING = 0.01
"""Share of the cost: what moves it less is not worth a line."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A figure and what it does to the cost: the factors at its best and at its worst."""

    name: str
    value: str
    factor_low: float  # <= 1
    factor_high: float  # >= 1
    source: str

    @property
    def swing(self) -> float:
        """Width of the cost's range over the typical cost."""
        return self.factor_high - self.factor_low


def drivers(fit: Fit, price: Price, broken: Interruptions, goodput: Range, token_spread: float) -> tuple[Driver, ...]:
    """The uncertain figures of an option, the strongest first; cost is a product of all."""
    found = []

    def add(name: str, value: str, low: float, high: float, source: str) -> None:
        if high - low >= LEAST_SWING:
            found.append(Driver(name, value, min(1.0, low), max(1.0, high), source))

    rate = fit.tokens_per_second
    reached = fit.mfu
    shown = (
        f"{reached.typical:.0%} of the peak ({reached.low:.0%} to {reached.high:.0%})"
        if reached.typical
        else f"{rate.typical:,.0f} images/s"
    )
    source = "trainyard/advice/mfu.csv" if reached.typical else "trainyard/advice/images.csv"
    add("GPU utilisation", shown, rate.typical / rate.high, rate.typical / rate.low, source)
    add(
        "time that trains",
        f"{goodput.typical:.0%} ({goodput.low:.0%} to {goodput.high:.0%})",
        goodput.typical / goodput.high,
        goodput.typical / goodput.low,
        "OPT-175B 59 %, Llama 3 above 90 %",
    )
    usd = price.usd_per_hour
    add(
        f"{price.capacity} price",
        f"{usd.typical:,.2f} USD an hour ({usd.low:,.2f} to {usd.high:,.2f})",
        usd.low / usd.typical,
        usd.high / usd.typical,
        price.figures[-1].source,
    )
    stretch = broken.stretch
    add(
        "interruptions",
        f"{broken.expected.typical:.1f} ({broken.expected.low:.1f} to {broken.expected.high:.1f}) in the run",
        stretch.low / stretch.typical,
        stretch.high / stretch.typical,
        price.figures[-1].source if price.reclaimed_per_month else "Meta RSC: hours between failures",
    )
    add("tokens in the data set", f"±{token_spread:.0%}", 1 - token_spread, 1 + token_spread, "rule of thumb")
    return tuple(sorted(found, key=lambda item: (-item.swing, item.name)))
