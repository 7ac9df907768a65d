"""The synthetic program of the benchmark is a right one, of about the size asked for."""

from __future__ import annotations

from pathlib import Path

from trainyard.rehearsal.bench import synthetic
from trainyard.rehearsal.rehearse import rehearse


def test_synthetic_program(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    synthetic(folder, 100)
    rehearsal = rehearse(folder, "bench")
    assert rehearsal.errors == ()
    assert len(rehearsal.resources) == 101
