"""A result document with every kind of entry."""

from __future__ import annotations

from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import LEVELS, Options
from trainyard.smoke_jobs.ddp.result import Figure, empty_document


def document(**job: str) -> dict:
    gate = {
        "value": 438.0, "tolerance": 0.15, "floor": 372.3, "kind": "gate", "source": "a measurement", "date": "2026-07",
        "met": False,
    }  # fmt: skip
    entries = {name: result.passed(f"{name} is fine").entry(name, 1.0) for name in LEVELS["quick"]}
    slow = result.Outcome(
        "below", "41.3 GB/s, 372.3 is needed", Figure("busbw all_reduce 2 GiB", 41.3, "GB/s"), dict(gate)
    )
    entries["collectives"] = slow.entry("collectives", 4.0)
    entries["transport"] = result.failed("NCCL chose <Socket>: the image lacks the plugin").entry("transport", 0.1)
    entries["data"] = result.skipped("no data tier").entry("data", 0.0)
    resumed = Figure("kill to resumed step", 5.6, "s", "lower")
    entries["interruption"] = result.passed(
        "exact", figure=resumed, threshold=gate | {"floor": 11.1, "met": True}
    ).entry("interruption", 20.0)
    found = empty_document(Options(stack="acme", pool="train", usd_per_node_hour=10.0, nodes=2, nproc_per_node=8), 0.0)
    found["job"] |= job
    found["topology"] |= {"model": "NVIDIA H100", "device": "cuda", "hosts": [{"host": "n0"}, {"host": "n1"}]}
    found["checks"] = list(entries.values())
    found["errors"] = [{"rank": 3, "host": "n0", "message": "died"}]
    found["curves"] = {
        "bandwidth": [
            {"collective": name, "bytes": 2**exponent, "busbw_gb_s": 0.01 * 2 ** (exponent - 15)}
            for name in ("all_reduce", "all_gather")
            for exponent in range(15, 28)
        ],
        "scaling": [{"ranks": ranks, "samples_per_second": 900.0 * ranks} for ranks in (1, 8, 16)],
    }
    return found | {"verdict": "fail", "exit_code": 10, "cost": {"device_hours": 1.0, "node_hours": 0.1, "usd": 1.25}}
