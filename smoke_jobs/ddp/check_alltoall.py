"""All-to-all among all ranks: every block arrives where it belongs, unchanged; bus bandwidth.

Mixtures of experts live on it, and it is the one collective that crosses every pair of ranks at once: a switch or a
cable that a ring never uses is used here. busbw = algbw x (n-1)/n, as in nccl-tests.
"""

from __future__ import annotations

import statistics
import time

import torch
import torch.distributed as dist

from .job import Job
from .result import Figure, Outcome, failed, passed, skipped

REPETITIONS = 5
PERIOD = 1021


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: there is nobody to exchange data with")
    figures = []
    sizes = (2**20, 2**26, 2**30) if job.cuda else (2**18, 2**22)
    for size in sizes:
        count = size // 4 // job.world_size
        sent = torch.cat([_block(job, job.rank, target, count) for target in range(job.world_size)])
        if job.broken("alltoall") and job.rank == job.world_size - 1:
            sent[3] += 1  # a value for rank 0, changed on its way
        got = torch.empty_like(sent)
        dist.all_to_all_single(got, sent)
        job.synchronize()
        wrong = [
            f"what rank {source} ({job.inventories[source]['host']}) sent to rank {job.rank} ({job.host}) "
            "arrived changed"
            for source, block in enumerate(got.chunk(job.world_size))
            if not torch.equal(block, _block(job, source, job.rank, count))
        ]
        wrong = [text for texts in job.gather(wrong) for text in texts]
        if wrong:
            return failed("; ".join(wrong) + "; test the pair of nodes alone, and each with another")
        seconds = statistics.median(max(together) for together in zip(*job.gather(_times(job, got, sent)), strict=True))
        rate = size / seconds / 1e9 * (job.world_size - 1) / job.world_size
        figures.append(Figure(f"busbw all_to_all {size // 2**10} KiB", rate, "GB/s"))
    return job.judge(
        passed("every block arrived unchanged", figure=figures[-1], figures=figures[:-1]),
        "all_to_all",
        "compare with the collectives' bandwidth: here every pair of nodes talks at once",
        sizes[-1],
    )


def _block(job: Job, source: int, target: int, count: int) -> torch.Tensor:
    """What a rank sends to another: no two pairs of ranks have the same."""
    start = (source * job.world_size + target) * 7
    return ((torch.arange(count, device=job.device) + start) % PERIOD).to(torch.float32)


def _times(job: Job, got: torch.Tensor, sent: torch.Tensor) -> list[float]:
    times = []
    for _ in range(REPETITIONS):
        job.synchronize()
        before = time.perf_counter()
        dist.all_to_all_single(got, sent)
        job.synchronize()
        times.append(time.perf_counter() - before)
    return times
