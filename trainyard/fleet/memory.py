"""How many stacks Pulumi brings forward at once on this machine: as many as its memory holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from trainyard.conventions.quantities import MEBIBYTE

MIB_A_CLIENT: Final = 2_560
"""Memory of one `pulumi up`, in MiB. Measured: a preview of 166 resources is 415 MiB, of 1,576 546 MiB (program,
engine, language host; proportional set size of the whole tree, two cores, 2026-11). The rest is set aside for the
plug-ins of AWS, Google Cloud and Kubernetes, which nobody measured here: with it two or three run on 8 GiB."""

MOST_AT_ONCE: Final = 8
"""Stacks at once by default, however much memory there is: so many fail together before the first one stops them."""

_MEMINFO: Final = Path("/proc/meminfo")
_GROUP: Final = Path("/sys/fs/cgroup")


def at_once(free_mib: float) -> int:
    """How many stacks that memory holds; at least one."""
    return max(1, min(MOST_AT_ONCE, int(free_mib // MIB_A_CLIENT)))


def free_mib(meminfo: Path = _MEMINFO, group: Path = _GROUP) -> float:
    """Memory that may be used still, in MiB: of the machine, and of the container where that has less.

    Where the system tells no free memory, as macOS, half of what the machine has.
    """
    if not meminfo.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / MEBIBYTE / 2
    lines = (line.split() for line in meminfo.read_text(encoding="utf-8").splitlines())
    free = next(int(words[1]) for words in lines if words[0] == "MemAvailable:") / 1024
    most, used = group / "memory.max", group / "memory.current"
    limit = most.read_text(encoding="utf-8").strip() if most.exists() and used.exists() else "max"
    if limit == "max":
        return free
    return min(free, (int(limit) - int(used.read_text(encoding="utf-8"))) / MEBIBYTE)
