"""The agency guide's right-sizing table (`right_sizing.csv`), as a second opinion on the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard.advice.architectures import PACKAGE
from trainyard.catalog.records import records


@dataclass(frozen=True, slots=True)
class Guide:
    """A row of the table: models above and up to so many parameters take one of these GPUs, or several of them."""

    above_params: float
    to_params: float
    gpus: tuple[str, ...]
    several: bool
    advice: str


@lru_cache(maxsize=1)
def guides() -> tuple[Guide, ...]:
    """All rows of the guide, `right_sizing.csv`."""
    return tuple(records(Guide, "right_sizing.csv", PACKAGE))


def guide(params: float) -> Guide:
    """The guide's row for a model of so many parameters."""
    return next(row for row in guides() if row.above_params < params <= row.to_params)


def opinion(params: float, ranked: list[tuple[str, int]]) -> str:
    """What the guide says, and where its advice stands among the ranked (GPU, GPUs in all)."""
    row = guide(params)
    places = [
        place for place, (gpu, count) in enumerate(ranked, 1) if gpu in row.gpus and (count > 1 or not row.several)
    ]
    stands = f"option {places[0]} is that" if places else "none of the options is that: others cost less here"
    return f"the agency guide's table says: {row.advice}; {stands}"
