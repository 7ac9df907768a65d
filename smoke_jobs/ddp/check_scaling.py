"""Throughput on one rank, on one node and on all ranks; weak-scaling efficiency.

Every rank trains the same batch size, so efficiency = (samples a second of N ranks / N) / samples a second of one.
One rank alone means that the others wait without computing. Median of several windows.

What can be asked depends on how much the model computes for each byte of its gradients, on the device and on the
network; published efficiencies are of other models. So the same run says what is to be expected: the seconds that a
step takes one rank (c), and those that the gradients take on their way among all, in DDP's buckets and with nothing
else to do (r). Without any overlap of the two the efficiency is c / (c + r); DDP overlaps them and does better.
`SHARE` of it is asked where there are GPUs. Whether r itself is what the network can do is the collectives' business.
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
SHARE = 0.85
"""Of the efficiency without overlap that has to be reached."""

BUCKET_BYTES = 25 * 2**20
"""Of gradients that DDP sends at once, by default."""

STRAGGLE_S = 0.3
"""What the seeded fault adds to each step of the last rank."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: nothing to scale to")
    counts = sorted({1, job.local_world_size, job.world_size})
    points: list[dict[str, Any]] = []
    for count in counts:
        group = job.group(range(count))
        mine = _throughput(job, count, group) if job.rank < count else 0.0
        rates: list[float] = job.gather(mine)
        total = min(rates[:count]) * count  # the ranks move in step, so all have the slowest one's rate
        efficiency = total / count / points[0]["samples_per_second"] if points else 1.0
        reductions: list[float] = job.gather(_reduction(job, group) if count > 1 and job.rank < count else 0.0)
        points.append(
            {
                "ranks": count,
                "nodes": max(1, count // job.local_world_size),
                "samples_per_second": total,
                "efficiency": efficiency,
                "expected": expected(_sizes(job)[2] / points[0]["samples_per_second"], max(reductions))
                if points
                else 1.0,
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
    outcome = job.judge(outcome, "scaling_efficiency", HINT)
    asked = outcome.threshold is not None and outcome.threshold["kind"] == "gate"
    return outcome if asked or not job.cuda else judged(outcome, last["expected"])


HINT = (
    "a slow rank or a slow network holds the others back; compare with the collectives' bandwidth, and look for a "
    "device with lowered clocks"
)


def expected(step_s: float, reduction_s: float) -> float:
    """The efficiency of a step of so many seconds whose gradients are sent after it, for so many more."""
    return step_s / (step_s + reduction_s)


def judged(outcome: Outcome, value: float) -> Outcome:
    """The outcome with the efficiency that this run lets expect as its threshold."""
    assert outcome.figure is not None, "an efficiency was measured"
    floor = SHARE * value
    met = outcome.figure.value >= floor
    outcome.threshold = {
        "value": value,
        "tolerance": 1 - SHARE,
        "floor": floor,
        "kind": "gate",
        "source": "derived in this run: one rank's step and the reduction of its gradients, one after the other",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "met": met,
    }
    if not met:
        outcome.verdict = "below"
        outcome.reason = (
            f"scaling efficiency is {outcome.figure.value:.4g}, {floor:.4g} is needed ({value:.4g} is what this "
            f"network and this device give without any overlap): {HINT}"
        )
    return outcome


def _sizes(job: Job) -> tuple[int, int, int]:
    """Width and depth of the model, and samples a step."""
    return (4096, 6, 1024) if job.cuda else (256, 3, 1024)


def _reduction(job: Job, group: Any) -> float:
    """Seconds that a group takes to sum up the gradients of the model, in DDP's buckets: the median of some rounds."""
    width, depth, _ = _sizes(job)
    model = training.make_model(job.options.seed, width, depth, device=job.device)
    left = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    buckets = []
    while left > 0:
        buckets.append(torch.zeros(max(1, min(left, BUCKET_BYTES) // 4), device=job.device))
        left -= BUCKET_BYTES
    seconds = []
    for window in range(-1, WINDOWS):
        job.synchronize()
        before = time.perf_counter()
        for bucket in buckets:
            dist.all_reduce(bucket, group=group)
        job.synchronize()
        if window >= 0:
            seconds.append(time.perf_counter() - before)
    return statistics.median(seconds)


def _throughput(job: Job, count: int, group: Any) -> float:
    """Samples a second of this rank while `count` ranks train together."""
    width, depth, size = _sizes(job)
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
