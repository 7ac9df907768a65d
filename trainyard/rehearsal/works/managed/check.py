"""The room: looks at what people train with where there is no cluster."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.managed.aws import brakes, editors, jobs, tracking


def check(stack: Stack) -> None:
    """Notes every editor that nothing ends, every job that could not run, and every brake that holds nobody."""
    for part in (editors, jobs, tracking, brakes):
        part.check(stack)
