"""Two nodes on this machine, one of which is taken away: real torchrun agents, real signals.

A node is a wrapper with everything below it. What a container's end does to it (SIGKILL to all of its processes at
once) and what an eviction does (SIGTERM to its first process) is done here to one of two.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smoke_jobs.ddp import result
from tests.smoke_jobs.launch.failure_policy import Pod, job_goes_on
from tests.smoke_jobs.launch.support import GPU_POOL, job_policy

NODE = "TEST_NODE_OF_THE_JOB"
"""Environment variable that every process of a node carries."""


def free_ports(count: int) -> int:
    """The first of that many free ports in a row."""
    for first in range(31000, 32000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def processes_of(node: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"{NODE}={node}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue  # gone meanwhile
    return found


class TwoNodes:
    def __init__(self, start: Callable[..., Any], folder: Path, *flags: str) -> None:
        port = free_ports(4)
        self.folders = [folder / f"node-{rank}" for rank in range(2)]
        self.names = [f"{folder}-{rank}" for rank in range(2)]
        self.nodes: list[subprocess.Popen[str]] = [
            start(
                self.folders[rank], "--nodes", "2", "--node-rank", str(rank), "--head", "localhost",
                "--port", str(port), "--nproc-per-node", "1", "--checkpoint-uri", str(folder / "tier"),
                "--tracking-uri", "none", *flags,
                env={NODE: self.names[rank]},
            )
            for rank in range(2)
        ]  # fmt: skip

    def wait_for_progress(self) -> None:
        deadline = time.monotonic() + 60
        while not all((folder / "progress.json").exists() for folder in self.folders):
            assert time.monotonic() < deadline, "the ranks did not start"
            time.sleep(0.1)

    def take_away(self, rank: int, number: signal.Signals) -> None:
        if number is signal.SIGKILL:
            for pid in processes_of(self.names[rank]):
                os.kill(pid, signal.SIGKILL)
        else:
            self.nodes[rank].send_signal(number)

    def codes(self, seconds: float = 90) -> list[int]:
        deadline = time.monotonic() + seconds
        self.outputs = [node.communicate(timeout=max(1.0, deadline - time.monotonic()))[0] for node in self.nodes]
        return [node.returncode for node in self.nodes]

    def document(self, rank: int) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.folders[rank] / "result.json").read_text())
        assert result.problems(document) == []
        return document

    def close(self) -> None:
        for name in self.names:
            for pid in processes_of(name):
                os.kill(pid, signal.SIGKILL)
        for node in self.nodes:
            node.communicate()


@pytest.fixture
def two_nodes(start: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., TwoNodes]]:
    made: list[TwoNodes] = []

    def make(*flags: str) -> TwoNodes:
        made.append(TwoNodes(start, tmp_path / str(len(made)), *flags))
        return made[-1]

    yield make
    for job in made:
        job.close()


LONG = ("--check", "interruption", "--kills", "20")
"""Minutes of work, of a job inside the job."""


@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_survivor_of_a_lost_node_is_preempted(
    two_nodes: Callable[..., TwoNodes], victim: int, number: signal.Signals
) -> None:
    job = two_nodes(*LONG)
    job.wait_for_progress()
    time.sleep(2)  # into the interruption check
    before = time.monotonic()
    job.take_away(victim, number)
    codes = job.codes()
    assert time.monotonic() - before < 20, "not by running out of time"
    survivor = 1 - victim
    assert codes[survivor] == 75, job.outputs[survivor]
    assert codes[victim] == (-signal.SIGKILL if number is signal.SIGKILL else 75), job.outputs[victim]
    document = job.document(survivor)
    assert document["verdict"] == "preempted"
    (check,) = [check for check in document["checks"] if check["name"] == "interruption"]
    assert check["verdict"] == "skipped"
    how = "is gone" if number is signal.SIGKILL else "was told to stop (SIGTERM)"
    assert check["reason"].startswith(f"node {victim} (") and how in check["reason"]
    assert not any(processes_of(name) for name in job.names), "nothing is left running"


def test_the_job_that_lost_a_node_runs_again_and_passes(two_nodes: Callable[..., TwoNodes]) -> None:
    """What the job controller does with these exit codes, and what comes of it."""
    job = two_nodes(*LONG)
    job.wait_for_progress()
    job.take_away(1, signal.SIGKILL)
    codes = job.codes()
    policy = job_policy(GPU_POOL)
    assert job_goes_on(policy, [Pod(codes[0]), Pod(128 + signal.SIGKILL, disrupted=True)])
    assert not job_goes_on(policy, [Pod(codes[0]), Pod(128 + signal.SIGKILL)]), "out of memory is no disruption"
    again = two_nodes("--check", "collectives")
    assert again.codes() == [0, 0], again.outputs
    assert again.document(0)["topology"]["nodes"] == 2


def test_a_failed_check_is_no_lost_node(two_nodes: Callable[..., TwoNodes]) -> None:
    job = two_nodes("--check", "collectives", "--break", "collectives")
    before = time.monotonic()
    codes = job.codes()
    assert codes == [10, 10], job.outputs
    assert time.monotonic() - before < 40, "nobody waits for somebody who has ended"
    assert not job_goes_on(job_policy(GPU_POOL), [Pod(code) for code in codes])


def test_a_dead_rank_is_no_lost_node(two_nodes: Callable[..., TwoNodes]) -> None:
    """Both nodes are there: it is the job that is broken."""
    job = two_nodes(*LONG)
    job.wait_for_progress()
    (mark,) = (job.folders[1] / "ranks").glob("rank-*.json")  # torchrun numbers the ranks, not in the nodes' order
    os.kill(json.loads(mark.read_text())["pid"], signal.SIGKILL)
    before = time.monotonic()
    codes = job.codes()
    assert codes == [1, 1], job.outputs
    assert time.monotonic() - before < 40, "not by running out of time"
    (error,) = job.document(1)["errors"]
    assert "died without a trace" in error["message"]
    assert not job_goes_on(job_policy(GPU_POOL), [Pod(code) for code in codes])


def test_a_node_that_waits_for_the_others_stops_at_once(start: Callable[..., Any], tmp_path: Path) -> None:
    head = start(tmp_path, "--nodes", "2", "--node-rank", "0", "--head", "localhost", "--port", str(free_ports(4)),
                 "--nproc-per-node", "1", "--check", "devices")  # fmt: skip
    time.sleep(2)
    head.send_signal(signal.SIGTERM)
    before = time.monotonic()
    output, _ = head.communicate(timeout=30)
    assert head.returncode == 75, output
    assert time.monotonic() - before < 5
