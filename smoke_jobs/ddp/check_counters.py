"""Error counters before and after the run: a difference is a finding, and a hard error fails.

GPUs: ECC errors, row remaps, PCIe replays, NVLink errors, Xid events; and once more all that `devices` asks, now that
they have worked. Adapters: retransmits, drops, errors. What healthy hardware mends by itself (corrected errors, single
replays of a slot or a link, retransmits) is told and does not fail; `FATAL` does. Peers that did not answer an adapter
are told as well: the interruption check kills some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import hardware
from .job import Job
from .result import Figure, Outcome, failed, passed, skipped

FATAL = {
    "ecc_uncorrected": "uncorrected memory errors",
    "rows_remapped_uncorrected": "memory rows remapped after an uncorrected error",
    "nvlink_recovery": "NVLink recoveries",
    "xid_hardware_events": "Xid events of broken hardware",
    "link_downed": "times that the link went down",
    "local_link_integrity_errors": "link integrity errors",
}
"""Counters of which one more is a failure."""

_ERRORS = (
    "err", "errors", "drops", "discards", "timeout", "timeout_events", "retrans_pkts", "retrans_bytes",
    "retry", "retries", "out_of_sequence", "link_downed", "link_error_recovery", "events", "np_cnp_sent",
)  # fmt: skip
"""How the names of an adapter's error counters end; the others count traffic."""


def take(job: Job) -> dict[str, dict[str, int]]:
    """The counters of this rank's GPU, and on a node's first rank those of its adapters; by device."""
    found: dict[str, dict[str, int]] = {}
    if job.cuda:
        uuid = job.inventories[job.rank]["device"]["uuid"]
        found[f"GPU {uuid}"] = dict(hardware.read(uuid).counters)
    if job.local_rank == 0:
        for name, counters in hardware.adapters().items():
            found[f"adapter {name}"] = {key: value for key, value in counters.items() if key.endswith(_ERRORS)}
    return found


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    before, after = job.counters_before or {}, take(job)
    if job.broken("counters") and job.rank == job.world_size - 1:
        name = next(iter(after), f"GPU of rank {job.rank}")
        before = before | {name: before.get(name, {}) | {"ecc_uncorrected": 0}}
        after = after | {name: after.get(name, {}) | {"ecc_uncorrected": 2}}
    mine: dict[str, Any] = {
        "host": job.host, "rises": rises(before, after), "read": len(after), "faults": [], "unreadable": (),
    }  # fmt: skip
    if job.cuda:
        uuid = job.inventories[job.rank]["device"]["uuid"]
        reading = hardware.read(uuid)
        mine["faults"] = [f"device {uuid}, after the load: {fault}" for fault in reading.faults]
        mine["unreadable"] = reading.unreadable
    said = job.gather(mine)
    fatal: list[str] = []
    found: list[str] = []
    for entry in said:
        for device, name, rise in entry["rises"]:
            text = (
                f"{entry['host']}, {device}: {rise} {FATAL.get(name, name.replace('_', ' '))} more than before the run"
            )
            (fatal if name in FATAL else found).append(text)
        fatal += [f"{entry['host']}, {fault}" for fault in entry["faults"]]
    details = {"ranks": said}
    if fatal:
        return failed("; ".join(fatal) + "; drain the node" + _also(found), details=details)
    if not any(entry["read"] for entry in said):
        return skipped("no GPU and no RDMA adapter: nothing here counts errors")
    unread = sorted({name for entry in said for name in entry["unreadable"]})
    return passed(
        f"no hard error during the run{_also(found)}" + (f"; not readable: {', '.join(unread)}" if unread else ""),
        figure=Figure("findings", float(len(found)), "", better="lower"),
        details=details,
    )


def _also(found: list[str]) -> str:
    return f"; found besides: {'; '.join(found)}" if found else ""


def rises(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]
) -> list[tuple[str, str, int]]:
    """(device, counter, by how much) of what grew. A counter that was not there before is not compared."""
    return [
        (device, name, value - before[device][name])
        for device, counters in after.items()
        for name, value in counters.items()
        if name in before.get(device, {}) and value > before[device][name]
    ]
