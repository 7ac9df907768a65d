"""Machines for the tests that want more than one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.smoke_jobs.machines import Machines, why_not


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Callable[..., Machines]]:
    """Makes machines of these host names, and ends them with the test."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    made: list[Machines] = []

    def make(names: Sequence[str], hosts: Mapping[str, Sequence[str]] | None = None) -> Machines:
        folder = tmp_path / f"machines-{len(made)}"
        folder.mkdir()
        made.append(Machines(names, hosts or {}, folder))
        return made[-1]

    yield make
    for each in made:
        each.close()
