"""Every check of Google Cloud's ways; what stands in them is asked where flows are."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.paths.gcp import api, balancers, names, peering, room


def check(stack: Stack) -> None:
    """Notes what is certain alone."""
    names.check(stack)
    peering.check(stack)
    api.check(stack)
    room.check(stack)
    balancers.check(stack)
