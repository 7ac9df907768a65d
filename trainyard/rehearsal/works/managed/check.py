"""The room: looks at what people train with where there is no cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.managed import told_twice
from trainyard.rehearsal.works.managed.aws import brakes, editors, jobs, limits, passed, scripts, tracking, ways
from trainyard.rehearsal.works.managed.gcp import ceilings, containers, served, servers
from trainyard.rehearsal.works.managed.gcp import editors as editors_gcp
from trainyard.rehearsal.works.managed.gcp import jobs as jobs_gcp
from trainyard.rehearsal.works.managed.gcp import tracking as tracking_gcp
from trainyard.rehearsal.works.parts import play

_PARTS: Final[tuple[Callable[[Stack], None], ...]] = tuple(
    part.check
    for part in (
        editors, jobs, tracking, ways, brakes, scripts, limits, passed, editors_gcp, jobs_gcp, ceilings, tracking_gcp,
        servers, served, containers, told_twice,
    )
)  # fmt: skip


def check(stack: Stack) -> None:
    """Notes every editor that nothing ends, every job that could not run, and every brake that holds nobody."""
    play(_PARTS, stack)
