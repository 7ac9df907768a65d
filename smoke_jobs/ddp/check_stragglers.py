"""Who computes slowly, where nobody waits for anybody: the same training steps on every rank without communication.

In a collective all ranks take as long as the slowest, and nothing says which one that is. Here each rank's own median
step counts: the slowest is named with its node and device, and a node whose ranks are all slow is named as a node.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch

from . import training
from .job import Job
from .result import Figure, Outcome, passed, skipped

STEPS = 20
STRAGGLE_S = 0.3
"""What the seeded fault adds to each step of the last rank."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: nobody to compare it with")
    job.barrier()
    times: list[float] = job.gather(_step(job))
    median = statistics.median(times)
    rank = max(range(job.world_size), key=lambda each: times[each])
    who = job.inventories[rank]
    outcome = passed(
        f"a step takes {min(times):.4g} to {max(times):.4g} s alone; the slowest is rank {rank} on {who['host']}",
        figure=Figure("slowest step against the median", times[rank] / median, "", better="lower"),
        details={"step_seconds": times, "nodes": node_medians(job.inventories, times)},
    )
    node = slow_node(job.inventories, times)
    hint = (
        f"rank {rank} on {who['host']}, device {who['device']['uuid']}, takes {times[rank]:.4g} s for a step without "
        f"any communication, the median is {median:.4g} s"
        + (f"; all ranks of {node} are slow: look at its power, cooling and other processes" if node else "")
        + "; look at the clocks, the CPU cores and the NUMA node of that rank"
    )
    return job.judge(outcome, "step_to_median", hint)


def node_medians(inventories: list[dict[str, Any]], times: list[float]) -> dict[str, float]:
    """The median step of each node."""
    nodes: dict[str, list[float]] = {}
    for inventory, seconds in zip(inventories, times, strict=True):
        nodes.setdefault(inventory["host"], []).append(seconds)
    return {host: statistics.median(seconds) for host, seconds in nodes.items()}


def slow_node(inventories: list[dict[str, Any]], times: list[float]) -> str:
    """The node of which every rank is slower than every rank elsewhere; empty where it is a rank's own matter."""
    slowest = inventories[max(range(len(times)), key=lambda each: times[each])]["host"]
    its = [seconds for inventory, seconds in zip(inventories, times, strict=True) if inventory["host"] == slowest]
    others = [seconds for inventory, seconds in zip(inventories, times, strict=True) if inventory["host"] != slowest]
    return slowest if len(its) > 1 and others and min(its) > max(others) else ""


def _step(job: Job) -> float:
    """Seconds of a step, the median of some, on this rank alone."""
    width, depth, size = (4096, 6, 1024) if job.cuda else (256, 3, 256)
    model = training.make_model(job.options.seed, width, depth, device=job.device)
    optimizer = training.make_optimizer(model)
    inputs, targets = (t.to(job.device) for t in training.batch(job.options.seed, 0, 0, size, width))
    times = []
    for number in range(-3, STEPS if job.cuda else 5):
        job.synchronize()
        before = time.perf_counter()
        with torch.autocast(job.device.type, dtype=torch.bfloat16, enabled=job.cuda):
            training.train_step(model, optimizer, inputs, targets)
        if job.broken("stragglers") and job.rank == job.world_size - 1:
            time.sleep(STRAGGLE_S)
        job.synchronize()
        if number >= 0:
            times.append(time.perf_counter() - before)
    return statistics.median(times)
