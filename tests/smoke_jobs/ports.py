"""Ports for jobs of several processes on one host."""

from __future__ import annotations

import os
import socket

_FIRST, _EACH = 20_000, 500


def free_ports(count: int) -> int:
    """The first of that many free ports in a row, from a range of this test process's own.

    Free now does not mean free when the job binds them, so test processes that run at the same time (pytest-xdist's
    gw0, gw1, ...) must not look in the same place. All lie below the ports that the kernel gives out by itself.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 25
    low = _FIRST + _EACH * worker
    for first in range(low, low + _EACH - count, count):
        if all(_free(port) for port in range(first, first + count)):
            return first
    raise AssertionError(f"no {count} free ports in a row from {low} to {low + _EACH}")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
