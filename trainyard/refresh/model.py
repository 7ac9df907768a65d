"""What a refresh finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


class RefreshError(Exception):
    """A cloud's prices cannot be had; the text says why and what to set."""


@dataclass(frozen=True, slots=True)
class Quote:
    """One row of a table as a cloud's API gives it now."""

    table: str  # "aws_services.csv"
    key: tuple[tuple[str, str], ...]  # column and value of what identifies the row
    figure: str  # column of the figure that is compared
    value: float
    unit: str
    cells: Mapping[str, str]  # every cell to write, the figure among them

    @property
    def name(self) -> str:
        """What the quote is for, as people read it."""
        return " ".join(value for _, value in self.key)


@dataclass(frozen=True, slots=True)
class Change:
    """A quote beside what the catalogue has. `old` is None for a row or a price that is new."""

    quote: Quote
    old: float | None
    old_date: str

    @property
    def differs(self) -> bool:
        """Whether the figure is another one; else it is confirmed, and its date moves."""
        return self.old is None or abs(self.old - self.quote.value) > 1e-9 * max(1.0, abs(self.quote.value))

    @property
    def percent(self) -> float | None:
        """How much more it is now; None for what is new or was nothing."""
        return 100 * (self.quote.value / self.old - 1) if self.old else None

    def as_json(self) -> dict[str, Any]:
        """The change as `--json` has it."""
        return {
            "table": self.quote.table,
            "key": dict(self.quote.key),
            "figure": self.quote.figure,
            "unit": self.quote.unit,
            "old": self.old,
            "old_date": self.old_date,
            "new": self.quote.value,
            "percent": None if self.percent is None else round(self.percent, 2),
            "differs": self.differs,
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that stays as it is, and why."""

    table: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """What one source answered."""

    quotes: tuple[Quote, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def __add__(self, other: Found) -> Found:
        """What two sources answered, joined."""
        return Found(self.quotes + other.quotes, self.skipped + other.skipped)


@dataclass(frozen=True, slots=True)
class Refresh:
    """All that a refresh found: what changes, what is confirmed, what stays."""

    changes: tuple[Change, ...]
    skipped: tuple[Skipped, ...]
    clouds: tuple[str, ...]  # that answered
    failures: Mapping[str, str] = field(default_factory=dict)  # cloud to what to set

    @property
    def different(self) -> tuple[Change, ...]:
        """The changes whose figure is another one than the catalogue's."""
        return tuple(change for change in self.changes if change.differs)

    def as_json(self) -> dict[str, Any]:
        """The whole refresh as `--json` has it."""
        return {
            "clouds": list(self.clouds),
            "failures": dict(self.failures),
            "changes": [change.as_json() for change in self.changes],
            "skipped": [asdict(entry) for entry in self.skipped],
        }
