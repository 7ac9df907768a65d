"""One way to run a training on machines of a type: hours, cost, risk, and what data and checkpoints need."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainyard.advice.caveats import buying, doubts, sharing
from trainyard.advice.data_need import CheckpointNeed, DataNeed, checkpoint_need, data_need
from trainyard.advice.fit import Fit
from trainyard.advice.hardware import Machine
from trainyard.advice.hours import STARTUP_HOURS, run_hours
from trainyard.advice.prices import Capacity, Price
from trainyard.advice.ranges import Range
from trainyard.advice.request import Request
from trainyard.advice.spot import Interruptions
from trainyard.advice.throughput import CALIBRATED_GPUS
from trainyard.advice.workload import Workload
from trainyard.conventions import HOURS_A_MONTH

CAPACITIES: tuple[Capacity, ...] = ("spot", "on-demand", "capacity-block", "flex-start", "reserved-1y", "reserved-3y")
"""Ways of paying that are ranked. Calendar mode is left out: its limits were not established."""


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
        """Number of GPUs that one run takes."""
        return self.nodes * self.machine.gpus


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
