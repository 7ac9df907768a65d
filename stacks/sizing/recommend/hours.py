"""Hours of a run: the work at the speed reached, and what stretches it."""

from __future__ import annotations

from stacks.sizing.recommend.parallelism import Fit
from stacks.sizing.recommend.ranges import Range
from stacks.sizing.recommend.spot import Interruptions, interruptions

GOODPUT = Range(0.59, 0.95, 1.0)
"""Share of the time that trains, apart from the interruptions counted on their own: evaluation, stalls, restarts by
hand. OPT-175B 59 %; Llama 3 above 90 % with interruptions; 95 % is an assumption between."""
STARTUP_HOURS = Range(0.02, 0.25, 0.6)
"""Nodes, images, compilation: warm nodes a minute; cold ones up to 12 min and the first torch.compile 7
(modded-nanogpt)."""


def run_hours(
    tokens: float, fit: Fit, gpus: int, nodes: int, save_seconds: float, reclaimed_per_month: Range | None
) -> tuple[Range, Interruptions]:
    """Hours of one run with all that stretches it, and its interruptions; `tokens` are images for a convolution."""
    rate = fit.tokens_per_second
    bare = tokens / rate.typical / GOODPUT.typical / 3600
    broken = interruptions(bare, gpus, nodes, save_seconds, reclaimed_per_month)
    stretch = broken.stretch
    hours = Range(
        tokens / rate.high / GOODPUT.high / 3600 * stretch.low + STARTUP_HOURS.low,
        bare * stretch.typical + STARTUP_HOURS.typical,
        tokens / rate.low / GOODPUT.low / 3600 * stretch.high + STARTUP_HOURS.high,
    )
    return hours, broken
