"""Two machines with a network between them, one of which is killed, held or cut off: who is named, and how soon."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.machines import Machine, Machines
from trainyard.smoke_jobs.ddp import result

RANK_TIMEOUT_S = 8


@pytest.fixture
def job(machines: Callable[..., Machines], mounted: Path, tmp_path: Path) -> "Job":
    return Job(machines(["node-a", "node-b"]).machines, mounted, tmp_path)


class Job:
    """The smoke job on both, in the middle of its work."""

    def __init__(self, machines: list[Machine], package: Path, folder: Path) -> None:
        self.machines = machines
        self.folders = [folder / machine.name for machine in machines]
        self.nodes = [
            machine.start(
                [
                    sys.executable, str(package / "__main__.py"), "--result-dir", str(self.folders[rank]),
                    "--nodes", "2", "--node-rank", str(rank), "--head", "node-a", "--nproc-per-node", "1",
                    "--expected-hosts", "node-a,node-b",
                    "--check", "gradients", "--check", "interruption", "--kills", "20",
                    "--checkpoint-uri", str(folder / "tier"), "--tracking-uri", "none",
                    "--rank-timeout-s", str(RANK_TIMEOUT_S), "--collective-timeout-s", "20",
                ],
                {"PYTHONPATH": str(WITHOUT_COMPILER)},
            )
            for rank, machine in enumerate(machines)
        ]  # fmt: skip
        deadline = time.monotonic() + 300
        for each in self.folders:
            while not (each / "progress.json").exists():
                assert time.monotonic() < deadline, "the job did not begin"
                time.sleep(0.05)

    def ended(self, rank: int, within: float) -> dict[str, Any]:
        """The result of a node, which has ended by then."""
        self.output, _ = self.nodes[rank].communicate(timeout=within)
        document: dict[str, Any] = json.loads((self.folders[rank] / "result.json").read_text())
        assert result.problems(document) == []
        return document


@pytest.mark.parametrize("how", ["kill", "stop", "cut"])
@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
def test_the_other_names_the_machine_within_a_minute(job: Job, victim: int, how: str) -> None:
    survivor = 1 - victim
    time.sleep(1)
    before = time.monotonic()
    getattr(job.machines[victim], how)()
    document = job.ended(survivor, within=60)
    assert time.monotonic() - before < 60
    assert document["verdict"] != "pass", job.output
    accused = [error["host"] for error in document["errors"] if error["rank"] >= 0]
    messages = " ".join(error["message"] for error in document["errors"])
    assert job.machines[victim].name in f"{accused} {messages}", document["errors"]
    assert job.machines[survivor].name not in f"{accused} {messages}", document["errors"]
