"""All ranks are there, on the expected hosts; one that is missing is named.

Ranks announced themselves on the store before (`job.announce`); here gloo's monitored barrier proves that every pair
can talk, which only gloo can do with names. Then all ranks tell each other what they see of their machines.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import timedelta

import torch.distributed as dist

from .inventory import take
from .job import Job
from .result import Figure, Outcome, failed, passed

BARRIER_S = 5.0


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    limit = min(BARRIER_S, job.options.rank_timeout_s)
    if job.broken("rendezvous") and job.rank == job.world_size - 1:
        return failed("this rank stays away from the barrier (seeded fault)")
    try:
        dist.monitored_barrier(job.host_group, timeout=timedelta(seconds=limit), wait_all_ranks=True)
    except RuntimeError as error:
        named = re.search(r"Ranks ([\d, ]+) failed", str(error))
        if named:
            who = named[1].strip()
        elif job.head:
            who = f"unknown ({error})"
        else:
            return Outcome("pass", "rank 0 says who is missing")
        return failed(
            f"rank {who} of {job.world_size} did not reach the barrier within {limit:.0f} s: "
            "it started but hangs or cannot be reached; look at its log, and at security groups or network policies "
            "between the nodes (all ports must be open among them)"
        )
    now = time.time()
    job.clock_s = now - job.gather(now)[0]
    job.inventories = job.gather(take(job.rank, job.node_rank, job.local_rank))
    wrong = _wrong(job)
    if wrong:
        return failed("; ".join(wrong))
    hosts = list(dict.fromkeys(i["host"] for i in job.inventories))
    return passed(
        f"{job.world_size} ranks on {len(hosts)} node(s)",
        figure=Figure("ranks", job.world_size, ""),
        details={"hosts": hosts},
    )


def _wrong(job: Job) -> list[str]:
    options, wrong = job.options, []
    expected = options.nodes * options.nproc_per_node
    if options.nproc_per_node and job.world_size != expected:
        wrong.append(
            f"{job.world_size} ranks came, the plan says {options.nodes} x {options.nproc_per_node} = {expected}"
        )
    came = {(i["node_name"] or i["host"]).split(".")[0] for i in job.inventories}
    absent = [host for host in options.expected_hosts if host.split(".")[0] not in came]
    if absent:
        wrong.append(f"no rank runs on {', '.join(absent)}; ranks run on {', '.join(sorted(came))}")
    per_node = Counter((i["host"], i["node_rank"]) for i in job.inventories)
    if len(set(per_node.values())) > 1:
        text = ", ".join(f"{host}: {count}" for (host, _), count in per_node.items())
        wrong.append(f"nodes have different numbers of ranks ({text})")
    return wrong
