"""Hours of a run: the work at the speed reached, and what stretches it."""

from __future__ import annotations

from trainyard.advice.fit import Fit
from trainyard.advice.ranges import Range
from trainyard.advice.spot import Interruptions, interruptions
from trainyard.advice.throughput import goodput

STARTUP_HOURS = Range(0.02, 0.25, 0.6)
"""Nodes, images, compilation: warm nodes a minute; cold ones up to 12 min and the first torch.compile 7
(modded-nanogpt)."""


def run_hours(
    tokens: float, fit: Fit, gpus: int, nodes: int, save_seconds: float, reclaimed_per_month: Range | None
) -> tuple[Range, Interruptions]:
    """Hours of one run with all that stretches it but start-up, and its interruptions.

    `tokens` are images for a convolution.

    The published shares of time that trains have hardware failures in them, so these count on their own only where they
    alone would cost more; reclaimed spot nodes come on top.
    """
    rate, share = fit.tokens_per_second, goodput(gpus)
    bare = tokens / rate.typical / 3600
    failing = interruptions(bare, gpus, nodes, save_seconds, None)
    broken = failing
    if reclaimed_per_month is not None:
        broken = interruptions(bare, gpus, nodes, save_seconds, reclaimed_per_month)

    def hours(speed: float, training: float, failures: float, all_: float) -> float:
        return tokens / speed / 3600 * max(1 / training, failures) * all_ / failures

    alone, both = failing.stretch, broken.stretch
    trained = Range(
        hours(rate.high, share.high, alone.low, both.low),
        hours(rate.typical, share.typical, alone.typical, both.typical),
        hours(rate.low, share.low, alone.high, both.high),
    )
    return trained, broken
