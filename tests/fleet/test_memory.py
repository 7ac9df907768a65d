"""How many stacks are brought forward at once, by memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.fleet.memory import MIB_A_CLIENT, MOST_AT_ONCE, at_once, free_mib


@pytest.mark.parametrize(
    ("free", "many"), [(0, 1), (-5, 1), (MIB_A_CLIENT * 2 - 1, 1), (8 * 1024, 3), (1_000_000, MOST_AT_ONCE)]
)
def test_memory_bounds_how_many_and_one_always_runs(free: float, many: int) -> None:
    assert at_once(free) == many


def machine(folder: Path, **group: str) -> tuple[Path, Path]:
    (folder / "meminfo").write_text("MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
    for name, text in group.items():
        (folder / f"memory.{name}").write_text(text)
    return folder / "meminfo", folder


def test_a_container_s_limit_counts_where_it_is_lower(tmp_path: Path) -> None:
    assert free_mib(*machine(tmp_path)) == 8192
    assert free_mib(*machine(tmp_path, max="max\n", current="1\n")) == 8192
    assert free_mib(*machine(tmp_path, max=f"{3 * 2**30}\n", current=f"{2**30}\n")) == 2048
    assert free_mib(*machine(tmp_path, max=f"{64 * 2**30}\n", current="0\n")) == 8192


def test_where_nothing_tells_what_is_free_half_of_the_machine_counts(tmp_path: Path) -> None:
    assert free_mib(tmp_path / "none", tmp_path) > 100
