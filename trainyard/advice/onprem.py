"""What the same training costs a month: managed service, a cluster of one's own in the cloud, owned hardware.

Everything that is rented by the hour is on demand; the cluster is also priced on spot, with a one-year reservation and,
where they are sold, in Capacity Blocks or by the Dynamic Workload Scheduler.
Payback = purchase / (cloud a month - running the owned hardware a month), against the cluster on demand and against the
cheapest way to rent. The break-even utilisation is that of the owned GPUs above which a month of them, depreciation
included, costs less than the same hours of the cluster on demand. Published paybacks run from four months (a vendor,
continuous use) to 36: the assumptions decide, so each is an input with default, range and source
(`catalog/onprem.csv`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from trainyard.advice.assumed import Assumption, assumptions, defaults
from trainyard.advice.hardware import Machine
from trainyard.advice.managed import managed_price
from trainyard.advice.options import Option
from trainyard.advice.prices import BLOCKS, Capacity, Figure, Price, price
from trainyard.advice.ranges import Range
from trainyard.advice.recommendation import Recommendation
from trainyard.conventions import HOURS_A_MONTH
from trainyard.problems import Problem, SettingsError

GPUS_A_SERVER = 8
PLAUSIBLE_PAYBACK_MONTHS = (24, 36)
"""The agency guide asks for a payback of two to three years at most."""


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
    figures: tuple[Figure, ...]  # prices of renting, with their sources


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
    if option.price.months or option.price.block:  # paid for more than is used
        node_hours = option.hours.typical * option.nodes * option.copies
    months = max(1.0, option.hours.typical / HOURS_A_MONTH)
    per_month = node_hours * runs if runs is not None else node_hours / months
    gpu_hours = per_month * option.machine.gpus
    servers = max(1, math.ceil(gpu_hours / (HOURS_A_MONTH * GPUS_A_SERVER * known["owned_utilisation"].value) - 1e-9))
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
    if gpu_hours < HOURS_A_MONTH * GPUS_A_SERVER * known["owned_utilisation"].value * 0.5:
        notes.append("the work fills less than half of one owned server: most of it would stand idle")
    if payback.typical > PLAUSIBLE_PAYBACK_MONTHS[1]:
        notes.append("payback is above the 36 months after which the agency guide advises against buying")
    figures = _figures(recommendation, option, rented)
    notes += _old(figures, recommendation.request.today, option.machine.gpu.name, known)
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
        figures=figures,
    )


def _figures(recommendation: Recommendation, option: Option, rented: Price) -> tuple[Figure, ...]:
    """The prices of renting that the comparison is made of, with their sources."""
    kinds: tuple[Capacity, ...] = ("on-demand", "spot", "reserved-1y", *BLOCKS)
    offers = (price(option.machine, recommendation.region, kind) for kind in kinds)
    used = [figure for offer in offers if offer is not None for figure in offer.figures]
    return tuple(dict.fromkeys((*used, managed_price(option.machine, rented.usd_per_hour).figure)))


def _old(used: tuple[Figure, ...], today: date, gpu: str, known: Mapping[str, Assumption]) -> list[str]:
    """What the comparison used that is older than 180 days: prices of renting, and assumptions that were not given."""
    every = [
        *used,
        *(
            Figure(item.key, item.source, item.date)
            for item in known.values()
            if not item.given and item.key.partition(".")[2] in ("", gpu)
        ),
    ]
    old = dict.fromkeys(f"{figure.what} ({figure.date})" for figure in every if figure.stale(today))
    return [f"older than 180 days: {'; '.join(old)}"] if old else []


BOUNDS = ("low", "typical", "high")


def _payback(purchase: float, saving: float) -> float:
    return purchase / saving if saving > 0 else math.inf


def _managed(machine: Machine, rented: Price, node_hours: float, known: Mapping[str, Assumption]) -> Way:
    offer = managed_price(machine, rented.usd_per_hour)
    compute = offer.usd_per_hour.times(node_hours)
    people = _people(known, "managed_engineers")
    lines = (Line(f"{offer.name}, {offer.told}", compute.typical), Line("people", people.typical))
    return Way("managed training", lines, compute.plus(people))


def _cluster_otherwise(
    option: Option, region: str, node_hours: float, known: Mapping[str, Assumption]
) -> Iterator[Way]:
    """The cluster on spot, with enough nodes reserved for a year at the owned hardware's utilisation, and in blocks."""
    spot = price(option.machine, region, "spot")
    if spot is not None:
        yield _cluster("own cluster, spot", spot, node_hours, known)
    reserved = price(option.machine, region, "reserved-1y")
    if reserved is not None:
        nodes = max(1, math.ceil(node_hours / (HOURS_A_MONTH * known["owned_utilisation"].value) - 1e-9))
        what = f"{nodes} GPU node{'s' if nodes > 1 else ''} around the clock"
        paid = reserved.usd_per_hour.times(nodes * HOURS_A_MONTH)
        yield _paid_ahead("own cluster, reserved 1y", what, paid, known)
    for kind in BLOCKS:
        offer = price(option.machine, region, kind)
        hours = option.hours.typical
        if offer is not None and offer.block is not None and offer.block.holds(option.nodes * option.copies, hours):
            whole = offer.block.paid_hours(hours) / hours
            what = "GPU nodes, whole days" if offer.block.shortest_days else "GPU nodes at work"
            yield _paid_ahead(f"own cluster, {kind}", what, offer.usd_per_hour.times(node_hours * whole), known)


def _paid_ahead(name: str, what: str, paid: Range, known: Mapping[str, Assumption]) -> Way:
    """The cluster with nodes that are bought for a time, so that none is paid while it idles between runs."""
    base = known["cluster_base_usd_per_month"].range
    people = _people(known, "cluster_engineers")
    lines = (
        Line(what, paid.typical),
        Line("control plane, system nodes, network", base.typical),
        Line("people", people.typical),
    )
    return Way(name, lines, paid.plus(base).plus(people))


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
    busy = min(1.0, gpu_hours / (servers * GPUS_A_SERVER * HOURS_A_MONTH))
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
        kw * load * at("power_usage_effectiveness") * HOURS_A_MONTH * at("electricity_usd_per_kwh"),
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
    slope = hour * HOURS_A_MONTH - (at_full - at_rest)
    return at_rest / slope if slope > 0 else math.inf
