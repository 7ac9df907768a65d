"""What a stack costs a month, as plain frozen data. All amounts are US dollars a month, before tax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from trainyard import cards

CURRENCY = "USD"


@dataclass(frozen=True, slots=True)
class Amounts:
    """Three figures of the same thing: everything scaled to zero, as expected, and every pool full."""

    floor: float
    expected: float
    ceiling: float

    def __add__(self, other: Amounts) -> Amounts:
        """The sum of each of the three figures with its like."""
        return Amounts(self.floor + other.floor, self.expected + other.expected, self.ceiling + other.ceiling)

    def times(self, factor: float) -> Amounts:
        """All three figures times `factor`."""
        return Amounts(self.floor * factor, self.expected * factor, self.ceiling * factor)

    def rounded(self, digits: int = 2) -> Amounts:
        """All three figures rounded to the cent, or to as many digits."""
        return Amounts(round(self.floor, digits), round(self.expected, digits), round(self.ceiling, digits))

    def as_json(self) -> dict[str, float]:
        """The three figures by name, rounded to the cent."""
        return asdict(self.rounded())


def a_unit(unit: str) -> str:
    """A unit with its article: `an hour`, `a GB`, `ten thousand requests`."""
    if unit.startswith("ten "):
        return unit
    return f"{'an' if unit.startswith(('hour', 'IOPS')) else 'a'} {unit}"


NOTHING = Amounts(0.0, 0.0, 0.0)


def always(quantity: float) -> Amounts:
    """What is there whether or not a job runs."""
    return Amounts(quantity, quantity, quantity)


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """A list price and where it is from."""

    usd: float
    unit: str  # hour, GiB-month, month, GB, …
    region: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class LineItem:
    """One thing of one resource that is paid for: `usd` is `quantity` times the unit price, less the discount."""

    component: str
    resource: str
    type: str
    what: str
    unit: str
    unit_usd: float
    quantity: Amounts  # units a month
    usd: Amounts
    low_usd: float  # of the expected figure, where the price itself has a spread (spot)
    high_usd: float
    discount: float  # 0.55: spot hours of floor and expected cost 45 % of `unit_usd`; the ceiling has no discount
    source: str
    date: str
    region: str
    stale: bool
    other_region: bool  # the price is not of the region that the resource is in
    note: str = ""
    pool: str = ""  # of a GPU node group; with `capacity`, what teams' quotas are for
    capacity: str = ""

    def as_json(self) -> dict[str, Any]:
        """The line as the JSON of a rehearsal has it."""
        return {
            "component": self.component,
            "resource": self.resource,
            "type": self.type,
            "what": self.what,
            "unit": self.unit,
            "unit_usd": self.unit_usd,
            "quantity": asdict(self.quantity.rounded(4)),
            "discount_percent": round(100 * self.discount, 1),
            **self.usd.as_json(),
            "expected_low": round(self.low_usd, 2),
            "expected_high": round(self.high_usd, 2),
            "source": self.source,
            "date": self.date,
            "region": self.region,
            "stale": self.stale,
            "other_region": self.other_region,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A part of a resource that is or may be paid for and that has no price here."""

    component: str
    resource: str
    type: str
    what: str
    reason: str
    on_demand_usd: float | None = (
        None  # a month of the same on demand, or at a block's listed price where it is not sold so
    )
    aside: bool = (
        False  # an extra of something that has a price, and that costs a fraction of it: no budget hangs on it
    )

    def as_json(self) -> dict[str, str]:
        """The item without a price as the JSON of a rehearsal has it."""
        return {key: getattr(self, key) for key in ("component", "resource", "type", "what", "reason")}


@dataclass(frozen=True, slots=True)
class Free:
    """Resources of one type that cost nothing themselves, and why."""

    type: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Saving:
    """Money that is not spent: `counted` in the expected figure already, or `possible` and not counted."""

    kind: Literal["spot", "reservation"]
    status: Literal["counted", "possible"]
    what: str
    usd: float  # a month
    low_usd: float
    high_usd: float
    source: str
    date: str
    stale: bool
    months: int = 0  # term of a commitment

    def as_json(self) -> dict[str, Any]:
        """The saving as the JSON of a rehearsal has it."""
        return {
            "kind": self.kind,
            "status": self.status,
            "what": self.what,
            "usd": round(self.usd, 2),
            "low": round(self.low_usd, 2),
            "high": round(self.high_usd, 2),
            "source": self.source,
            "date": self.date,
            "stale": self.stale,
            **({"months": self.months} if self.months else {}),
        }


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the cost that is one component's or one team's."""

    name: str
    kind: str  # class of the component; "" for a team
    usd: Amounts
    budget_usd: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The share as the JSON of a rehearsal has it."""
        found: dict[str, Any] = {"name": self.name, **self.usd.as_json()}
        if self.kind:
            found["kind"] = self.kind
        if self.budget_usd is not None:
            found["budget"] = self.budget_usd
        return found


@dataclass(frozen=True, slots=True)
class Cost:
    """What a stack costs a month. Totals are the sums of the lines, which are rounded to the cent."""

    stack: str
    region: str
    total: Amounts
    low_usd: float  # of the expected figure
    high_usd: float
    budget_usd: float | None
    by_component: tuple[Share, ...]
    by_team: tuple[Share, ...]
    lines: tuple[LineItem, ...]
    unpriced: tuple[Unpriced, ...]
    free: tuple[Free, ...]
    savings: tuple[Saving, ...]
    assumptions: Mapping[str, Mapping[str, Any]]
    today: str

    @property
    def use_on_top(self) -> bool:
        """Whether people start what is paid for by the hour and no figure holds: managed jobs and editors."""
        return any(cards.of(entry.type).used_by_the_hour for entry in self.free)

    @property
    def stale_lines(self) -> tuple[LineItem, ...]:
        """Lines with a price older than 180 days."""
        return tuple(line for line in self.lines if line.stale)

    @property
    def other_region_lines(self) -> tuple[LineItem, ...]:
        """Lines whose price is of another region than the resource."""
        return tuple(line for line in self.lines if line.other_region)

    @property
    def oldest(self) -> str:
        """Date of the oldest price used; "" where nothing is paid for."""
        return min((line.date for line in self.lines), default="")

    def as_json(self) -> dict[str, Any]:
        """The whole cost, as the JSON of a rehearsal has it under `cost`."""
        return {
            "currency": CURRENCY,
            "stack": self.stack,
            **self.total.as_json(),
            "expected_low": round(self.low_usd, 2),
            "expected_high": round(self.high_usd, 2),
            "budget": self.budget_usd,
            "by_component": [share.as_json() for share in self.by_component],
            "by_team": [share.as_json() for share in self.by_team],
            "lines": [line.as_json() for line in self.lines],
            "unpriced": [entry.as_json() for entry in self.unpriced],
            "free": [asdict(entry) for entry in self.free],
            "savings": [saving.as_json() for saving in self.savings],
            "assumptions": {key: dict(value) for key, value in self.assumptions.items()},
            "prices": {
                "region": self.region,
                "oldest": self.oldest,
                "stale": sorted({f"{line.source}, {line.date}" for line in self.stale_lines}),
                "of_another_region": len(self.other_region_lines),
            },
        }
