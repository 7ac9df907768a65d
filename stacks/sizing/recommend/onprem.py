"""What the same training costs a month: managed service, a cluster of one's own in the cloud, owned hardware.

Everything that is rented by the hour is on demand; the cluster is also priced on spot and with a one-year reservation.
Payback = purchase / (cloud a month - running the owned hardware a month), against the cluster on demand and against the
cheapest way to rent. The break-even utilisation is that of the owned GPUs above which a month of them, depreciation
included, costs less than the same hours of the cluster on demand. Published paybacks run from four months (a vendor,
continuous use) to 36: the assumptions decide, so each is an input with default, range and source
(`catalog/onprem.csv`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from stacks.problems import Problem, SettingsError, nearest
from stacks.sizing.catalog.tables import rows
from stacks.sizing.recommend.hardware import Machine
from stacks.sizing.recommend.options import Option, Recommendation
from stacks.sizing.recommend.prices import Capacity, Figure, Price, price
from stacks.sizing.recommend.ranges import Range
from stacks.sizing.recommend.spot import HOURS_PER_MONTH

GPUS_A_SERVER = 8
PLAUSIBLE_PAYBACK_MONTHS = (24, 36)
"""The agency guide asks for a payback of two to three years at most."""
SHARES = {
    "owned_utilisation",
    "network_storage_share",
    "idle_power_share",
    "support_share_per_year",
    "residual_share",
    "cluster_idle_share",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure of the comparison with its range; `given` where the caller set it."""

    key: str
    unit: str
    range: Range
    source: str
    date: str
    evidence: str
    given: bool = False

    @property
    def value(self) -> float:
        """The typical figure."""
        return self.range.typical


@dataclass(frozen=True, slots=True)
class Line:
    """A part of a month's cost in USD."""

    what: str
    usd: float


@dataclass(frozen=True, slots=True)
class Way:
    """A way to have the GPUs: what a month costs, by part and as a range."""

    name: str
    lines: tuple[Line, ...]
    monthly_usd: Range


@dataclass(frozen=True, slots=True)
class Comparison:
    """Managed, cluster and owned for the same work. `payback_months` infinite: never; ranges at the assumptions' ends.

    `break_even_utilisation` above 1: owned hardware never costs less.
    """

    option: Option
    gpu_hours_per_month: float
    servers: int
    purchase_usd: Range
    ways: tuple[Way, ...]
    break_even_utilisation: float
    payback_months: Range  # against the cluster on demand
    payback_cheapest_months: float  # against the cheapest way to rent
    cheapest: str
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=1)
def defaults() -> dict[str, Assumption]:
    """All assumptions by key."""
    return {
        row["key"]: Assumption(
            row["key"],
            row["unit"],
            Range(float(row["low"]), float(row["value"]), float(row["high"])),
            row["source"],
            row["date"],
            row["evidence"],
        )
        for row in rows("onprem.csv")
    }


def assumptions(given: Mapping[str, float]) -> dict[str, Assumption]:
    """The defaults with some replaced; a given figure has no spread.

    Raises:
        SettingsError: an unknown key, or a figure that cannot be.
    """
    known = dict(defaults())
    problems = []
    for key, value in given.items():
        if key not in known:
            allowed = "must be one of " + ", ".join(sorted(known))
            problems.append(Problem("--assume", key, allowed, nearest(key, known)))
        elif not math.isfinite(value) or value < 0 or (key in SHARES and value > 1):
            problems.append(
                Problem("--assume", f"{key}={value:g}", f"must be {'0 to 1' if key in SHARES else '0 or more'}")
            )
        elif value == 0 and key in {"owned_utilisation", "depreciation_months"}:
            problems.append(Problem("--assume", f"{key}=0", "must be above 0"))
        else:
            known[key] = replace(known[key], range=Range(value, value, value), source="--assume", given=True)
    if problems:
        raise SettingsError(problems)
    return known


def owned_gpus() -> tuple[str, ...]:
    """The GPUs for which a server's price is known."""
    return tuple(key.partition(".")[2] for key in defaults() if key.startswith("server_usd."))


def compare(recommendation: Recommendation, given: Mapping[str, float]) -> Comparison:
    """Compares the ways to have the GPUs of the best option whose GPU can be bought, on demand where it is sold so.

    Runs a month are the request's; without them the work of one run is spread over the months it would fill, one at
    least.

    Raises:
        SettingsError: an assumption is wrong, or no option has a GPU with a known purchase price.
    """
    known = assumptions(given)
    option = next((item for item in recommendation.options if item.machine.gpu.name in owned_gpus()), None)
    if option is None:
        found = ", ".join(dict.fromkeys(item.machine.gpu.name for item in recommendation.options)) or "no option"
        raise SettingsError(
            [Problem("--compare", found, f"a server's price is known for {', '.join(owned_gpus())} only")]
        )
    rented = price(option.machine, recommendation.region, "on-demand") or option.price
    runs = recommendation.request.monthly_runs
    node_hours = option.cost_usd.typical / option.price.usd_per_hour.typical  # every trial, at typical speed
    if option.price.months:
        node_hours = option.hours.typical * option.nodes * option.copies
    months = max(1.0, option.hours.typical / HOURS_PER_MONTH)
    per_month = node_hours * runs if runs is not None else node_hours / months
    gpu_hours = per_month * option.machine.gpus
    servers = max(1, math.ceil(gpu_hours / (HOURS_PER_MONTH * GPUS_A_SERVER * known["owned_utilisation"].value) - 1e-9))
    purchase = known[f"server_usd.{option.machine.gpu.name}"].range.times(servers)
    purchase = Range(*(getattr(purchase, b) * (1 + getattr(known["network_storage_share"].range, b)) for b in BOUNDS))
    managed = _managed(option.machine, rented, per_month, known)
    cluster = _cluster("own cluster, on demand", rented, per_month, known)
    others = _cluster_otherwise(option, recommendation.region, per_month, known)
    owned, running = _owned(option.machine, servers, gpu_hours, purchase, known)
    saving = cluster.monthly_usd.typical - running.typical
    payback = Range(
        *sorted(
            (
                _payback(purchase.low, cluster.monthly_usd.high - running.low),
                _payback(purchase.typical, saving),
                _payback(purchase.high, cluster.monthly_usd.low - running.high),
            )
        )
    )
    ways = (managed, cluster, *others, owned)
    rent = min(way.monthly_usd.typical for way in ways[:-1])
    notes = []
    if runs is None:
        notes.append(f"one run, spread over {months:.1f} months; --monthly-runs repeats it every month")
    if gpu_hours < HOURS_PER_MONTH * GPUS_A_SERVER * known["owned_utilisation"].value * 0.5:
        notes.append("the work fills less than half of one owned server: most of it would stand idle")
    if payback.typical > PLAUSIBLE_PAYBACK_MONTHS[1]:
        notes.append("payback is above the 36 months after which the agency guide advises against buying")
    notes += _old(recommendation, option, known)
    return Comparison(
        option=option,
        gpu_hours_per_month=gpu_hours,
        servers=servers,
        purchase_usd=purchase,
        ways=ways,
        break_even_utilisation=_break_even(option.machine, rented, known),
        payback_months=payback,
        payback_cheapest_months=_payback(purchase.typical, rent - running.typical),
        cheapest=min(ways, key=lambda way: way.monthly_usd.typical).name,
        assumptions=tuple(known.values()),
        notes=tuple(note for note in notes if note),
    )


def _old(recommendation: Recommendation, option: Option, known: Mapping[str, Assumption]) -> list[str]:
    """What the comparison used that is older than 180 days: prices of renting, and assumptions that were not given."""
    today = recommendation.request.today
    kinds: tuple[Capacity, ...] = ("on-demand", "spot", "reserved-1y")
    offers = (price(option.machine, recommendation.region, kind) for kind in kinds)
    used = [figure for offer in offers if offer is not None for figure in offer.figures]
    gpu = option.machine.gpu.name
    used += [
        Figure(item.key, item.source, item.date)
        for item in known.values()
        if not item.given and item.key.partition(".")[2] in ("", gpu)
    ]
    old = dict.fromkeys(f"{figure.what} ({figure.date})" for figure in used if figure.stale(today))
    return [f"older than 180 days: {'; '.join(old)}"] if old else []


BOUNDS = ("low", "typical", "high")


def _payback(purchase: float, saving: float) -> float:
    return purchase / saving if saving > 0 else math.inf


def _managed_factor(machine: Machine) -> tuple[str, Range, str]:
    for row in rows("managed_instances.csv"):
        if row["cloud"] == machine.cloud and (row["match"] == "*" or machine.family.startswith(row["match"])):
            factor = Range(float(row["factor_low"]), float(row["factor"]), float(row["factor_high"]))
            name = f"SageMaker ml.{machine.type}" if machine.cloud == "aws" else row["managed"]
            return name, factor, f"{row['source']} ({row['evidence']})"
    raise KeyError(machine.cloud)


def _managed(machine: Machine, rented: Price, node_hours: float, known: Mapping[str, Assumption]) -> Way:
    name, factor, _ = _managed_factor(machine)
    compute = rented.usd_per_hour.times(factor).times(node_hours)
    people = _people(known, "managed_engineers")
    lines = (Line(f"{name}, {factor.typical:g} times the machine", compute.typical), Line("people", people.typical))
    return Way("managed training", lines, compute.plus(people))


def _cluster_otherwise(
    option: Option, region: str, node_hours: float, known: Mapping[str, Assumption]
) -> Iterator[Way]:
    """The cluster on spot, and with enough nodes reserved for a year at the owned hardware's utilisation."""
    spot = price(option.machine, region, "spot")
    if spot is not None:
        yield _cluster("own cluster, spot", spot, node_hours, known)
    reserved = price(option.machine, region, "reserved-1y")
    if reserved is not None:
        nodes = max(1, math.ceil(node_hours / (HOURS_PER_MONTH * known["owned_utilisation"].value) - 1e-9))
        paid = reserved.usd_per_hour.times(nodes * HOURS_PER_MONTH)
        base = known["cluster_base_usd_per_month"].range
        people = _people(known, "cluster_engineers")
        lines = (
            Line(f"{nodes} GPU node{'s' if nodes > 1 else ''} around the clock", paid.typical),
            Line("control plane, system nodes, network", base.typical),
            Line("people", people.typical),
        )
        yield Way("own cluster, reserved 1y", lines, paid.plus(base).plus(people))


def _cluster(name: str, rented: Price, node_hours: float, known: Mapping[str, Assumption]) -> Way:
    idle = known["cluster_idle_share"].range
    busy = rented.usd_per_hour.times(node_hours)
    # The idle share is of what is paid, so 15 % idle is 1/0.85 of the work.
    paid = Range(*(getattr(busy, b) / max(0.01, 1 - getattr(idle, b)) for b in BOUNDS))
    base = known["cluster_base_usd_per_month"].range
    people = _people(known, "cluster_engineers")
    lines = (
        Line("GPU nodes at work", busy.typical),
        Line("GPU nodes idle", paid.typical - busy.typical),
        Line("control plane, system nodes, network", base.typical),
        Line("people", people.typical),
    )
    return Way(name, lines, paid.plus(base).plus(people))


def _owned(
    machine: Machine, servers: int, gpu_hours: float, purchase: Range, known: Mapping[str, Assumption]
) -> tuple[Way, Range]:
    """The month of owned servers, and the part of it that is not depreciation."""
    busy = min(1.0, gpu_hours / (servers * GPUS_A_SERVER * HOURS_PER_MONTH))
    depreciation, energy, room, support, people = (
        Range(*sorted(part))
        for part in zip(*(_month(machine.gpu.name, servers, busy, purchase, known, b) for b in BOUNDS), strict=True)
    )
    running = energy.plus(room).plus(support).plus(people)
    lines = (
        Line("depreciation", depreciation.typical),
        Line("electricity", energy.typical),
        Line("space and cooling", room.typical),
        Line("support and spare parts", support.typical),
        Line("people", people.typical),
    )
    return Way("owned hardware", lines, running.plus(depreciation)), running


def _month(
    gpu: str, servers: int, busy: float, purchase: Range, known: Mapping[str, Assumption], bound: str
) -> tuple[float, float, float, float, float]:
    """Depreciation, electricity, room, support and people of a month at one end of the assumptions."""

    def at(key: str, *, inverse: bool = False) -> float:
        ends = {"low": "high", "high": "low", "typical": "typical"}
        return float(getattr(known[key].range, ends[bound] if inverse else bound))

    price_ = getattr(purchase, bound)
    kw = at(f"server_kw.{gpu}") * servers
    load = busy + (1 - busy) * at("idle_power_share")
    return (
        price_ * (1 - at("residual_share", inverse=True)) / at("depreciation_months", inverse=True),
        kw * load * at("power_usage_effectiveness") * HOURS_PER_MONTH * at("electricity_usd_per_kwh"),
        kw * at("colocation_usd_per_kw_month"),
        price_ * at("support_share_per_year") / 12,
        at("owned_engineers") * math.ceil(servers / 8) * at("engineer_usd_per_year") / 12,
    )


def _people(known: Mapping[str, Assumption], key: str) -> Range:
    return known[key].range.times(known["engineer_usd_per_year"].range).times(1 / 12)


def _break_even(machine: Machine, rented: Price, known: Mapping[str, Assumption]) -> float:
    """Share of an owned server's hours in use at which its month costs what the cluster would for the same hours.

    One server with its eighth of the people, against cluster nodes with their idle share; what the cluster costs at
    rest is left out, as both sides need some of it.
    """
    purchase = known[f"server_usd.{machine.gpu.name}"].range.times(1 + known["network_storage_share"].value)
    hour = rented.usd_per_hour.typical / machine.gpus * GPUS_A_SERVER / max(0.01, 1 - known["cluster_idle_share"].value)

    def month(busy: float) -> float:
        parts = _month(machine.gpu.name, 1, busy, purchase, known, "typical")
        return sum(parts[:4]) + parts[4] / 8

    # Both sides are straight in the utilisation.
    at_rest, at_full = month(0.0), month(1.0)
    slope = hour * HOURS_PER_MONTH - (at_full - at_rest)
    return at_rest / slope if slope > 0 else math.inf
