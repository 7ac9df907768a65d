"""The synthetic program of the benchmark is a right one, of about the size asked for."""

from __future__ import annotations

from pathlib import Path

from trainyard.rehearsal.bench import shares, synthetic, warm
from trainyard.rehearsal.rehearse import rehearse


def test_synthetic_program(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    synthetic(folder, 100)
    rehearsal = rehearse(folder, "bench")
    assert rehearsal.errors == ()
    assert len(rehearsal.resources) == 101


def test_the_shares_are_of_all_parts_the_largest_first(tmp_path: Path) -> None:
    synthetic(tmp_path / "bench", 100)
    _, found = warm(tmp_path / "bench", "bench", 2)
    said = shares(found)
    figures = [int(part.rsplit(" ", 1)[1].rstrip("%")) for part in said.split(", ")]
    assert figures == sorted(figures, reverse=True)
    assert 95 <= sum(figures) <= 105
    assert {"known", "refusals", "works", "critical path"} <= {
        part.rsplit(" ", 1)[0] for part in said.split(", ")
    }
