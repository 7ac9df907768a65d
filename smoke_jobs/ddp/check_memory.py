"""The memory of each device and the ways to it: every byte keeps what was written, and copies are fast enough.

Most of the device's free memory is filled with two patterns, each the other's complement, and read back: HBM is the
second most frequent reason for a broken run at scale (17.2 % in Llama 3's). Then copies within the device; from the
host and to it (pinned), one device of a node after the other, for two of an A100 or H100 node share the lanes of a PCIe
switch to the host; and from every device of a node to every other one, where they reach each other: all at once, each
to another, as a switch takes them. On a switch (`SWITCH_LINKS`) all pairs are alike, and `PEER_SHARE` of their
median is asked of each; without one they differ by how they are wired, and are reported. The slot's line rate is the
driver's word, and `SLOT_SHARE` of it is asked: Azure's health checks ask 21 of a generation 4 slot's 31.5 GB/s and 48
of a generation 5 slot's 63. Without GPUs the same is done with a small part of the host's memory, and reported only.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from . import hardware
from .job import Job
from .result import Figure, Outcome, failed, passed

PATTERNS = (0x55555555, -0x55555556)
CHUNK_BYTES = 256 * 2**20
FREE_SHARE = 0.8
"""Of the free memory of a device that is filled."""

SLOT_SHARE = 0.55
"""The share of its slot's line rate that a copy from the host or to it must reach."""

PEER_SHARE = 0.5
"""The share of the median of a node's pairs that a copy from one device to another must reach. The same copy over the
same links differs by little; one of 18 NVLinks less would be 0.94, a pair that goes through the host 0.1."""

SWITCH_LINKS = 12
"""From so many NVLinks on a device is on a switch: A100 has 12, H100 and later 18, all to NVSwitches; V100 has 6."""

REPETITIONS = 5

COPIES_WITHIN = 16
"""Copies within a device that are asked for at once: one of 256 MiB takes an H200 0.12 ms, and asking and waiting 0.05
more, so that a healthy device showed 3.2 of the 4.3 TB/s that it copies (H200, 2026-11-26)."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    mine = _mine(job)
    _to_the_host(job, mine)
    said: list[dict[str, Any]] = job.gather(mine)
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
    pairs = _pairs(job)
    slow += slow_pairs(pairs, job.inventories)
    ways = sorted({way for entry in said for way in entry["gb_s"]})
    worst = {way: min(entry["gb_s"][way] for entry in said if way in entry["gb_s"]) for way in ways}
    if pairs.rates:
        worst["device to device"] = min(pairs.rates.values())
    notes = sorted({note for entry in said for note in entry["notes"]} | set(pairs.notes))
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
        entry["gb_s"]["within"] = 2 * _rate(job, *_pair(job, job.device, job.device), COPIES_WITHIN if job.cuda else 1)
        if job.cuda:
            entry["slot_gb_s"] = hardware.read(device).pcie_gb_s
    except RuntimeError as error:
        entry["wrong"].append(_unusable(entry, error))
    return entry


def _unusable(entry: Mapping[str, Any], error: RuntimeError) -> str:
    """What the driver says: out of memory, uncorrectable error, lost device."""
    text = str(error).splitlines()[0]
    return f"rank {entry['rank']} on {entry['host']}, device {entry['device']}: its memory cannot be used: {text}"


def _to_the_host(job: Job, entry: dict[str, Any]) -> None:
    """Adds the copies from the host and to it. The ranks of a node take turns, also one that has nothing to measure."""
    host = torch.device("cpu")
    for turn in range(job.local_world_size if job.cuda else 0):
        job.barrier()
        if turn == job.local_rank and not entry["wrong"]:
            try:
                entry["gb_s"]["host to device"] = _rate(job, *_pair(job, host, job.device))
                entry["gb_s"]["device to host"] = _rate(job, *_pair(job, job.device, host))
            except RuntimeError as error:
                entry["wrong"].append(_unusable(entry, error))


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


def _rate(job: Job, source: torch.Tensor, target: torch.Tensor, copies: int = 1) -> float:
    """GB/s of so many copies one after the other, the median of some repetitions."""

    def copy() -> None:
        for _ in range(copies):
            target.copy_(source, non_blocking=True)

    return copies * source.numel() * 4 / _seconds(job, copy) / 1e9


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


class Pairs(NamedTuple):
    """GB/s from a rank's device to another's of its node, by both ranks; and what kept it from being measured."""

    rates: dict[tuple[int, int], float]
    notes: tuple[str, ...] = ()


def _pairs(job: Job) -> Pairs:
    """The copies from each device to each other one of its node, as all ranks measured them."""
    count = job.local_world_size
    if not job.cuda or count == 1:
        return Pairs({})
    first = job.rank - job.local_rank
    others = [(job.local_rank + step) % count for step in range(1, count)]
    notes = {note for other in others if (note := _unreached(job, other))}
    rates: dict[tuple[int, int], float] = {}
    for other in others:
        job.barrier()  # all at once, and no two to the same one; the first time, all have opened all devices
        if not notes:
            try:
                rates[job.rank, first + other] = _rate(job, *_pair(job, job.device, torch.device("cuda", other)))
            except RuntimeError as error:
                notes.add(f"device to device was not measured ({str(error).splitlines()[0]})")
    everyone: list[tuple[dict[tuple[int, int], float], set[str]]] = job.gather((rates, notes))
    merged: dict[tuple[int, int], float] = {}
    for found, _ in everyone:
        merged |= found
    return Pairs(merged, tuple(sorted(set().union(*(said for _, said in everyone)))))


def _unreached(job: Job, other: int) -> str:
    """What keeps copies to another device of the node from being measured; empty where nothing does."""
    if torch.cuda.device_count() < job.local_world_size:
        return "a rank sees its own device only, so that copies between them were not measured"
    peer = torch.device("cuda", other)
    if not torch.cuda.can_device_access_peer(job.device, peer):
        return "devices of a node do not reach each other's memory directly"
    try:
        torch.zeros(1, device=peer)  # opens it: that takes longer than the copies, and would hold up those of others
    except RuntimeError as error:  # a device in exclusive mode takes one process only
        return f"device to device was not measured ({str(error).splitlines()[0]})"
    return ""


def slow_pairs(pairs: Pairs, inventories: Sequence[Mapping[str, Any]]) -> list[str]:
    """The pairs of devices on a switch that copy far slower than the median of their node's."""
    found = []
    for host in dict.fromkeys(each["host"] for each in inventories):
        rates = {pair: rate for pair, rate in pairs.rates.items() if inventories[pair[0]]["host"] == host}
        switched = all(each["device"]["links"] >= SWITCH_LINKS for each in inventories if each["host"] == host)
        if not rates or not switched:
            continue
        median = statistics.median(rates.values())
        found += [
            f"device {inventories[source]['device']['uuid']} (rank {source}) copies {rate:.3g} GB/s to device "
            f"{inventories[target]['device']['uuid']} (rank {target}) of {host}, the median of its pairs is "
            f"{median:.3g} (look at the fabric manager and at `nvidia-smi nvlink -s`)"
            for (source, target), rate in rates.items()
            if rate < PEER_SHARE * median
        ]
    return found
