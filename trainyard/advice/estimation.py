"""A training on hardware that is given: whether it fits, each way to train, how long it takes, what it costs.

`recommend` looks for the hardware; here it is known: an instance type of the catalogue, or any GPU of it in any number,
as on premises or in a published run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trainyard.advice import convolution, model_parallel, parallelism
from trainyard.advice.caveats import doubts, price_doubts
from trainyard.advice.fit import ANY_WAY, Fit, Ways, Work
from trainyard.advice.hardware import HOME_REGIONS, Machine
from trainyard.advice.hours import STARTUP_HOURS
from trainyard.advice.memory import Strategy, host_bytes, model_bytes, usable_bytes
from trainyard.advice.model_parallel import Layout
from trainyard.advice.options import CAPACITIES, Option, offered, run_of
from trainyard.advice.prices import price
from trainyard.advice.ranges import Range
from trainyard.advice.request import Request, check
from trainyard.advice.spot import Interruptions
from trainyard.advice.workload import Workload, workload_of
from trainyard.conventions.quantities import GIBIBYTE
from trainyard.problems import Problem, SettingsError

TIGHT_SHARE = 0.05
LARGEST_STEP_TOKENS = 16e6
"""The most tokens of a step that is enlarged so that every GPU has a sequence: those of Llama 3.1 405B, the largest in
wide use."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one way to train fits, at one micro-batch (sequences). Memory in GiB a GPU, `host_gib` a node."""

    name: str  # for people
    strategy: Strategy
    recompute: bool
    micro_batch: int
    states_gib: float
    activations_gib: float
    usable_gib: float
    host_gib: float
    fits: bool
    largest_micro_batch: int  # 0: none fits
    reason: str  # why not; empty where it fits

    @property
    def tight(self) -> bool:
        """Too close to call: within 5 % of what is usable, less than the formulas know of fragmentation and buffers."""
        return abs(self.needed_gib - self.usable_gib) < TIGHT_SHARE * self.usable_gib

    @property
    def needed_gib(self) -> float:
        """Memory of one GPU that training needs, GiB: model states and activations."""
        return self.states_gib + self.activations_gib


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the hardware does with the training. `fit` and all that follows from it is None where nothing fits."""

    request: Request
    workload: Workload
    machine: Machine
    nodes: int
    verdicts: tuple[Verdict, ...]  # empty for convolutional networks
    assumptions: tuple[str, ...]
    flags: tuple[str, ...]
    fit: Fit | None = None
    training_hours: Range | None = None  # interruptions and evaluation counted, start-up not: what publications give
    hours: Range | None = None  # with start-up
    interruptions: Interruptions | None = None  # of hardware alone
    offers: tuple[Option, ...] = ()  # by capacity, where the catalogue prices the machine; cost of the run
    refusal: str = ""

    @property
    def gpus(self) -> int:
        """GPUs of all nodes."""
        return self.nodes * self.machine.gpus

    @property
    def gpu_hours(self) -> Range | None:
        """Training hours of all GPUs, start-up left out as in publications."""
        return self.training_hours.times(self.gpus) if self.training_hours else None


def estimate(
    request: Request, machine: Machine, nodes: int, ways: Ways = ANY_WAY, assumed: tuple[str, ...] = ()
) -> Estimate:
    """Memory verdicts, hours, and cost where the machine has a price, of a training on `nodes` machines.

    Raises:
        SettingsError: the request is wrong; every problem, named by the option.
    """
    workload = workload_of(request, check(request))
    region = request.region or HOME_REGIONS[machine.cloud]
    if machine.regions and region not in machine.regions:
        sold = f"{machine.type} is sold in {', '.join(machine.regions)}"
        raise SettingsError([Problem("--region", region, sold)])
    _no_way_of_transformers(workload, ways)
    assumptions = [*workload.assumptions, *assumed]
    work, count, step = workload.work, machine.gpus * nodes, workload.step
    least = float(count * work.sequence * (ways.micro_batch or 1))
    if step and work.batch_tokens < least and not workload.convolutional:
        # Nobody runs with idle GPUs: a sequence each, as long as such a step still trains.
        wanted = max(work.batch_tokens, min(least, LARGEST_STEP_TOKENS))
        step = f"{wanted:,.0f} tokens a step; --global-batch"
        work = replace(work, batch_tokens=wanted)
        workload = replace(workload, work=work)
    assumptions += filter(None, [step])
    fit: Fit | None = None
    verdicts: tuple[Verdict, ...] = ()
    if workload.convolutional:
        fit = convolution.choose(work, machine, nodes)
    elif not workload.refusal and machine.gpu.training_tflops(work.arithmetic) is not None:
        fit = parallelism.choose(work, machine, nodes, ways)
        cut = Layout(fit.tensor, fit.stages, count // (fit.tensor * fit.stages)) if fit and fit.tensor > 1 else None
        verdicts = tuple(
            verdict
            for strategy in ways.strategies
            for recompute in ways.recompute
            if (verdict := _verdict(work, machine, nodes, strategy, recompute, ways.micro_batch or 1, cut)) is not None
        )
    found = Estimate(
        request=request,
        workload=workload,
        machine=machine,
        nodes=nodes,
        verdicts=verdicts,
        assumptions=tuple(assumptions),
        flags=workload.flags,
    )
    if fit is None:
        return replace(found, refusal=workload.refusal or _refusal(workload, machine, nodes, verdicts))
    run = run_of(workload, machine, nodes, fit)
    training, broken = run.training_hours(workload, None)
    hours = training.plus(STARTUP_HOURS)
    offers = tuple(
        option
        for capacity in CAPACITIES
        if machine.regions and (offer := price(machine, region, capacity)) is not None
        if (option := offered(request, workload, run, offer, request.deadline_hours or hours.high)) is not None
    )
    return replace(
        found,
        fit=fit,
        training_hours=training,
        hours=hours,
        interruptions=broken,
        offers=offers,
        flags=(
            *workload.flags,
            *doubts(work, fit, machine, count, broken),
            *(price_doubts(request, region, (offer.price for offer in offers))[0] if offers else ()),
            *dict.fromkeys(flag for offer in offers for flag in offer.flags if flag.startswith(offer.capacity)),
        ),
    )


def _no_way_of_transformers(workload: Workload, ways: Ways) -> None:
    """Refuses ways to train that a network which is measured as a whole does not have."""
    if workload.convolutional and ways != ANY_WAY:
        given = (
            ("--strategy", ways.strategies != ANY_WAY.strategies),
            ("--recompute", ways.recompute != ANY_WAY.recompute),
            ("--micro-batch", ways.micro_batch is not None),
            ("--mfu", ways.mfu is not None),
        )
        allowed = f"is for transformers; {workload.work.model.name} is taken as measured"
        raise SettingsError([Problem(key, "a value", allowed) for key, is_given in given if is_given])


def _verdict(
    work: Work,
    machine: Machine,
    nodes: int,
    strategy: Strategy,
    recompute: bool,
    micro_batch: int,
    chosen: Layout | None,
) -> Verdict | None:
    """Whether a way fits; a cut model is cut as `chosen`, else into the least memory.

    None where a model cannot be cut on these machines at all.
    """
    count = machine.gpus * nodes
    usable = usable_bytes(machine.gpu_memory_gib, count)
    one = work.activations[recompute]
    if strategy == "TP + PP":
        cut = chosen or model_parallel.smallest(work, machine, nodes)
        if cut is None:
            return None
        name, one = cut.name, one / cut.tensor
        states = model_parallel.model_bytes(work.model, work.states, cut)
        few = work.sequences < micro_batch * cut.replicas
        reason = "under a sequence a replica" if few else ""
    else:
        name, reason = strategy, parallelism.obstacle(work, machine, nodes, strategy)
        states = model_bytes(work.states, work.model.largest_layer_params, strategy, count)
    largest = 0 if reason else max(0, int((usable - states) // one))
    if not reason and largest < micro_batch:
        over = (states + one * micro_batch - usable) / GIBIBYTE
        reason = f"{over:,.0f} GiB over" if over >= 10 else f"{over:.1f} GiB over"
    return Verdict(
        name=f"{name}, recompute" if recompute else name,
        strategy=strategy,
        recompute=recompute,
        micro_batch=micro_batch,
        states_gib=states / GIBIBYTE,
        activations_gib=one * micro_batch / GIBIBYTE,
        usable_gib=usable / GIBIBYTE,
        host_gib=host_bytes(work.states, strategy, nodes) / GIBIBYTE,
        fits=not reason,
        largest_micro_batch=largest,
        reason=reason,
    )


def _refusal(workload: Workload, machine: Machine, nodes: int, verdicts: tuple[Verdict, ...]) -> str:
    name, count = workload.work.model.name, machine.gpus * nodes
    if workload.convolutional:
        known = ", ".join(convolution.measured_gpus(name))
        return f"{name} was measured on one node of {known} only; no formula carries over"
    if machine.gpu.training_tflops(workload.work.arithmetic) is None:
        return f"{machine.gpu.name} has no {workload.work.precision}"
    if not verdicts:
        return f"cutting {name} takes NVLink between the GPUs of a node, which {machine.type} does not have"
    tried = sorted((verdict for verdict in verdicts if not verdict.fits), key=lambda verdict: verdict.needed_gib)
    verb = "do" if name.endswith("parameters") else "does"
    closest = f"; the closest, {tried[0].name}: {tried[0].reason}" if tried else ""
    return (
        f"{name} {verb} not fit {count} {machine.gpu.name}{closest}. It takes more GPUs, a larger --global-batch, "
        "--recompute, a smaller --optimizer, or LoRA"
    )
