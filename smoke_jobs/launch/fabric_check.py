"""Whether a pod may use its pool's fast network: the first container of a runtime, and of the smoke job that proves it.

It runs alone in their image, as `python3 -c`, with the standard library only. Without the plug-in, or without
adapters, NCCL would train over sockets and say nothing. It looks for the plug-in where the dynamic loader looks, and
loads nothing: there is no GPU in this container. What an image of a TrainJob's own lacks, NCCL says at its start,
because the runtime's variables leave it no other network.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FAILED = 10
"""Exit code of a check that running again does not mend."""

DEVICES, ADAPTERS = Path("/dev/infiniband"), "uverbs*"
INTERFACES, ORDINARY, FIRST = Path("/sys/class/net"), "eth*", "eth0"
PLUGIN = "libnccl-net*.so*"
DEFAULTS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
REASON = Path("/dev/termination-log")


def problems(wanted: int, adapters: Sequence[str], plugins: Sequence[str]) -> list[str]:
    """What keeps NCCL from the fast network."""
    found = []
    if len(adapters) < wanted:
        found.append(f"the pod has {len(adapters)} of the node's {wanted} adapters ({DEVICES}/{ADAPTERS})")
    if not plugins:
        found.append(f"the image has no plug-in of NCCL for it ({PLUGIN}) where the loader looks")
    return found


def ordinary(wanted: int, interfaces: Sequence[str]) -> list[str]:
    """What keeps NCCL from a fast network of ordinary interfaces, whose plug-in is the node's."""
    further = [name for name in interfaces if name != FIRST]
    if len(further) >= wanted:
        return []
    return [f"the pod has {len(further)} of the node's {wanted} interfaces besides {FIRST} ({INTERFACES}/{ORDINARY})"]


def plugins_of(library_path: str, cache: str) -> list[str]:
    """The plug-in's files, by the loader's path and the lines of its cache."""
    folders = [*filter(None, library_path.split(":")), *DEFAULTS]
    cached = [line.rpartition("=> ")[2].strip() for line in cache.splitlines() if "libnccl-net" in line]
    return [*(str(path) for folder in folders for path in Path(folder).glob(PLUGIN)), *cached]


def main() -> int:
    """Says what is missing."""
    if sys.argv[2:] == ["ethernet"]:
        return told(ordinary(int(sys.argv[1]), sorted(path.name for path in INTERFACES.glob(ORDINARY))), "ordinary")
    try:
        # By its full path: an image's user may have no /sbin in its PATH.
        cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:  # an image without a loader cache has only its path
        cache = ""
    plugins = plugins_of(os.environ.get("LD_LIBRARY_PATH", ""), cache)
    found = problems(int(sys.argv[1]), sorted(map(str, DEVICES.glob(ADAPTERS))), plugins)
    return told(found, next(iter(plugins), ""))


def told(found: Sequence[str], what: str) -> int:
    """The exit code; what is missing goes to the log and is the container's reason."""
    if not found:
        print(f"fabric: {sys.argv[1]} adapters, {what}", flush=True)
        return 0
    text = "no fast network between nodes: " + "; ".join(found)
    print(text, flush=True)
    if REASON.exists():
        REASON.write_text(text)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
