"""The memory of each device and the ways to it: every byte keeps what was written, and copies are fast enough.

Most of the device's free memory is filled with two patterns, each the other's complement, and read back: HBM is the
second most frequent reason for a broken run at scale (17.2 % in Llama 3's). Then copies within the device, from the
host and to it (pinned), and to the next device of the node. The slot's line rate is the driver's word, and `SLOT_SHARE`
of it is asked: Azure's health checks ask 21 of a generation 4 slot's 31.5 GB/s and 48 of a generation 5 slot's 63.
Without GPUs the same is done with a small part of the host's memory, and reported only.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from . import hardware
from .job import Job
from .result import Figure, Outcome, failed, passed

PATTERNS = (0x55555555, -0x55555556)
CHUNK_BYTES = 256 * 2**20
FREE_SHARE = 0.8
"""Of the free memory of a device that is filled."""

SLOT_SHARE = 0.55
REPETITIONS = 5


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    said: list[dict[str, Any]] = job.gather(_mine(job))
    wrong = [text for entry in said for text in entry["wrong"]]
    if wrong:
        return failed("; ".join(wrong), details={"ranks": said})
    slow = [
        f"rank {entry['rank']} on {entry['host']}, device {entry['device']}: {way} copies {entry['gb_s'][way]:.3g} "
        f"GB/s, its slot can {entry['slot_gb_s']:.3g} (look at the PCIe generation, the slot and the NUMA node)"
        for entry in said
        for way in ("host to device", "device to host")
        if entry["slot_gb_s"] and entry["gb_s"].get(way, entry["slot_gb_s"]) < SLOT_SHARE * entry["slot_gb_s"]
    ]
    ways = sorted({way for entry in said for way in entry["gb_s"]})
    worst = {way: min(entry["gb_s"][way] for entry in said if way in entry["gb_s"]) for way in ways}
    notes = sorted({note for entry in said for note in entry["notes"]})
    outcome = passed(
        f"{sum(entry['bytes'] for entry in said) / 2**30:.3g} GiB kept two patterns; slowest: "
        + ", ".join(f"{way} {rate:.3g} GB/s" for way, rate in worst.items())
        + ("; " + "; ".join(notes) if notes else ""),
        figure=Figure("memory within a device", worst["within"], "GB/s"),
        figures=[Figure(f"memory {way}", rate, "GB/s") for way, rate in worst.items() if way != "within"],
        details={"ranks": said},
    )
    if slow:
        outcome.verdict, outcome.reason = "below", "; ".join(slow)
        return outcome
    return job.judge(outcome, "memory_bandwidth", "a device whose memory is slow has lowered clocks or failing rows")


def _mine(job: Job) -> dict[str, Any]:
    device = job.inventories[job.rank]["device"]["uuid"]
    entry: dict[str, Any] = {
        "rank": job.rank, "host": job.host, "device": device, "wrong": [], "notes": [], "gb_s": {}, "slot_gb_s": 0.0,
    }  # fmt: skip
    try:
        entry["bytes"], entry["wrong"] = _patterns(job, device)
        entry["gb_s"]["within"] = 2 * _rate(job, *_pair(job, job.device, job.device))
        if job.cuda:
            entry["slot_gb_s"] = hardware.read(device).pcie_gb_s
            host = torch.device("cpu")
            entry["gb_s"]["host to device"] = _rate(job, *_pair(job, host, job.device))
            entry["gb_s"]["device to host"] = _rate(job, *_pair(job, job.device, host))
            entry["notes"] += _to_peer(job, entry["gb_s"])
    except RuntimeError as error:  # of the driver: out of memory, uncorrectable error, lost device
        text = str(error).splitlines()[0]
        entry["wrong"].append(f"rank {job.rank} on {job.host}, device {device}: its memory cannot be used: {text}")
    return entry


def _patterns(job: Job, device: str) -> tuple[int, list[str]]:
    """Bytes that were filled and read back, and what was wrong with them."""
    if job.cuda:
        torch.cuda.empty_cache()
        count = max(1, int(torch.cuda.mem_get_info(job.device)[0] * FREE_SHARE) // CHUNK_BYTES)
        size = CHUNK_BYTES
    else:
        count, size = 2, 2**23
    chunks = [torch.empty(size // 4, dtype=torch.int32, device=job.device) for _ in range(count)]
    for pattern in PATTERNS:
        for chunk in chunks:
            chunk.fill_(pattern)
        if job.broken("memory") and job.rank == job.world_size - 1:
            chunks[-1][5] ^= 1  # one bit that did not keep what was written
        for number, chunk in enumerate(chunks):
            different = int((chunk != pattern).sum())
            if different:
                at = number * size + 4 * int((chunk != pattern).nonzero()[0])
                return count * size, [
                    f"rank {job.rank} on {job.host}, device {device}: {different} words of its memory did not keep "
                    f"what was written, the first at byte {at}; drain the node and replace the device"
                ]
    del chunks
    if job.cuda:
        torch.cuda.empty_cache()
    return count * size, []


def _pair(job: Job, source: torch.device, target: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    count = (2**28 if job.cuda else 2**22) // 4
    pinned = source != target and job.cuda

    def make(device: torch.device) -> torch.Tensor:
        return torch.ones(count, dtype=torch.float32, device=device, pin_memory=pinned and device.type == "cpu")

    return make(source), make(target)


def _rate(job: Job, source: torch.Tensor, target: torch.Tensor) -> float:
    """GB/s of a copy, the median of some."""
    return source.numel() * 4 / _seconds(job, lambda: target.copy_(source, non_blocking=True)) / 1e9


def _seconds(job: Job, operation: Callable[[], object]) -> float:
    times = []
    for number in range(-1, REPETITIONS):
        job.synchronize()
        before = time.perf_counter()
        operation()
        job.synchronize()
        if number >= 0:
            times.append(time.perf_counter() - before)
    return statistics.median(times)


def _to_peer(job: Job, rates: dict[str, float]) -> list[str]:
    """Measures the copy to the next device of the node; what kept it from that."""
    if job.local_world_size == 1 or torch.cuda.device_count() < job.local_world_size:
        return []
    peer = torch.device("cuda", (job.local_rank + 1) % job.local_world_size)
    if not torch.cuda.can_device_access_peer(job.device, peer):
        return ["devices of a node do not reach each other's memory directly"]
    try:
        rates["device to device"] = _rate(job, *_pair(job, job.device, peer))
    except RuntimeError as error:  # a device in exclusive mode takes one process only
        return [f"device to device was not measured ({str(error).splitlines()[0]})"]
    return []
