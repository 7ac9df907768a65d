"""Throughput on one rank, on one node and on all ranks; weak-scaling efficiency.

Every rank trains the same batch size, so efficiency = (samples a second of N ranks / N) / samples a second of one.
One rank alone means that the others wait without computing. Median of several windows.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from . import training
from .job import Job
from .result import Figure, Outcome, passed, skipped

WINDOWS = 5
STRAGGLE_S = 0.3
"""What the seeded fault adds to each step of the last rank."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: nothing to scale to")
    counts = sorted({1, job.local_world_size, job.world_size})
    points: list[dict[str, Any]] = []
    for count in counts:
        group = dist.new_group(list(range(count)))
        mine = _throughput(job, count, group) if job.rank < count else 0.0
        rates: list[float] = job.gather(mine)
        total = min(rates[:count]) * count  # the ranks move in step, so all have the slowest one's rate
        efficiency = total / count / points[0]["samples_per_second"] if points else 1.0
        points.append(
            {
                "ranks": count,
                "nodes": max(1, count // job.local_world_size),
                "samples_per_second": total,
                "efficiency": efficiency,
            }
        )
    last = points[-1]
    outcome = passed(
        f"{last['samples_per_second']:.0f} samples/s on {last['ranks']} ranks, "
        f"{points[0]['samples_per_second']:.0f} on one",
        figure=Figure("scaling efficiency", last["efficiency"], ""),
        figures=[Figure("training", last["samples_per_second"], "samples/s")],
        curves={"scaling": points},
    )
    outcome = job.judge(
        outcome,
        "scaling_efficiency",
        "a slow rank or a slow network holds the others back; compare with the collectives' bandwidth, and look for a "
        "device with lowered clocks",
    )
    if outcome.verdict == "below" and job.cuda and job.nodes > 1 and not job.options.expect_transport:
        outcome.verdict = "pass"
        outcome.reason += " (reported only: the plan promises no fabric between the nodes)"
    return outcome


def _throughput(job: Job, count: int, group: Any) -> float:
    """Samples a second of this rank while `count` ranks train together."""
    width, depth, size = (4096, 6, 1024) if job.cuda else (256, 3, 1024)
    model = training.make_model(job.options.seed, width, depth, device=job.device)
    wrapped: torch.nn.Module = model
    if count > 1:
        wrapped = DistributedDataParallel(model, device_ids=[job.local_rank] if job.cuda else None, process_group=group)
    optimizer = training.make_optimizer(model)
    inputs, targets = (t.to(job.device) for t in training.batch(job.options.seed, 0, job.rank, size, width))
    slow = job.broken("scaling") and job.rank == job.world_size - 1
    steps = 10 if job.cuda else 4
    rates = []
    for window in range(-1, WINDOWS):
        job.synchronize()
        if count > 1:
            dist.barrier(group=group, device_ids=[job.local_rank] if job.cuda else None)
        before = time.perf_counter()
        for _ in range(steps):
            with torch.autocast(job.device.type, dtype=torch.bfloat16, enabled=job.cuda):
                training.train_step(wrapped, optimizer, inputs, targets)
            if slow:
                time.sleep(STRAGGLE_S)
        job.synchronize()
        if window >= 0:
            rates.append(size * steps / (time.perf_counter() - before))
    return statistics.median(rates)
