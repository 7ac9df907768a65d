"""Every fabric adapter of every node carries its share: their counters before and after an exchange among all.

A node with one of four adapters dead passes its bandwidth gate; the counters show it. The number of adapters is the
plan's (`expect_adapters`), and one that moves less than `IDLE_SHARE` of what the others of its node do is named. Where
no plan says how many there have to be, an idle one fails where GPUs and adapters go up in each other (8 and 8, 8 and
4), so that each has its part; else it is told, for it may be one of storage or of management.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

import torch
import torch.distributed as dist

from . import hardware
from .job import Job
from .result import Figure, Outcome, failed, passed, skipped

IDLE_SHARE = 0.25
"""Of the median of a node's adapters below which one counts as idle. NCCL spreads its channels evenly over them, so
this is far from what a healthy one does."""

MESSAGE_BYTES = 2**30
REPETITIONS = 10


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    broken = job.broken("adapters")
    if job.nodes == 1 and not broken:
        return skipped("one node: nothing crosses an adapter")
    before = hardware.adapters()
    if not broken and not any(job.gather(len(before))) and not job.options.expect_adapters:
        return skipped("no RDMA adapter here, and the plan promises none")
    job.barrier()
    message = torch.zeros((MESSAGE_BYTES if job.cuda else 2**20) // 4, device=job.device)
    for _ in range(REPETITIONS):
        dist.all_reduce(message)
    job.synchronize()
    job.barrier()  # of the host: all have sent all
    after = hardware.adapters()
    carried = {name: hardware.moved(after[name]) - hardware.moved(before.get(name, {})) for name in after}
    expected = job.options.expect_adapters
    if broken:  # one of four is dead
        carried, expected = {f"rdmap{number}": 10**9 * (number > 0) for number in range(4)}, 4
    mine = (job.host, carried) if job.local_rank == 0 else None
    nodes = dict(entry for entry in job.gather(mine) if entry is not None)
    wrong = [text for host, each in nodes.items() for text in idle(host, each, expected, job.local_world_size)]
    details = {"bytes": nodes}
    if wrong:
        return failed("; ".join(wrong), details=details)
    working = {host: {name: moved for name, moved in each.items() if name not in dead(each)}
               for host, each in nodes.items()}  # fmt: skip
    unused = [f"{', '.join(dead(each))} of {host}" for host, each in nodes.items() if dead(each)]
    least = min((moved for each in working.values() for moved in each.values()), default=0)
    return passed(
        f"{min(map(len, working.values()))} adapters a node carry traffic"
        + (f"; next to nothing: {'; '.join(unused)} (--set expect_adapters=N where they should)" if unused else ""),
        figure=Figure("least that an adapter carried", least / 1e9, "GB"),
        details=details,
    )


def dead(carried: Mapping[str, int]) -> list[str]:
    """The adapters of a node that carried next to nothing while others worked; bytes by adapter."""
    most = max(carried.values(), default=0)
    working = [moved for moved in carried.values() if moved and moved >= IDLE_SHARE * most]
    usual = statistics.median(working) if working else 0
    return [name for name, moved in carried.items() if moved < IDLE_SHARE * usual]


def idle(host: str, carried: Mapping[str, int], expected: int, gpus: int) -> list[str]:
    """What is wrong with the adapters of a node: bytes by adapter, how many the plan has (0: it does not say), and how
    many GPUs of the node take part."""
    wrong = []
    if expected and len(carried) < expected:
        wrong.append(
            f"{host} shows {len(carried)} adapters ({', '.join(carried) or 'none'}), the plan says {expected}: "
            "look at the device plugin, and at the interfaces of its instance"
        )
    if carried and not any(carried.values()):
        wrong.append(f"no adapter of {host} carried anything: NCCL uses another network; see check transport")
    idle = dead(carried)
    # An instance may show more adapters than the pod may use: then the idle ones are not missed.
    missed = len(carried) - len(idle) < expected if expected else _shared_out(len(carried), gpus)
    if idle and missed:
        most = max(carried.values())
        wrong.append(
            f"adapter {', '.join(idle)} of {host} carried next to nothing while the others carried up to "
            f"{most / 1e9:.3g} GB: drain the node; look at the link of that adapter"
        )
    return wrong


def _shared_out(adapters: int, gpus: int) -> bool:
    """Whether every adapter is some GPUs' own, or every GPU has some of its own."""
    return gpus > 1 and (adapters % gpus == 0 or gpus % adapters == 0)
