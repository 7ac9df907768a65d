"""How many series the nodes of a cluster have at least, and the memory that they take of Prometheus.

A node tells 2,500 series and more (node_exporter 1,000, cAdvisor 50 a container, rounded down), and 100,000 series take
about 1 GiB (the profiles' own figure), here halved: nothing which runs is told of (2026-11).
"""

from __future__ import annotations

from typing import Final

SERIES_A_NODE: Final = 2500
SERIES_A_GIB: Final = 200_000


def least_mib(nodes: int) -> float:
    """MiB of memory without which Prometheus does not hold the series of so many nodes."""
    return nodes * SERIES_A_NODE / SERIES_A_GIB * 2**10
