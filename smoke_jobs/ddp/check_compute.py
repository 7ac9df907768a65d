"""Burn-in: matrix products in bf16 on all devices at once, for a chosen time; who is slow is named, with its clocks.

Every window's product is compared with the first, bit for bit: the same product on the same device gives the same
bits, and a device that computes wrongly under load is worse than one that stops. While it runs the driver is asked for
clocks, power, temperature and what slows the device down. A rank is held against the median of all (`compute_to_median`
in thresholds.csv), and against the device's peak. Devices without bf16 (before Ampere) compute in fp16.
"""

from __future__ import annotations

import statistics
import threading
import time
from typing import Any

import torch

from . import hardware
from .job import Job
from .options import BURN_S
from .result import Figure, Outcome, failed, passed

WINDOW_S = 0.5
SAMPLE_S = 5.0
"""Between two questions to the driver."""

CPU_S = 1.0


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    job.barrier()  # all at once: power and heat are shared
    said: list[dict[str, Any]] = job.gather(_burn(job))
    wrong = [text for entry in said for text in entry["wrong"]]
    details = {"seconds": seconds(job), "ranks": said}
    if wrong:
        return failed("; ".join(wrong), details=details)
    median = statistics.median(entry["tflops"] for entry in said)
    slowest = min(said, key=lambda entry: float(entry["tflops"]))
    outcome = passed(
        f"{slowest['tflops']:.4g} to {max(entry['tflops'] for entry in said):.4g} TFLOPS a device for "
        f"{seconds(job):.0f} s, answers the same bit for bit"
        + ("; not sampled: " + "; ".join(slowest["unreadable"]) if slowest["unreadable"] else ""),
        figure=Figure("slowest device against the median", slowest["tflops"] / median, ""),
        figures=[Figure("compute of the slowest device", slowest["tflops"], "TFLOPS")],
        details=details,
    )
    hint = (
        f"rank {slowest['rank']} on {slowest['host']}, device {slowest['device']}, computes {slowest['tflops']:.4g} "
        f"TFLOPS, the median is {median:.4g} ({_clocks(slowest)}); look at its clocks and its cooling"
    )
    outcome = job.judge(outcome, "compute_to_median", hint)
    if outcome.verdict != "pass":
        return outcome
    limit = job.threshold("compute_tflops")
    if limit is not None and limit.kind == "gate" and not limit.met(slowest["tflops"]):
        outcome.verdict, outcome.threshold = "below", limit.entry(slowest["tflops"])
        outcome.figure, outcome.figures = outcome.figures[0], [outcome.figure] if outcome.figure else []
        outcome.reason = f"{hint}; {limit.floor:.4g} TFLOPS are needed ({limit.source})"
    return outcome


def seconds(job: Job) -> float:
    """How long it burns."""
    return job.options.burn_s or (BURN_S[job.options.level] if job.cuda else CPU_S)


def _clocks(entry: dict[str, Any]) -> str:
    now = [f"{name} {values[0]:g} to {values[1]:g}" for name, values in sorted(entry["sampled"].items())]
    return ", ".join(now) or "no clocks were read"


def _burn(job: Job) -> dict[str, Any]:
    uuid = job.inventories[job.rank]["device"]["uuid"]
    entry: dict[str, Any] = {"rank": job.rank, "host": job.host, "device": uuid, "wrong": [], "tflops": 0.0}
    sampler = _Sampler(uuid) if job.cuda else None
    try:
        entry["tflops"], same = _products(job)
        if not same:
            entry["wrong"].append(
                f"rank {job.rank} on {job.host}, device {uuid}: the same matrix product gave two answers under load; "
                "drain the node and replace the device"
            )
    except RuntimeError as error:
        text = str(error).splitlines()[0]
        entry["wrong"].append(f"rank {job.rank} on {job.host}, device {uuid}: stopped computing under load: {text}")
    found = sampler.stop() if sampler else ([], (), {})
    entry["wrong"] += [
        f"rank {job.rank} on {job.host}, device {uuid}, under load: {fault}; drain the node" for fault in found[0]
    ]
    entry["unreadable"], entry["sampled"] = found[1], found[2]
    return entry


def _products(job: Job) -> tuple[float, bool]:
    """TFLOPS, the median of the windows, and whether all answers were the same."""
    if job.cuda:
        half = torch.bfloat16 if torch.cuda.get_device_capability(job.device)[0] >= 8 else torch.float16
        size, type_ = 8192, half
    else:
        size, type_ = 256, torch.float32
    generator = torch.Generator().manual_seed(job.options.seed)
    left, right = ((torch.randn(size, size, generator=generator) / 16).to(job.device, type_) for _ in range(2))
    first = left @ right
    out = torch.empty_like(first)
    last = job.rank == job.world_size - 1
    rates: list[float] = []
    same, products = True, 1
    job.synchronize()
    end = time.perf_counter() + seconds(job)
    while (before := time.perf_counter()) < end or not rates:
        for _ in range(products):
            torch.matmul(left, right, out=out)
        job.synchronize()
        taken = time.perf_counter() - before
        if job.broken("compute") and last:
            time.sleep(taken + 0.01)
            taken += taken + 0.01
        rates.append(2 * size**3 * products / taken / 1e12)
        same = same and torch.equal(first, out)
        products = max(1, int(products * min(4.0, WINDOW_S / 5 / taken)))
    return statistics.median(rates[1:] or rates), same and not (job.broken("compute-wrong") and last)


class _Sampler:
    """Asks the driver in a thread until `stop`."""

    def __init__(self, uuid: str) -> None:
        self.uuid = uuid
        self.readings: list[hardware.Reading] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while True:
            self.readings.append(hardware.read(self.uuid))
            if self._done.wait(SAMPLE_S):
                return

    def stop(self) -> tuple[list[str], tuple[str, ...], dict[str, tuple[float, float]]]:
        """Faults that were seen, what could not be read, and least and most of each value."""
        self._done.set()
        self._thread.join(hardware.QUESTION_S + SAMPLE_S)  # a driver that is stuck has been given up by then
        faults = list(dict.fromkeys(fault for reading in self.readings for fault in reading.faults))
        values: dict[str, list[float]] = {}
        for reading in self.readings:
            for name, value in reading.now.items():
                values.setdefault(name, []).append(value)
        unreadable = self.readings[-1].unreadable if self.readings else ("the driver did not answer in time",)
        return faults, unreadable, {name: (min(seen), max(seen)) for name, seen in values.items()}
