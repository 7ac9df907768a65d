"""A month's account of each team, from the ledger's figures: pure, so that every sum can be tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Key = Literal["spent", "budget", "equal"]
"""What shared costs are divided by: what each team spent, what it may spend, or evenly."""

SMALL_SHARE = 0.01
"""Differences up to a hundredth of what was spent are rounding and the ledger's own five minutes."""


@dataclass(frozen=True, slots=True)
class Flavor:
    """A capacity of a pool, as the plan has it today."""

    name: str
    pool: str
    capacity: str
    usd: float | None
    """That an hour of one GPU counts as."""
    listed_usd: float | None
    """On demand, at list price."""


@dataclass(frozen=True, slots=True)
class Team:
    """A team of the plan."""

    name: str
    namespace: str
    cluster_queue: str
    budget_usd: int
    off_peak_queue: str | None = None
    """ClusterQueue of its work that can wait, which counts to it too."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What Prometheus says of a month; a mapping without a key: it says nothing of that."""

    spent_usd: Mapping[str, float] = field(default_factory=dict)
    """By team."""
    held_hours: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """GPU hours by ClusterQueue and flavor."""
    active_hours: Mapping[str, float] = field(default_factory=dict)
    """GPU hours computed, by namespace."""
    ended: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Jobs by namespace and reason."""
    wait_seconds: Mapping[str, float] = field(default_factory=dict)
    """Mean wait of the jobs that started, by ClusterQueue."""
    course: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """By team, moments and what was spent until then."""
    budgets_usd: Mapping[str, float] = field(default_factory=dict)
    """By team, what it might spend when the month ended."""
    prices_usd: Mapping[str, float] = field(default_factory=dict)
    """By flavor, what an hour of one GPU counted as when the month ended."""
    coverage: float = 0.0
    """Share of the month that the ledger has counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a team held of one flavor."""

    flavor: Flavor
    gpu_hours: float

    @property
    def usd(self) -> float | None:
        """None without a price."""
        return None if self.flavor.usd is None else self.gpu_hours * self.flavor.usd

    @property
    def saved_usd(self) -> float:
        """What spot saved against the list price on demand."""
        if self.flavor.capacity != "spot" or self.flavor.usd is None or self.flavor.listed_usd is None:
            return 0.0
        return self.gpu_hours * (self.flavor.listed_usd - self.flavor.usd)


@dataclass(frozen=True, slots=True)
class Account:
    """A team's month."""

    team: Team
    spent_usd: float | None
    """None: the ledger has no figure of it."""
    lines: tuple[Line, ...]
    active_hours: float | None
    succeeded: int
    failed: int
    wait_seconds: float | None
    shared_usd: float | None
    """Its part of what the bill has beyond the ledger; None where no bill was given."""
    course: tuple[tuple[float, float], ...]

    @property
    def gpu_hours(self) -> float:
        """GPU hours held, of all flavors."""
        return sum(line.gpu_hours for line in self.lines)

    @property
    def spot_hours(self) -> float:
        """Those of them that were spot."""
        return sum(line.gpu_hours for line in self.lines if line.flavor.capacity == "spot")

    @property
    def saved_usd(self) -> float:
        """What spot saved, of all flavors."""
        return sum(line.saved_usd for line in self.lines)

    @property
    def idle_share(self) -> float | None:
        """The share of the GPU hours held in which nothing was computed; None where no exporter said."""
        if self.active_hours is None or not self.gpu_hours:
            return None
        return min(1.0, max(0.0, 1 - self.active_hours / self.gpu_hours))

    @property
    def gap_usd(self) -> float:
        """What the ledger has beyond the lines: prices that changed in the month, or a flavor that is gone."""
        return (self.spent_usd or 0.0) - sum(line.usd or 0.0 for line in self.lines)

    @property
    def has_gap(self) -> bool:
        """Whether that is more than rounding and the ledger's own five minutes: a hundredth, and a dollar."""
        return self.spent_usd is not None and abs(self.gap_usd) > max(1.0, SMALL_SHARE * self.spent_usd)

    @property
    def gone_at(self) -> float | None:
        """When the budget was spent."""
        return next((at for at, usd in self.course if usd >= self.team.budget_usd), None)


@dataclass(frozen=True, slots=True)
class Chargeback:
    """A month of all teams."""

    stack: str
    month: str
    accounts: tuple[Account, ...]
    coverage: float
    bill_usd: float | None
    key: Key

    @property
    def spent_usd(self) -> float:
        """What all teams spent."""
        return sum(account.spent_usd or 0.0 for account in self.accounts)

    @property
    def budget_usd(self) -> int:
        """What all teams may spend."""
        return sum(account.team.budget_usd for account in self.accounts)

    @property
    def gpu_hours(self) -> float:
        """GPU hours that all teams held."""
        return sum(account.gpu_hours for account in self.accounts)

    @property
    def shared_usd(self) -> float | None:
        """What the bill has that no team held; negative: the ledger counts more than is billed."""
        return None if self.bill_usd is None else self.bill_usd - self.spent_usd


def _held(team: Team, figures: Figures) -> dict[str, float]:
    """GPU hours that a team held, by flavor, through whichever queue."""
    found: dict[str, float] = {}
    for (queue, flavor), hours in figures.held_hours.items():
        if queue in (team.cluster_queue, team.off_peak_queue):
            found[flavor] = found.get(flavor, 0.0) + hours
    return found


def account_of(
    stack: str,
    month: str,
    teams: Sequence[Team],
    flavors: Sequence[Flavor],
    figures: Figures,
    bill_usd: float | None = None,
    key: Key = "spent",
) -> Chargeback:
    """The month's account, at the prices and budgets that it ended with, or else at the plan's."""
    teams = [replace(team, budget_usd=round(figures.budgets_usd.get(team.name, team.budget_usd))) for team in teams]
    flavors = [replace(flavor, usd=figures.prices_usd.get(flavor.name, flavor.usd)) for flavor in flavors]
    spent = sum(figures.spent_usd.get(team.name, 0.0) for team in teams)
    shared = None if bill_usd is None else bill_usd - spent
    weights = {
        "spent": [figures.spent_usd.get(team.name, 0.0) for team in teams],
        "budget": [float(team.budget_usd) for team in teams],
        "equal": [1.0 for _ in teams],
    }[key]
    if not sum(weights):
        weights = [1.0 for _ in teams]
    known = {flavor.name: flavor for flavor in flavors}
    accounts = []
    for team, weight in zip(teams, weights, strict=True):
        held = _held(team, figures)
        order = [*known, *sorted(held.keys() - known.keys())]
        ended = {reason: count for (namespace, reason), count in figures.ended.items() if namespace == team.namespace}
        accounts.append(
            Account(
                team=team,
                spent_usd=figures.spent_usd.get(team.name),
                lines=tuple(
                    Line(known.get(name) or Flavor(name, name, "", figures.prices_usd.get(name), None), held[name])
                    for name in order
                    if held.get(name)
                ),
                active_hours=figures.active_hours.get(team.namespace),
                succeeded=ended.get("Succeeded", 0),
                failed=ended.get("Failed", 0),
                wait_seconds=figures.wait_seconds.get(team.cluster_queue),
                shared_usd=None if shared is None else shared * weight / sum(weights),
                course=tuple(figures.course.get(team.name, ())),
            )
        )
    return Chargeback(stack, month, tuple(accounts), figures.coverage, bill_usd, key)
