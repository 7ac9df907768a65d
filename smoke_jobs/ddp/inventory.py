"""What one rank sees of its machine: host, device, network interfaces, versions, hardware errors."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import socket
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from . import hardware


def take(rank: int, node_rank: int, local_rank: int) -> dict[str, Any]:
    """The inventory of this rank: {rank, host, node_name, node_rank, local_rank, pid, device, nics, fabrics, versions,
    cpus, visible_devices}.

    `node_name` is what the platform calls the node, where that is not its host's name, else empty.
    `device` is {name, uuid, memory_gib, driver, errors, unreadable, links, lanes, mode}: the GPU of this rank, or the
    CPU of the host. `errors` are sentences about hardware faults that the driver reports, `unreadable` what it does not
    tell, `links` its NVLinks that are up, `lanes` those of its PCIe slot, in use and at most (0: unknown), `mode` its
    compute mode.
    """
    cuda = torch.cuda.is_available()
    device = _gpu(local_rank) if cuda else _cpu(local_rank)
    return {
        "rank": rank,
        "host": socket.gethostname(),
        "node_name": os.environ.get("SMOKE_NODE_NAME", ""),
        "node_rank": node_rank,
        "local_rank": local_rank,
        "pid": os.getpid(),
        "cpus": len(os.sched_getaffinity(0)),
        "visible_devices": torch.cuda.device_count(),
        "device": device,
        "nics": _names("/sys/class/net", skip={"lo"}),
        "fabrics": _names("/sys/class/infiniband"),  # InfiniBand and RoCE cards, and EFA
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda or "",
            "nccl": nccl_version(),
            "driver": device["driver"],
            **{name: _installed(name) for name in ("mlflow", "boto3", "nvidia-ml-py")},
        },
    }


def nccl_version() -> str:
    """`2.27.5`; empty without a GPU."""
    if not torch.cuda.is_available():
        return ""
    return ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]


def code_version(stated: str) -> str:
    """The git commit that is stated, here or in `SMOKE_CODE_VERSION` by the image; else a hash of the package."""
    stated = stated or os.environ.get("SMOKE_CODE_VERSION", "")
    if stated:
        return stated
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).absolute().parent.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return f"sha256:{digest.hexdigest()[:16]}"


def _names(folder: str, skip: frozenset[str] | set[str] = frozenset()) -> list[str]:
    path = Path(folder)
    return sorted(p.name for p in path.iterdir() if p.name not in skip) if path.is_dir() else []


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cpu(local_rank: int) -> dict[str, Any]:
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "name": model[1].strip() if model else platform.machine(),
        "uuid": f"cpu-{socket.gethostname()}-{local_rank}",
        "memory_gib": round(memory, 1),
        "driver": "",
        "errors": [],
        "unreadable": [],
        "links": 0,
        "lanes": [0, 0],
        "mode": "",
    }


def _gpu(local_rank: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(local_rank)
    uuid = str(getattr(properties, "uuid", "")) or f"{socket.gethostname()}-{local_rank}"
    reading = hardware.read(uuid)
    return {
        "name": properties.name,
        "uuid": uuid,
        "memory_gib": round(properties.total_memory / 2**30, 1),
        "driver": reading.driver,
        "errors": list(reading.faults),
        "unreadable": list(reading.unreadable),
        "links": reading.links,
        "lanes": list(reading.lanes),
        "mode": reading.mode,
    }
