"""A month's account of each team, from the ledger's figures: pure, so that every sum can be tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Key = Literal["spent", "budget", "equal"]
"""What shared costs are divided by: what each team spent, what it may spend, or evenly."""

Idle = Literal["GPU nodes", "TPU nodes", "CPU nodes"]
"""What is paid for and used by nobody."""

Unit = Literal["GPU", "chip"]
"""What hours are counted of: GPUs, or TPU chips."""

SMALL_SHARE = 0.01
"""Differences up to a hundredth of what was spent are rounding and the ledger's own five minutes."""


@dataclass(frozen=True, slots=True)
class Flavor:
    """A capacity of a pool, as the plan has it today."""

    name: str
    pool: str
    capacity: str
    usd: float | None
    """That an hour of one GPU counts as, or of one TPU chip."""
    listed_usd: float | None
    """On demand, at list price."""
    unit: Unit = "GPU"
    """What is counted of it."""


@dataclass(frozen=True, slots=True)
class Team:
    """A team of the plan."""

    name: str
    namespace: str
    queues: tuple[str, ...]
    """Its ClusterQueues: its own, and that of its work that can wait; of each cluster, where there are several."""
    budget_usd: int


@dataclass(frozen=True, slots=True)
class Wait:
    """How long the jobs waited that started from a queue, seconds; a job that was evicted waits anew."""

    jobs: int
    mean: float
    median: float
    p95: float
    """Both interpolated within Kueue's histogram, whose last bucket is open: at most 40,960."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What Prometheus says of a month; a mapping without a key: it says nothing of that."""

    spent_usd: Mapping[str, float] = field(default_factory=dict)
    """By team."""
    held_hours: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """GPU hours by ClusterQueue and flavor."""
    held_chip_hours: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Hours of TPU chips by ClusterQueue and flavor."""
    active_hours: Mapping[str, float] = field(default_factory=dict)
    """GPU hours computed, by namespace."""
    ended: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Jobs by namespace and reason."""
    waits: Mapping[str, Wait] = field(default_factory=dict)
    """By ClusterQueue; none of one from which no job started."""
    evicted: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """How often a job was evicted, by ClusterQueue and reason."""
    cpu_usd: Mapping[str, float] = field(default_factory=dict)
    """What pods asked for on nodes without GPUs, by namespace."""
    volume_usd: Mapping[str, float] = field(default_factory=dict)
    """What claims of volumes asked for, by namespace."""
    idle_usd: Mapping[Idle, float] = field(default_factory=dict)
    """What nobody held or asked for, by kind of node; no key: nothing measured it."""
    course: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """By team, moments and what was spent until then."""
    budgets_usd: Mapping[str, float] = field(default_factory=dict)
    """By team, what it might spend when the month ended."""
    prices_usd: Mapping[str, float] = field(default_factory=dict)
    """By flavor, what an hour of one GPU or chip counted as when the month ended."""
    coverage: float = 0.0
    """Share of the month that the ledger has counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a team held of one flavor."""

    flavor: Flavor
    hours: float
    """Hours held of the GPUs of the flavor, or of its chips."""

    @property
    def usd(self) -> float | None:
        """None without a price."""
        return None if self.flavor.usd is None else self.hours * self.flavor.usd

    @property
    def saved_usd(self) -> float:
        """What spot saved against the list price on demand."""
        if self.flavor.capacity != "spot" or self.flavor.usd is None or self.flavor.listed_usd is None:
            return 0.0
        return self.hours * (self.flavor.listed_usd - self.flavor.usd)


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
    waits: Mapping[str, Wait]
    """By each of its queues from which a job started, its own first."""
    evicted: Mapping[str, int]
    """How often a job of it was evicted, by Kueue's reason."""
    cpu_usd: float
    """What its pods asked for on nodes without GPUs."""
    volume_usd: float
    shared_usd: float | None
    """Its part of what no team is charged with directly; None where neither a bill nor a measure says what that is."""
    course: tuple[tuple[float, float], ...]

    @property
    def gpu_hours(self) -> float:
        """GPU hours held, of all flavors."""
        return sum(line.hours for line in self.lines if line.flavor.unit == "GPU")

    @property
    def chip_hours(self) -> float:
        """Hours of TPU chips held, of all flavors."""
        return sum(line.hours for line in self.lines if line.flavor.unit == "chip")

    @property
    def spot_hours(self) -> float:
        """Those of them that were spot."""
        return sum(line.hours for line in self.lines if line.flavor.unit == "GPU" and line.flavor.capacity == "spot")

    @property
    def saved_usd(self) -> float:
        """What spot saved, of all flavors."""
        return sum(line.saved_usd for line in self.lines)

    @property
    def idle_share(self) -> float | None:
        """The share of the GPU hours held in which nothing was computed; None where no exporter said.

        Of chips there is none: nothing measures them.
        """
        if self.active_hours is None or not self.gpu_hours:
            return None
        return min(1.0, max(0.0, 1 - self.active_hours / self.gpu_hours))

    @property
    def wait_seconds(self) -> float | None:
        """Mean wait of the jobs that started, through whichever queue; None where none did."""
        jobs = sum(wait.jobs for wait in self.waits.values())
        return sum(wait.jobs * wait.mean for wait in self.waits.values()) / jobs if jobs else None

    @property
    def direct_usd(self) -> float | None:
        """What it is charged with by itself: GPUs, chips, other nodes, volumes; None without a figure of the first."""
        return None if self.spent_usd is None else self.spent_usd + self.cpu_usd + self.volume_usd

    @property
    def together_usd(self) -> float | None:
        """With its part of what is shared."""
        return None if self.direct_usd is None else self.direct_usd + (self.shared_usd or 0.0)

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
    idle_usd: Mapping[Idle, float] = field(default_factory=dict)
    """What nobody held or asked for, by kind of node."""
    counts_chips: bool = False
    """Whether the plan has TPU slices, or a team held chips of some that are gone."""
    platform_usd: float | None = None
    """Nodes and volumes of the platform's own programs; None where nothing measured it."""

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
    def chip_hours(self) -> float:
        """Hours of TPU chips that all teams held."""
        return sum(account.chip_hours for account in self.accounts)

    @property
    def direct_usd(self) -> float:
        """What teams are charged with by themselves."""
        return sum(account.spent_usd or 0.0 for account in self.accounts) + sum(
            account.cpu_usd + account.volume_usd for account in self.accounts
        )

    @property
    def counted_usd(self) -> float:
        """All that was counted, by our own prices: of teams, idle, and of the platform."""
        return self.direct_usd + sum(self.idle_usd.values()) + (self.platform_usd or 0.0)

    @property
    def uncounted_usd(self) -> float | None:
        """What the bill has beyond what was counted; negative: more was counted than is billed. None: no bill."""
        return None if self.bill_usd is None else self.bill_usd - self.counted_usd

    @property
    def shared_usd(self) -> float | None:
        """What no team is charged with by itself: the bill's rest, or without a bill what is idle and the platform's.

        None where neither is known. Negative: the ledger counts more than is billed.
        """
        return _shared(self.bill_usd, self.direct_usd, self.idle_usd, self.platform_usd)


def _shared(
    bill_usd: float | None, direct_usd: float, idle_usd: Mapping[Idle, float], platform_usd: float | None
) -> float | None:
    if bill_usd is not None:
        return bill_usd - direct_usd
    if not idle_usd and platform_usd is None:
        return None
    return sum(idle_usd.values()) + (platform_usd or 0.0)


def _held(team: Team, held: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Hours that a team held, by flavor, through whichever queue."""
    found: dict[str, float] = {}
    for (queue, flavor), hours in held.items():
        if queue in team.queues:
            found[flavor] = found.get(flavor, 0.0) + hours
    return found


def _lines(team: Team, known: Mapping[str, Flavor], figures: Figures) -> tuple[Line, ...]:
    """What a team held: flavors of the plan in its order, then those that are gone; GPUs before chips."""
    found = []
    by_unit: tuple[tuple[Unit, Mapping[tuple[str, str], float]], ...] = (
        ("GPU", figures.held_hours),
        ("chip", figures.held_chip_hours),
    )
    for unit, hours in by_unit:
        held = _held(team, hours)
        for name in [*known, *sorted(held.keys() - known.keys())]:
            if held.get(name):
                gone = Flavor(name, name, "", figures.prices_usd.get(name), None, unit)
                found.append(Line(known.get(name) or gone, held[name]))
    return tuple(found)


def _evicted(team: Team, figures: Figures) -> dict[str, int]:
    """How often jobs of a team were evicted, by reason, through whichever queue."""
    found: dict[str, int] = {}
    for (queue, reason), count in figures.evicted.items():
        if queue in team.queues and count:
            found[reason] = found.get(reason, 0) + count
    return found


def merged(by_cluster: Mapping[str, Figures]) -> Figures:
    """The figures of several clusters as one: sums, and flavors and queues with their cluster's name before them.

    What a ledger has counted of the month is the least of theirs.
    """
    every = list(by_cluster.items())

    def total(what: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for _, figures in every:
            for key, value in getattr(figures, what).items():
                found[key] = found.get(key, 0) + value
        return found

    def of_cluster(what: str) -> dict[tuple[str, str], float]:
        return {
            (f"{cluster}/{queue}", f"{cluster}/{flavor}"): hours
            for cluster, figures in every
            for (queue, flavor), hours in getattr(figures, what).items()
        }

    course: dict[str, dict[float, float]] = {}
    for _, figures in every:
        for team, points in figures.course.items():
            for at, usd in points:
                course.setdefault(team, {})[at] = course.get(team, {}).get(at, 0.0) + usd
    return Figures(
        **{what: total(what) for what in ("spent_usd", "active_hours", "ended", "budgets_usd")},
        **{what: total(what) for what in ("cpu_usd", "volume_usd", "idle_usd")},
        held_hours=of_cluster("held_hours"),
        held_chip_hours=of_cluster("held_chip_hours"),
        waits={f"{cluster}/{queue}": wait for cluster, figures in every for queue, wait in figures.waits.items()},
        evicted={
            (f"{cluster}/{queue}", reason): count
            for cluster, figures in every
            for (queue, reason), count in figures.evicted.items()
        },
        prices_usd={
            f"{cluster}/{flavor}": usd for cluster, figures in every for flavor, usd in figures.prices_usd.items()
        },
        course={team: tuple(sorted(points.items())) for team, points in course.items()},
        coverage=min(figures.coverage for _, figures in every),
    )


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
    namespaces = [team.namespace for team in teams]
    measured = bool(figures.cpu_usd or figures.volume_usd)
    of_platform = [
        usd
        for by_namespace in (figures.cpu_usd, figures.volume_usd)
        for namespace, usd in by_namespace.items()
        if namespace not in namespaces
    ]
    platform = sum(of_platform) if measured else None
    direct = sum(
        figures.spent_usd.get(team.name, 0.0)
        + figures.cpu_usd.get(team.namespace, 0.0)
        + figures.volume_usd.get(team.namespace, 0.0)
        for team in teams
    )
    shared = _shared(bill_usd, direct, figures.idle_usd, platform)
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
        ended = {reason: count for (namespace, reason), count in figures.ended.items() if namespace == team.namespace}
        accounts.append(
            Account(
                team=team,
                spent_usd=figures.spent_usd.get(team.name),
                lines=_lines(team, known, figures),
                active_hours=figures.active_hours.get(team.namespace),
                succeeded=ended.get("Succeeded", 0),
                failed=ended.get("Failed", 0),
                waits={queue: figures.waits[queue] for queue in team.queues if queue in figures.waits},
                evicted=_evicted(team, figures),
                cpu_usd=figures.cpu_usd.get(team.namespace, 0.0),
                volume_usd=figures.volume_usd.get(team.namespace, 0.0),
                shared_usd=None if shared is None else shared * weight / sum(weights),
                course=tuple(figures.course.get(team.name, ())),
            )
        )
    chips = any(flavor.unit == "chip" for flavor in flavors) or any(one.chip_hours for one in accounts)
    return Chargeback(
        stack,
        month,
        tuple(accounts),
        figures.coverage,
        bill_usd,
        key,
        dict(figures.idle_usd),
        counts_chips=chips,
        platform_usd=platform,
    )
