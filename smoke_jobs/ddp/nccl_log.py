"""What NCCL's own log says about the network it chose; device presence proves nothing.

The stock PyTorch image has no EFA plug-in: NCCL then uses sockets without a word, and only this log shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_CHANNEL = re.compile(r"via NET/([^/\s]+(?: [^/\s]+)*)/(\d+(?:\(\d+\))?)(/\S+)?")
"""A number in brackets is the rank by whose GPU the traffic goes (PXN)."""
_NETWORK = re.compile(r"Using network (.+?)\s*$", re.MULTILINE)
_PROVIDER = re.compile(r"Selected [Pp]rovider is ([\w-]+)")
_IB = re.compile(r"NET/IB : Using \[0\](\S+)/(IB|RoCE)")

_KINDS = {
    "socket": ("socket",),
    "efa": ("aws libfabric", "ofi", "libfabric"),
    "gpudirect": ("fastrak", "gpudirecttcpx", "tcpx", "tcpxo", "gib"),
    "ib": ("ib", "ibext"),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """`networks`: kinds that carry traffic (socket, efa, gpudirect, ib, or the plug-in's own name); `lines`: proof."""

    networks: tuple[str, ...]
    gpu_direct: bool  # a channel uses GPUDirect RDMA (GDRDMA)
    lines: tuple[str, ...]


def log_environment(folder: Path) -> dict[str, str]:
    """What NCCL needs in its environment to leave its log in `folder`, one file a process."""
    return {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,NET,P2P,GRAPH",
        "NCCL_DEBUG_FILE": str(folder / "nccl-%h-%p.log"),
    }


def kind(name: str, providers: set[str]) -> str:
    """The kind of a network that NCCL names; libfabric counts as EFA only where its provider is efa."""
    name = name.strip().lower()
    for label, prefixes in _KINDS.items():
        if any(name == prefix or name.startswith((prefix + " ", prefix + "_")) for prefix in prefixes):
            if label == "efa" and providers and "efa" not in providers:
                return f"libfabric ({', '.join(sorted(providers))})"
            return label
    return name


def read(text: str) -> Evidence:
    """The evidence in the log of one process. Channels say most, then the chosen network, then the loaded plug-in."""
    providers = {match.lower() for match in _PROVIDER.findall(text)}
    channels = _CHANNEL.findall(text)
    if channels:
        networks = {kind(name, providers) for name, _, _ in channels}
    elif _NETWORK.search(text):
        networks = {kind(name, providers) for name in _NETWORK.findall(text)}
    elif providers:
        networks = {"efa" if "efa" in providers else f"libfabric ({', '.join(sorted(providers))})"}
    elif _IB.search(text):
        networks = {"ib"}
    else:
        networks = set()
    proof = [
        line.strip()
        for line in text.splitlines()
        if _CHANNEL.search(line) or _NETWORK.search(line) or _PROVIDER.search(line) or "NET/Socket : Using" in line
    ]
    return Evidence(tuple(sorted(networks)), any("GDRDMA" in c[2] for c in channels), tuple(dict.fromkeys(proof))[:8])
