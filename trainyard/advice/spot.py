"""Interruptions and the checkpoint interval that loses least.

Young: T = sqrt(2·MTTF·save). With an asynchronous save the time that training stands still counts, but the interval is
never below the time that the upload takes. Hardware failures: 47.7 days between them on 8 GPUs, 7.9 h on 1,024, 1.8 h
on 16,384 (Meta RSC, arXiv 2410.21680 and 2410.18124). Spot: the share of nodes reclaimed in a month is read as the
chance that a node is reclaimed within a month (an assumption: the advisor publishes no hourly rate); losing one node
stops all.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

from trainyard.advice.ranges import Range
from trainyard.conventions import HOURS_A_MONTH

FAILURES = ((8, 47.7 * 24), (1024, 7.9), (16_384, 1.8))
BLOCKED_SHARE = 0.10
"""Share of a save during which asynchronous saving stops training: 6.3 of 148.8 s were published for 7B (PyTorch, IBM),
so less than 10 % is the bar."""
RESTART_HOURS = Range(0.1, 0.25, 2.0)
"""Hours from the loss of a node to training again: a pod in 5 min, a cold node with its image in up to 12; high where
capacity must be waited for (assumption)."""
REPAIR_HOURS = Range(0.05, 0.15, 0.5)
"""Hours from a hardware failure to training again, with a spare node and automatic restart: Llama 3 trained more than
90 % of the time with a failure every three hours, so less than 0.3 h each; the split is an assumption."""

_NONE = (0.0, 0.0, 0.0)
_REPAIR = (REPAIR_HOURS.low, REPAIR_HOURS.typical, REPAIR_HOURS.high)
_RESTART = (RESTART_HOURS.low, RESTART_HOURS.typical, RESTART_HOURS.high)


@dataclass(frozen=True, slots=True)
class Interruptions:
    """What interruptions do to a run; `stretch` multiplies its hours."""

    interval_minutes: float  # between checkpoints
    expected: Range  # in the whole run
    stretch: Range
    mean_hours_between: float


@lru_cache(maxsize=4096)
def hardware_mttf_hours(gpus: int) -> float:
    """Mean hours between hardware failures of a job, straight in logarithms between the published figures."""
    if gpus <= FAILURES[0][0]:
        return FAILURES[0][1] * FAILURES[0][0] / gpus
    index = min(bisect.bisect([count for count, _ in FAILURES], gpus), len(FAILURES) - 1)
    (low, at_low), (high, at_high) = list(itertools.pairwise(FAILURES))[index - 1]
    return float(at_low * (gpus / low) ** (math.log(at_high / at_low) / math.log(high / low)))


def young_hours(mttf_hours: float, save_hours: float) -> float:
    """Hours between checkpoints that lose the least time, by Young's formula."""
    return math.sqrt(2 * mttf_hours * save_hours)


def hazard_per_hour(reclaimed_per_month: float) -> float:
    """Rate at which one node is reclaimed, from the share reclaimed in a month."""
    return -math.log(1 - min(reclaimed_per_month, 0.999)) / HOURS_A_MONTH


def interruptions(
    hours: float, gpus: int, nodes: int, save_seconds: float, reclaimed_per_month: Range | None
) -> Interruptions:
    """Interval, expected interruptions and stretch of a run of `hours` without any.

    Args:
        hours: the run's length were nothing to happen.
        gpus: of the whole job; hardware failures come with them.
        nodes: of the whole job; reclaims come with them.
        save_seconds: until a checkpoint is in its tier.
        reclaimed_per_month: share of spot nodes; None where no node is spot.
    """
    broken = 1 / hardware_mttf_hours(gpus)
    # Hardware fails half to one and a half times as often as published: an assumption.
    failures = (broken / 2, broken, broken * 1.5)
    share = reclaimed_per_month
    reclaims = tuple(nodes * hazard_per_hour(one) for one in (share.low, share.typical, share.high)) if share else _NONE
    mean = 1 / (failures[1] + reclaims[1])
    save = save_seconds / 3600
    blocked = save * BLOCKED_SHARE
    interval = min(max(young_hours(mean, blocked), save, 1 / 60), max(hours, 1 / 60))
    stretches, expected = [], []
    for failure, reclaim, repair, restart in zip(failures, reclaims, _REPAIR, _RESTART, strict=True):
        # Half an interval is lost, and the checkpoint is read again in the time that it took to save.
        lost = (reclaim + failure) * (interval / 2 + save) + reclaim * restart + failure * repair
        # Above one the job would never end; ten times is as good as never.
        stretches.append((1 + blocked / interval) / max(0.1, 1 - lost))
        expected.append(hours * (reclaim + failure) * stretches[-1])
    return Interruptions(interval * 60, Range(*expected), Range(*stretches), mean)
