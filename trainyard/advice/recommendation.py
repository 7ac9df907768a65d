"""Every way to run a training on a cloud's machines, ranked; and which is best.

The set of ways does not depend on the deadline or the budget; these only rule some out, so a longer deadline or a
larger budget never costs more. Ranked by typical cost, then by hours, then by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.advice import convolution, parallelism, right_sizing
from trainyard.advice.caveats import price_doubts, reliable, unproven
from trainyard.advice.hardware import HOME_REGIONS, Machine, left_out, machines
from trainyard.advice.options import CAPACITIES, Option, offered, run_of
from trainyard.advice.prices import Figure, price
from trainyard.advice.request import Request, check
from trainyard.advice.sensitivity import Driver, drivers
from trainyard.advice.throughput import CALIBRATED_GPUS, goodput
from trainyard.advice.workload import Workload, workload_of

DEFAULT_DEADLINE_HOURS = 30 * 24.0
NODE_COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)
SHOWN = 8
PER_NODE = 2


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
