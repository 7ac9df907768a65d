"""Collectives against a computed answer, then bus bandwidth by message size.

Payload: integers that the type holds exactly, so the answer has a closed form and is compared bit for bit: every
collective at a small message, and at the largest one too, in float32 and bfloat16, for what goes wrong on the way of
large messages (buffers in a remote memory, other algorithms) does not show in small ones.
Bandwidth of all-reduce is that of a sum, as DDP's: NVLS takes floats for sums only. The sum is over zeros, which stay.
Bandwidth by nccl-tests' formulas: algbw = S/t, busbw = algbw x 2(n-1)/n for all-reduce and x (n-1)/n for all-gather
and reduce-scatter, where S is the full array. 1 GB/s = 10^9 B/s. One figure a size: the median over repetitions of
the slowest rank; thresholds are compared size by size, never with an average of the sweep.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .job import Job
from .result import Figure, Outcome, failed, passed, size_text, skipped
from .thresholds import Threshold

# torch 2.13 renamed the two; the images of clusters lag behind.
_all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor

POINT_S = 4.0
"""Seconds of repetitions at one point: a network that gives a node 0.3 GB/s would need ten minutes for the full count,
and the job would end as timed out where it is only slow."""

ROOM = 4
"""A message and its comparisons take so many times its size of a device's memory, at most."""

LEAST = 3
"""Repetitions at one point, at least."""

PERIOD = 7
"""Payload of rank r at i is (r + 1) x (i mod 7 + 1); sums stay exact in float32 up to 2,188 ranks."""

EXACT = {torch.float32: 2**24, torch.bfloat16: 2**8}
"""Whole numbers up to this one are exact in the type, and so is every sum of them on its way."""

CHUNK = 2**24
"""Elements of a large message that are compared at once: with the answer they take 0.2 GB of the device."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    if job.world_size == 1:
        return skipped("one rank: there is nobody to exchange data with")
    wrong = [text for texts in job.gather(_wrong(job)) for text in texts]
    for type_ in () if wrong else EXACT:
        wrong += [text for texts in job.gather(_wrong_at(job, sizes(job)[-1], type_)) for text in texts]
    if wrong:
        return failed("; ".join(dict.fromkeys(wrong)))
    points = [point for size in sizes(job) for point in _measure(job, size)]
    return _judge(job, points)


def factor(collective: str, ranks: int) -> float:
    """busbw / algbw."""
    return (2 if collective == "all_reduce" else 1) * (ranks - 1) / ranks


def sizes(job: Job) -> list[int]:
    """Message sizes in bytes, each four times the last, up to the largest; and one in the window of each gate.

    A gate whose window begins above what the device's memory holds (`ROOM`) is left out; so are those above
    `max_message_mib`, where that is given.
    """
    limit = int(job.options.max_message_mib * 2**20)
    largest = limit or (2048 if job.cuda else 4) * 2**20
    found = {size for size in (2**15 * 4**k for k in range(12)) if size <= largest} | {largest}
    memory = min((i["device"]["memory_gib"] for i in job.inventories if i["device"]), default=0) * 2**30
    if job.cuda:
        found |= {2**27, 2**30} if largest >= 2**30 else set()
        for begin in job.gate_sizes(("all_reduce", "all_gather", "reduce_scatter")):
            size = -(-begin // 2**20) * 2**20
            if size <= (limit or memory / ROOM):
                found.add(size)
    return sorted(found)


def _pattern(count: int, device: torch.device) -> torch.Tensor:
    return (torch.arange(count, device=device) % PERIOD + 1).to(torch.float32)


def _wrong(job: Job) -> list[str]:
    n, count = job.world_size, 1024 * job.world_size
    pattern = _pattern(count, job.device)
    mine = pattern * (job.rank + 1)
    if job.broken("collectives") and job.rank == n - 1:
        mine[5] += 1  # one flipped value on its way, as a bad link or a bad device would make it
    wrong = []
    total = n * (n + 1) // 2

    summed = mine.clone()
    dist.all_reduce(summed)
    job.synchronize()
    if not torch.equal(summed, pattern * total):
        wrong.append(f"all-reduce: {_first(summed, pattern * total)}")

    everyone = torch.empty(n * count, device=job.device)
    _all_gather(everyone, mine)
    job.synchronize()
    for rank, part in enumerate(everyone.chunk(n)):
        if not torch.equal(part, pattern * (rank + 1)):
            wrong.append(f"all-gather: the data of rank {rank} ({job.inventories[rank]['host']}) is wrong, "
                         f"{_first(part, pattern * (rank + 1))}; take its node out and test it alone")  # fmt: skip

    share = torch.empty(count // n, device=job.device)
    _reduce_scatter(share, mine)
    job.synchronize()
    expected = (pattern * total).chunk(n)[job.rank]
    if not torch.equal(share, expected):
        wrong.append(f"reduce-scatter: {_first(share, expected)}")

    sent = mine.clone() if job.head else torch.zeros_like(mine)
    dist.broadcast(sent, src=0)
    job.synchronize()
    if not torch.equal(sent, pattern):
        wrong.append(f"broadcast: {_first(sent, pattern)}")
    return wrong


def _wrong_at(job: Job, size: int, type_: torch.dtype) -> list[str]:
    """What is wrong with a message of `size` bytes on its way through each collective."""
    n = job.world_size
    count = max(n, size // type_.itemsize // n * n)
    # One of the first ranks a value: with more of them a sum would leave what bfloat16 holds.
    adding = min(n, EXACT[type_] // PERIOD)
    mine = _part(0, count, type_, job) * (1 if job.rank < adding else 0)
    if job.broken("collectives-large") and job.rank == n - 1:
        mine[count // 2] += 1  # one value of many, far from the first
    where = f"{size_text(count * type_.itemsize)} of {str(type_).removeprefix('torch.')}"
    wrong = []

    share = torch.empty(count // n, dtype=type_, device=job.device)
    _reduce_scatter(share, mine)
    wrong += _differs(share, job.rank * (count // n), adding, job, f"reduce-scatter of {where}")
    everyone = torch.empty(count, dtype=type_, device=job.device)
    _all_gather(everyone, share)
    wrong += _differs(everyone, 0, adding, job, f"all-gather of {where}")
    del everyone
    dist.all_reduce(mine)
    wrong += _differs(mine, 0, adding, job, f"all-reduce of {where}")
    return wrong


def _part(start: int, count: int, type_: torch.dtype, job: Job) -> torch.Tensor:
    """The payload of one rank from element `start` on, in parts, for the whole numbers take twice the room."""
    found = torch.empty(count, dtype=type_, device=job.device)
    for at in range(0, count, CHUNK):
        end = min(count, at + CHUNK)
        found[at:end] = torch.arange(start + at, start + end, device=job.device) % PERIOD + 1
    return found


def _differs(got: torch.Tensor, start: int, adding: int, job: Job, what: str) -> list[str]:
    """The first element that is not `adding` times the payload, if there is one; elements count from `start`."""
    job.synchronize()  # raises where the collective did not end
    for at in range(0, got.numel(), CHUNK):
        part = got[at : at + CHUNK]
        expected = _part(start + at, part.numel(), got.dtype, job) * adding
        if not torch.equal(part, expected):
            return [f"{what}: {_first(part, expected, start + at)}, seen by rank {job.rank} on {job.host}"]
    return []


def _first(got: torch.Tensor, expected: torch.Tensor, start: int = 0) -> str:
    index = int((got != expected).nonzero()[0])
    return f"element {start + index} is {float(got[index]):g} instead of {float(expected[index]):g}"


def _measure(job: Job, size: int) -> list[dict[str, Any]]:
    n = job.world_size
    count = max(n, size // 4 // n * n)
    full = torch.zeros(count, device=job.device)  # a sum of zeros can be taken again and again
    share = torch.zeros(count // n, device=job.device)
    operations: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(full),
        "all_gather": lambda: _all_gather(full, share),
        "reduce_scatter": lambda: _reduce_scatter(share, full),
    }
    points = []
    for name, operation in operations.items():
        _timed(job, operation)  # two to warm up: channels are set up on first use
        warm = max(job.gather(_timed(job, operation)))  # the same on all ranks, so that they repeat equally often
        repetitions = repeats(20 if job.cuda else (10 if size <= 2**20 else 5), warm)
        times = [_timed(job, operation) for _ in range(repetitions)]
        slowest = [max(together) for together in zip(*job.gather(times), strict=True)]
        median = statistics.median(slowest)
        bytes_ = count * 4
        points.append(
            {
                "collective": name,
                "bytes": bytes_,
                "algbw_gb_s": bytes_ / median / 1e9,
                "busbw_gb_s": bytes_ / median / 1e9 * factor(name, n),
                "seconds_median": median,
                "seconds_p95": sorted(slowest)[int(0.95 * (len(slowest) - 1) + 0.5)],
                "iterations": repetitions,
            }
        )
    return points


def repeats(wanted: int, seconds: float) -> int:
    """How often an operation of that many seconds is repeated: as wanted, or what `POINT_S` holds, `LEAST` at least."""
    return max(LEAST, min(wanted, int(POINT_S / max(seconds, 1e-9))))


def _timed(job: Job, operation: Callable[[], object]) -> float:
    job.synchronize()
    before = time.perf_counter()
    operation()
    job.synchronize()
    return time.perf_counter() - before


def _judge(job: Job, points: list[dict[str, Any]]) -> Outcome:
    def figure(point: dict[str, Any]) -> Figure:
        return Figure(f"busbw {point['collective']} {size_text(point['bytes'])}", point["busbw_gb_s"], "GB/s")

    compared: list[tuple[float, Threshold, dict[str, Any]]] = []
    for point in points:
        limit = job.threshold(point["collective"], point["bytes"])
        if limit is not None:
            compared.append((point["busbw_gb_s"] / limit.floor if limit.floor else 2.0, limit, point))
    gates = [entry for entry in compared if entry[1].kind == "gate"]
    shown = max((p for p in points if p["collective"] == "all_reduce"), key=lambda p: int(p["bytes"]))
    outcome = passed(
        f"answers exact; {len(gates)} of {len(points)} points have a gate"
        + ("" if compared else f"; no published figure for {job.instance or 'this instance'}: record a baseline"),
        figure=figure(shown),
        figures=[figure(p) for p in points if p is not shown and p["bytes"] >= 2**20],
        curves={"bandwidth": points},
    )
    if compared:
        ratio, limit, point = min(gates or compared, key=lambda entry: entry[0])
        outcome.threshold = limit.entry(point["busbw_gb_s"])
        outcome.figure = figure(point)
        outcome.figures = [figure(p) for p in points if p is not point and p["bytes"] >= 2**20]
        if gates and ratio < 1:
            outcome.verdict = "below"
            outcome.reason = (
                f"{outcome.figure.name} is {outcome.figure.value:.4g} GB/s, {limit.floor:.4g} is needed "
                f"(of {limit.value:g}, {limit.source}, {limit.date}); look at the transport check, the "
                "placement of the nodes, and `NCCL_DEBUG=INFO`"
            )
    return outcome
