"""Low, typical and high of an uncertain figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """An uncertain figure; low <= typical <= high.

    Raises:
        ValueError: the three are not in order.
    """

    low: float
    typical: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"not in order: {self.low}, {self.typical}, {self.high}")

    def times(self, other: Range | float) -> Range:
        """The product, bound by bound; of two ranges that are not negative."""
        if isinstance(other, Range):
            return Range(self.low * other.low, self.typical * other.typical, self.high * other.high)
        return Range(self.low * other, self.typical * other, self.high * other)

    def plus(self, other: Range | float) -> Range:
        """The sum, bound by bound."""
        if isinstance(other, Range):
            return Range(self.low + other.low, self.typical + other.typical, self.high + other.high)
        return Range(self.low + other, self.typical + other, self.high + other)

    def holds(self, value: float) -> bool:
        """Whether the value is inside."""
        return self.low <= value <= self.high


def exactly(value: float) -> Range:
    """A figure without spread."""
    return Range(value, value, value)
