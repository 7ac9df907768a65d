"""The room: looks at every machine that the stack asks for."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.machines.aws import databases, images, node_config, racks, reservations, starts
from trainyard.rehearsal.works.machines.gcp import pools


def check(stack: Stack) -> None:
    """Notes every machine that would not start, not join its cluster, or not run what it is there for."""
    for part in (images, starts, node_config, reservations, racks, databases, pools):
        part.check(stack)
