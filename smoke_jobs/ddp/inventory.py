"""What one rank sees of its machine: host, device, network interfaces, versions, hardware errors."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import socket
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import torch


def take(rank: int, node_rank: int, local_rank: int) -> dict[str, Any]:
    """The inventory of this rank: {rank, host, node_name, node_rank, local_rank, pid, device, nics, fabrics, versions,
    cpus, visible_devices}.

    `node_name` is what the platform calls the node, where that is not its host's name, else empty.
    `device` is {name, uuid, memory_gib, driver, errors}: the GPU of this rank, or the CPU of the host.
    `errors` are sentences about hardware faults that the driver reports.
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
    }


def _gpu(local_rank: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(local_rank)
    uuid = str(getattr(properties, "uuid", "")) or f"{socket.gethostname()}-{local_rank}"
    driver, errors = _driver_says(uuid)
    return {
        "name": properties.name,
        "uuid": uuid,
        "memory_gib": round(properties.total_memory / 2**30, 1),
        "driver": driver,
        "errors": errors,
    }


_QUESTIONS = {
    "ecc.errors.uncorrected.volatile.total": "uncorrected memory errors since the driver was loaded",
    "retired_pages.pending": "retired memory pages pending",
    "remapped_rows.failure": "row remapping failed",
    "clocks_event_reasons.hw_thermal_slowdown": "slowed down because it is hot",
}
_FINE = {"0", "no", "not active", "[n/a]", "n/a", "[not supported]", ""}


def _driver_says(uuid: str) -> tuple[str, list[str]]:
    """Driver version and faults, from nvidia-smi, which every NVIDIA container runtime mounts."""
    if shutil.which("nvidia-smi") is None:
        return "", []
    driver, errors = "", []
    for field in ("driver_version", *_QUESTIONS):  # one a call: an old driver refuses the whole query for one field
        ran = subprocess.run(
            ["nvidia-smi", f"--query-gpu=uuid,{field}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for line in ran.stdout.splitlines() if ran.returncode == 0 else ():
            found, _, value = line.partition(",")
            if found.strip().removeprefix("GPU-") != uuid.removeprefix("GPU-"):
                continue
            if field == "driver_version":
                driver = value.strip()
            elif value.strip().lower() not in _FINE:
                errors.append(f"{_QUESTIONS[field]} ({value.strip()})")
    return driver, errors
