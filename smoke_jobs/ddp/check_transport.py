"""Where the plan promises EFA, GPUDirect or InfiniBand, NCCL must use it: a fall-back to sockets is a failure."""

from __future__ import annotations

import resource
import socket
from pathlib import Path

import torch
import torch.distributed as dist

from . import nccl_log
from .job import Job
from .result import Outcome, failed, passed, skipped

FALLBACK = """node:1:1 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.
node:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
node:1:1 [0] NCCL INFO Using network Socket
node:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0
"""
"""What NCCL logs where it found no plug-in; the seeded fault."""

HINTS = {
    "efa": "the image needs the EFA installer's aws-ofi-nccl plug-in, the pod `vpc.amazonaws.com/efa` and huge pages, "
    "its containers the right to lock memory, the security group all traffic to itself",
    "gpudirect": "the pod needs the TCPX/TCPXO daemon or the host's gIB libraries, and Google's NCCL plug-in",
    "ib": "the pod needs the RDMA devices (/dev/infiniband) and an unlimited locked-memory limit",
}

CAP_IPC_LOCK = 14
"""Bit of the capability in Linux."""

SUSPECT_MIB = 1024
"""A limit of locked memory below which buffers of a fabric may not be registered. Limits in use are 8 MiB or less (the
default that containers take over) or none."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    promised = job.options.expect_transport
    if job.broken("transport"):
        promised = promised or "efa"
        mine = nccl_log.read(FALLBACK)
    elif not job.cuda:
        if promised:
            return failed(f"the plan promises {promised}, but no GPU was found, so NCCL is not in use")
        return skipped("no GPU: gloo over TCP, and the plan promises nothing else")
    elif not promised:
        return skipped("the plan promises no fabric between nodes")
    else:
        mine = _evidence(job)
    everyone = job.gather(mine)
    lockable = job.gather(lockable_mib(job))
    silent = [rank for rank, evidence in enumerate(everyone) if not evidence.networks]
    details = {"networks": [list(e.networks) for e in everyone], "lines": list(everyone[0].lines),
               "gpu_direct": [e.gpu_direct for e in everyone], "lockable_mib": lockable}  # fmt: skip
    if silent:
        return failed(
            f"NCCL of rank {silent[0]} says nothing about its network, so {promised} is not proven: is NCCL_DEBUG_FILE "
            "writable, and was NCCL_DEBUG set by the image?", details=details,
        )  # fmt: skip
    for rank, evidence in enumerate(everyone):
        other = [network for network in evidence.networks if network != promised]
        if other:
            host = job.inventories[rank]["host"]
            return failed(
                f"the plan promises {promised}, rank {rank} on {host} uses {', '.join(other)} "
                f"({evidence.lines[-1].split('NCCL INFO ')[-1]}): {HINTS[promised]}{_memory_hint(lockable[rank])}",
                details=details,
            )
    direct = "with" if all(e.gpu_direct for e in everyone) else "without proof of"
    return passed(f"all {job.world_size} ranks use {promised}, {direct} GPUDirect RDMA", details=details)


def lockable_mib(job: Job) -> int | None:
    """How much memory this process may lock; None: all of it, or there is no GPU whose traffic would need any."""
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    status = Path("/proc/self/status").read_text()
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    free = limit == resource.RLIM_INFINITY or effective >> CAP_IPC_LOCK & 1
    return None if free or not job.cuda else limit >> 20


def _memory_hint(lockable: int | None) -> str:
    if lockable is None or lockable >= SUSPECT_MIB:
        return ""
    return (
        f"; its process may lock {lockable} MiB of memory only, which is too little to register buffers: raise "
        "RLIMIT_MEMLOCK in the node's container runtime (EKS: containerd.baseRuntimeSpec of the NodeConfig), as the "
        "capability IPC_LOCK helps root only"
    )


def _evidence(job: Job) -> nccl_log.Evidence:
    dist.all_reduce(torch.ones(1 << 20, device=job.device))  # channels are connected, and logged, on first use
    job.synchronize()
    pid = job.inventories[job.rank]["pid"]
    folder = Path(job.options.scratch_dir)
    names = {socket.gethostname(), socket.gethostname().split(".")[0]}
    files = [folder / f"nccl-{name}-{pid}.log" for name in names]
    return nccl_log.read("\n".join(f.read_text(errors="replace") for f in files if f.exists()))
