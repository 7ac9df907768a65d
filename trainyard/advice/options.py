"""Every way to run a training on a cloud's machines: hours, cost, risk; and which is best.

The set of ways does not depend on the deadline or the budget; these only rule some out, so a longer deadline or a
larger budget never costs more. Ranked by typical cost, then by hours, then by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.advice import convolution, parallelism, right_sizing
from trainyard.advice.caveats import buying, doubts, price_doubts, reliable, sharing, unproven
from trainyard.advice.data_need import CheckpointNeed, DataNeed, checkpoint_need, data_need
from trainyard.advice.fit import Fit
from trainyard.advice.hardware import HOME_REGIONS, Machine, left_out, machines
from trainyard.advice.hours import STARTUP_HOURS, run_hours
from trainyard.advice.prices import Capacity, Figure, Price, price
from trainyard.advice.ranges import Range
from trainyard.advice.request import Request, check
from trainyard.advice.sensitivity import Driver, drivers
from trainyard.advice.spot import Interruptions
from trainyard.advice.throughput import CALIBRATED_GPUS, goodput
from trainyard.advice.workload import Workload, workload_of
from trainyard.conventions import HOURS_A_MONTH

DEFAULT_DEADLINE_HOURS = 30 * 24.0
NODE_COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)
CAPACITIES: tuple[Capacity, ...] = ("spot", "on-demand", "capacity-block", "flex-start", "reserved-1y", "reserved-3y")
"""Ways of paying that are ranked. Calendar mode is left out: its limits were not established."""
SHOWN = 8
PER_NODE = 2


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run it. Cost is of the run, or of the whole sweep; `copies` trials run at the same time."""

    machine: Machine
    nodes: int  # of one run
    copies: int
    price: Price
    fit: Fit
    hours: Range  # until the run, or the sweep, is done
    cost_usd: Range
    monthly_usd: Range | None
    interruptions: Interruptions  # of one run
    data: DataNeed
    checkpoint: CheckpointNeed
    meets_deadline: bool
    may_be_late: bool
    in_budget: bool
    flags: tuple[str, ...]

    @property
    def capacity(self) -> Capacity:
        """How the machines are paid for."""
        return self.price.capacity

    @property
    def gpus(self) -> int:
        """GPUs of one run."""
        return self.nodes * self.machine.gpus


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The ranked options; `options` empty with a `refusal` where nothing can be recommended.

    `nearest` then holds what comes closest, `points` every way that fits (for a picture).
    """

    request: Request
    workload: Workload
    region: str
    deadline_hours: float
    options: tuple[Option, ...]
    nearest: tuple[Option, ...]
    points: tuple[Option, ...]
    drivers: tuple[Driver, ...]  # of the best option, the strongest first
    assumptions: tuple[str, ...]
    flags: tuple[str, ...]
    stale: tuple[Figure, ...]
    left_out: tuple[str, ...]
    opinion: str  # of the agency guide's right-sizing table
    refusal: str

    @property
    def best(self) -> Option | None:
        """The first option."""
        return self.options[0] if self.options else None


def recommend(request: Request) -> Recommendation:
    """The ranked options for a request.

    Raises:
        SettingsError: the request is wrong; every problem, named by the option.
    """
    workload = workload_of(request, check(request))
    region = request.region or HOME_REGIONS[request.cloud]
    deadline = request.deadline_hours or DEFAULT_DEADLINE_HOURS
    points = () if workload.refusal else tuple(_points(request, workload, region, deadline))
    good = sorted((point for point in points if point.meets_deadline and point.in_budget), key=_rank)
    options = _shown(good)
    nearest = () if options else _nearest(points)
    refusal = workload.refusal or ("" if options else _refusal(request, workload, region, deadline, points))
    assumptions = [*workload.assumptions, *filter(None, [workload.step])]
    if request.deadline_hours is None:
        assumptions.append("deadline 30 days; --deadline sets another")
    if request.sweep > 1:
        assumptions.append("typical: every trial runs to its end; low: successive halving (ASHA) stops most early")
    opinion = ""
    if options and request.task in ("language", "fine-tune"):
        ranked = [(option.machine.gpu.name, option.gpus) for option in options]
        opinion = right_sizing.opinion(workload.work.model.params, ranked)
    about_prices, stale = price_doubts(request, region, (option.price for option in options or nearest))
    flags = [*workload.flags, *about_prices]
    return Recommendation(
        request=request,
        workload=workload,
        region=region,
        deadline_hours=deadline,
        options=options,
        nearest=nearest,
        points=points,
        drivers=_drivers(options[0], workload) if options else (),
        assumptions=tuple(assumptions),
        flags=tuple(flags),
        stale=stale,
        left_out=(*left_out(request.cloud), *unproven(request, region)),
        opinion=opinion,
        refusal=refusal,
    )


def _drivers(best: Option, workload: Workload) -> tuple[Driver, ...]:
    return drivers(best.fit, best.price, best.interruptions, goodput(best.gpus), workload.token_spread)


def _rank(option: Option) -> tuple[float, float, str, str, int]:
    return (option.cost_usd.typical, option.hours.typical, option.machine.type, option.capacity, option.nodes)


def _shown(ranked: list[Option]) -> tuple[Option, ...]:
    """The best size of each GPU model, GPUs a node and capacity; at most two capacities of a kind of node."""
    seen: dict[tuple[str, int, str], Option] = {}
    per_node: dict[tuple[str, int], int] = {}
    for option in ranked:
        node = (option.machine.gpu.name, option.machine.gpus)
        if (*node, option.capacity) not in seen and per_node.get(node, 0) < PER_NODE:
            seen[*node, option.capacity] = option
            per_node[node] = per_node.get(node, 0) + 1
    return tuple(seen.values())[:SHOWN]


def _nearest(points: tuple[Option, ...]) -> tuple[Option, ...]:
    """Where nothing meets both: the fastest in the budget and the cheapest in time."""
    found = []
    in_budget = [point for point in points if point.in_budget]
    in_time = [point for point in points if point.meets_deadline]
    if in_budget:
        found.append(min(in_budget, key=lambda point: (point.hours.typical, _rank(point))))
    if in_time:
        found.append(min(in_time, key=_rank))
    if not found and points:
        found.append(min(points, key=lambda point: (point.hours.typical, _rank(point))))
    return tuple(dict.fromkeys(found))


def _refusal(request: Request, workload: Workload, region: str, deadline: float, points: tuple[Option, ...]) -> str:
    sold = [machine for machine in machines(request.cloud) if region in machine.regions]
    if not sold:
        return f"no GPU instance of the catalogue is sold in {region}"
    if workload.convolutional and not points:
        known = ", ".join(convolution.measured_gpus(workload.work.model.name))
        return (
            f"{workload.work.model.name} was measured on {known} only, and {region} sells none of them; "
            "no formula carries over"
        )
    if not points:
        return (
            f"{workload.work.model.name} fits no allowed number of instances in {region}, whole, sharded or cut; "
            "it needs more nodes (--max-nodes), a larger batch (--global-batch), or LoRA"
        )
    fastest = min(point.hours.typical for point in points)
    if all(not point.meets_deadline for point in points):
        return f"nothing in {region} is done within {deadline:,.0f} h; the fastest takes {fastest:,.0f} h"
    month = " a month" if request.monthly_runs is not None else ""
    return f"nothing within {deadline:,.0f} h costs at most {request.budget_usd:,.0f} USD{month}"


def _points(request: Request, workload: Workload, region: str, deadline: float) -> Iterator[Option]:
    for machine in machines(request.cloud):
        if region not in machine.regions:
            continue
        offers = [
            offer
            for capacity in CAPACITIES
            if not (request.spot is True and capacity != "spot") and not (request.spot is False and capacity == "spot")
            if (offer := price(machine, region, capacity)) is not None and reliable(offer, request)
        ]
        for nodes in _node_counts(request, machine) if offers else ():
            chooser = convolution.choose if workload.convolutional else parallelism.choose
            fit = chooser(workload.work, machine, nodes)
            if fit is not None:
                run = run_of(workload, machine, nodes, fit)
                for offer in offers:
                    found = offered(request, workload, run, offer, deadline)
                    if found is not None:
                        yield found


def _node_counts(request: Request, machine: Machine) -> Iterator[int]:
    """Counts to try: one where the network between nodes is slow; within the calibration unless more are allowed."""
    most = request.max_nodes or max(1, CALIBRATED_GPUS // machine.gpus)
    if machine.network_gbps < 50 or (machine.gpus < 4 and machine.network_gbps < 100):
        most = 1
    yield from (count for count in NODE_COUNTS if count <= most)
    if request.max_nodes and most == request.max_nodes and most not in NODE_COUNTS:
        yield most


@dataclass(frozen=True, slots=True)
class Run:
    """A fit with what does not depend on how it is paid for; training hours by the share of nodes reclaimed."""

    machine: Machine
    nodes: int
    fit: Fit
    checkpoint: CheckpointNeed
    data: DataNeed
    hours: dict[Range | None, tuple[Range, Interruptions]]

    def training_hours(self, workload: Workload, reclaimed_per_month: Range | None) -> tuple[Range, Interruptions]:
        """Hours of one run without start-up and its interruptions; `reclaimed_per_month` None where no node is spot."""
        if reclaimed_per_month not in self.hours:
            gpus, save = self.nodes * self.machine.gpus, self.checkpoint.save_seconds
            self.hours[reclaimed_per_month] = run_hours(
                workload.work.tokens, self.fit, gpus, self.nodes, save, reclaimed_per_month
            )
        one, broken = self.hours[reclaimed_per_month]
        if workload.token_spread:
            one = Range(one.low * (1 - workload.token_spread), one.typical, one.high * (1 + workload.token_spread))
        return one, broken


def run_of(workload: Workload, machine: Machine, nodes: int, fit: Fit) -> Run:
    """A fit with its checkpoint and data needs."""
    work = workload.work
    held = work.states
    mb_per_s = fit.tokens_per_second.typical / work.sequence * workload.bytes_per_sequence / 1e6
    return Run(
        machine,
        nodes,
        fit,
        checkpoint_need(held.trained * held.checkpoint_bytes_per_param, nodes, machine.network_gbps),
        data_need(mb_per_s, nodes * machine.gpus, nodes, machine.cloud),
        {},
    )


def offered(request: Request, workload: Workload, run: Run, offer: Price, deadline: float) -> Option | None:
    """A run paid for in one way; None where that way is not sold for it, or costs more than on-demand."""
    machine, nodes, fit = run.machine, run.nodes, run.fit
    gpus = nodes * machine.gpus
    training, broken = run.training_hours(workload, offer.reclaimed_per_month)
    one = training.plus(STARTUP_HOURS)
    copies = _copies(request, one.typical, deadline, nodes, machine.gpus)
    hours = one.times(math.ceil(request.sweep / copies))
    node_hours = one.times(request.sweep * nodes)
    paid = node_hours.times(offer.usd_per_hour)
    if offer.block is not None:
        if request.sweep > 1 or not offer.block.holds(nodes, hours.typical):
            return None
        paid = Range(*map(offer.block.paid_hours, (hours.low, hours.typical, hours.high)))
        paid = paid.times(nodes).times(offer.usd_per_hour)
    if request.sweep > 1:
        # Successive halving (ASHA, eta 3) trains log3(n) + 1 trials' worth where it stops the others early.
        early = min(1.0, (math.log(request.sweep, 3) + 1) / request.sweep)
        paid = Range(paid.low * early, paid.typical, paid.high)
        hours = Range(max(one.low, hours.low * early), hours.typical, hours.high)
    if offer.months:
        committed = _committed(request, offer, machine.usd_per_hour, node_hours, nodes * copies)
        if committed is None:
            return None
        paid = committed
    monthly = paid.times(request.monthly_runs) if request.monthly_runs is not None else None
    spend = monthly or paid
    return Option(
        machine=machine,
        nodes=nodes,
        copies=copies,
        price=offer,
        fit=fit,
        hours=hours,
        cost_usd=paid,
        monthly_usd=monthly,
        interruptions=broken,
        data=run.data,
        checkpoint=run.checkpoint,
        meets_deadline=hours.typical <= deadline,
        may_be_late=hours.high > deadline,
        in_budget=request.budget_usd is None or spend.typical <= request.budget_usd,
        flags=(
            *buying(offer, nodes, hours),
            *doubts(workload.work, fit, machine, gpus, broken),
            *sharing(request, fit, machine),
        ),
    )


def _copies(request: Request, hours: float, deadline: float, nodes: int, gpus_a_node: int) -> int:
    """Trials at the same time: as few as end the sweep in time, within the allowed nodes."""
    if request.sweep == 1:
        return 1
    waves = max(1, int(deadline // hours))
    most = max(1, (request.max_nodes or CALIBRATED_GPUS // gpus_a_node) // nodes)
    return min(math.ceil(request.sweep / waves), most)


def _committed(request: Request, offer: Price, on_demand_usd: float, node_hours: Range, nodes: int) -> Range | None:
    """Cost of the work on nodes that are paid for around the clock; None where on-demand would be cheaper.

    With runs every month a month's price is shared by its runs; a single run must last through the commitment.
    """
    if request.monthly_runs is None:
        committed: float = nodes * offer.months * HOURS_A_MONTH
    else:
        committed = nodes * HOURS_A_MONTH / request.monthly_runs
    paid = max(node_hours.typical, committed)
    if offer.usd_per_hour.typical * paid >= on_demand_usd * node_hours.typical:
        return None
    # What is committed is paid even if the run ends early.
    return Range(
        offer.usd_per_hour.low * max(node_hours.low, committed),
        offer.usd_per_hour.typical * paid,
        offer.usd_per_hour.high * max(node_hours.high, committed),
    )
