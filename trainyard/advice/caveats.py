"""What to beware of in an option: in its speed, in its price, in how it is paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.advice.fit import Fit, Work
from trainyard.advice.hardware import HOME_REGIONS, Machine, machines
from trainyard.advice.prices import STALE_DAYS, Figure, Price, price
from trainyard.advice.ranges import Range
from trainyard.advice.request import Request
from trainyard.advice.spot import Interruptions
from trainyard.advice.throughput import CALIBRATED_GPUS
from trainyard.problems import count

FEW_TOKENS = 2048
"""A GPU of the calibration holds at least so many tokens at once. What happens with fewer is from the tables of
fine-tunes of Lightning-AI/litgpt (2023-10) and QwenLM/Qwen (2023)."""


def doubts(work: Work, fit: Fit, machine: Machine, gpus: int, broken: Interruptions) -> Iterator[str]:
    """What to beware of in a fit, a line each."""
    precision = work.arithmetic
    if fit.mfu.typical and fit.micro_batch * work.sequence < FEW_TOKENS:
        yield (
            f"{fit.micro_batch * work.sequence:,} tokens at once on a GPU, where the calibration has {FEW_TOKENS:,}: "
            "published runs with a sequence of 256 to 1,300 took two to six times as long"
        )
    if not fit.utilisation.measured:
        yield f"no measurement on {machine.gpu.name}: utilisation carried over from H100"
    if machine.gpu.peak_tflops(precision) is None:
        yield f"{machine.gpu.name} has no {precision}: fp16 with loss scaling"
    if not fit.utilisation.within:
        yield f"{gpus} GPUs: the calibration ends at {CALIBRATED_GPUS}"
    if fit.communication_share > 0.1:
        pipeline = " and the pipeline" if fit.stages > 1 else ""
        yield f"{fit.communication_share:.0%} of a step waits for the network{pipeline}"
    if fit.tensor > 1:
        yield "tensor and pipeline parallelism: by formula, nothing of it is in the calibration"
    if machine.memory_gib < fit.host_gib * 1.5:
        yield "host memory is nearly full with offloaded states"
    if fit.margin < 0.05:
        yield f"only {fit.margin:.0%} of the GPU's memory is free"
    if broken.mean_hours_between < 2:
        yield f"interrupted every {broken.mean_hours_between:.1f} h"


def price_doubts(request: Request, region: str, prices: Iterable[Price]) -> tuple[list[str], tuple[Figure, ...]]:
    """What to beware of in some prices, a line each, and the figures that are old."""
    found = []
    if region != HOME_REGIONS[request.cloud]:
        found.append(
            f"on-demand prices are those of {HOME_REGIONS[request.cloud]}; {region} may differ by a tenth or more"
        )
    used = dict.fromkeys(figure for price_ in prices for figure in price_.figures)
    stale = tuple(figure for figure in used if figure.stale(request.today))
    if stale:
        found.append(f"{len(stale)} price figure{'s are' if len(stale) > 1 else ' is'} older than {STALE_DAYS} days")
    return found, stale


def reliable(offer: Price, request: Request) -> bool:
    """Unproven spot is an option for those who ask for spot and nothing else."""
    return not offer.unproven or request.spot is True


def unproven(request: Request, region: str) -> Iterator[str]:
    """Spot that is left out for want of an interruption rate, a line each."""
    if request.spot is None:
        for machine in machines(request.cloud):
            if region in machine.regions and (offer := price(machine, region, "spot")) and offer.unproven:
                usd = offer.usd_per_hour.typical
                yield f"{machine.type} spot, about {usd:,.2f} USD an hour: no interruption rate published; see --spot"


def buying(offer: Price, nodes: int, hours: Range) -> Iterator[str]:
    """What a way of paying takes that is not on-demand or spot."""
    if offer.capacity == "capacity-block":
        yield "capacity-block: bought ahead for whole days, where and when one is free; the price is of its date"
    elif offer.block is not None:
        ends = f", ends after {count(offer.block.longest_days, 'day')} at most" if offer.block.longest_days else ""
        yield f"{offer.capacity}: starts when the machines are free{ends}"
    if offer.block is not None and not offer.block.holds(nodes, hours.high):
        yield f"{offer.capacity}: at the high end the run outlasts it"
    if offer.unproven:
        yield "spot without a published interruption rate: there may be none to be had"


def sharing(request: Request, fit: Fit, machine: Machine) -> Iterator[str]:
    """Whether a GPU would hold several trials of a sweep at once."""
    slices = machine.gpu.mig_instances
    if request.sweep > 1 and slices and fit.strategy == "DDP":
        one = fit.states_gib + fit.activations_gib / fit.micro_batch
        # The smallest MIG instance has a little less than its share of the memory.
        if one <= machine.gpu_memory_gib / (slices + 1):
            yield f"trials are small: a GPU could hold {slices} as MIG instances, one GPU a trial; not counted here"
