"""Nodes on this machine, one of which is taken away: real torchrun agents, real signals.

A node is a wrapper with everything below it. What a container's end does to it (SIGKILL to all of its processes at
once) and what an eviction does (SIGTERM to its first process) is done here to one of them.
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

from tests.smoke_jobs.launch.failure_policy import Pod, job_goes_on
from tests.smoke_jobs.launch.support import GPU_POOL, job_policy
from tests.smoke_jobs.ports import free_ports
from trainyard.smoke_jobs.ddp import result

NODE = "TEST_NODE_OF_THE_JOB"
"""Environment variable that every process of a node carries."""


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


class Nodes:
    def __init__(
        self, start: Callable[..., Any], folder: Path, *flags: str, count: int = 2, env: dict[int, dict[str, str]]
    ) -> None:
        port = free_ports(4)
        self.folders = [folder / f"node-{rank}" for rank in range(count)]
        self.names = [f"{folder}-{rank}" for rank in range(count)]
        self.nodes: list[subprocess.Popen[str]] = [
            start(
                self.folders[rank], "--nodes", str(count), "--node-rank", str(rank), "--head", "localhost",
                "--port", str(port), "--nproc-per-node", "1", "--checkpoint-uri", str(folder / "tier"),
                "--tracking-uri", "none", *flags,
                env={NODE: self.names[rank], **env.get(rank, {})},
            )
            for rank in range(count)
        ]  # fmt: skip

    def wait_for_progress(self) -> None:
        for rank in range(len(self.nodes)):
            self.wait_for(rank, "progress.json")

    def wait_for(self, rank: int, name: str) -> None:
        deadline = time.monotonic() + 300
        while not (self.folders[rank] / name).exists():
            assert time.monotonic() < deadline, f"node {rank} wrote no {name}"
            time.sleep(0.01)

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
def nodes(start: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., Nodes]]:
    made: list[Nodes] = []

    def make(*flags: str, count: int = 2, env: dict[int, dict[str, str]] | None = None) -> Nodes:
        made.append(Nodes(start, tmp_path / str(len(made)), *flags, count=count, env=env or {}))
        return made[-1]

    yield make
    for job in made:
        job.close()


LONG = ("--check", "interruption", "--kills", "20")
"""Minutes of work, of a job inside the job."""


@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_survivor_of_a_lost_node_is_preempted(
    nodes: Callable[..., Nodes], victim: int, number: signal.Signals
) -> None:
    job = nodes(*LONG)
    job.wait_for_progress()
    time.sleep(2)  # into the interruption check
    before = time.monotonic()
    job.take_away(victim, number)
    codes = job.codes()
    assert time.monotonic() - before < 60, "not by running out of time"
    survivor = 1 - victim
    assert codes[survivor] == 75, job.outputs[survivor]
    assert codes[victim] == (-signal.SIGKILL if number is signal.SIGKILL else 75), job.outputs[victim]
    document = job.document(survivor)
    assert document["verdict"] == "preempted"
    (check,) = [check for check in document["checks"] if check["name"] == "interruption"]
    assert check["verdict"] == "skipped"
    assert document["errors"][0]["message"] in check["reason"]
    how = "is gone" if number is signal.SIGKILL else "was told to stop (SIGTERM)"
    assert check["reason"].startswith(f"node {victim} (") and how in check["reason"]
    assert not any(processes_of(name) for name in job.names), "nothing is left running"


def test_the_job_that_lost_a_node_runs_again_and_passes(nodes: Callable[..., Nodes]) -> None:
    """What the job controller does with these exit codes, and what comes of it."""
    job = nodes(*LONG)
    job.wait_for_progress()
    job.take_away(1, signal.SIGKILL)
    codes = job.codes()
    policy = job_policy(GPU_POOL)
    assert job_goes_on(policy, [Pod(codes[0]), Pod(128 + signal.SIGKILL, disrupted=True)])
    assert not job_goes_on(policy, [Pod(codes[0]), Pod(128 + signal.SIGKILL)]), "out of memory is no disruption"
    again = nodes("--check", "collectives")
    assert again.codes() == [0, 0], again.outputs
    assert again.document(0)["topology"]["nodes"] == 2


@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
@pytest.mark.parametrize("whole", [False, True], ids=["rank", "machine"])
def test_a_node_that_hangs_is_named_within_its_limit(nodes: Callable[..., Nodes], victim: int, whole: bool) -> None:
    """Its kernel still answers, so that no connection closes."""
    limit_s = 12
    job = nodes("--check", "gradients", "--check", "scaling", "--rank-timeout-s", str(limit_s))
    job.wait_for_progress()
    (path,) = (job.folders[victim] / "ranks").glob("rank-*.json")  # torchrun numbers the nodes as they come
    mark = json.loads(path.read_text())
    for pid in processes_of(job.names[victim]) if whole else [mark["pid"]]:
        os.kill(pid, signal.SIGSTOP)
    before = time.monotonic()
    told = [1 - victim] if whole else [0, 1]
    for rank in told:
        output, _ = job.nodes[rank].communicate(timeout=limit_s + 60)
        assert job.nodes[rank].returncode == 10, output
    assert time.monotonic() - before < limit_s + 15
    for rank in told:
        errors = {error["rank"]: error["message"] for error in job.document(rank)["errors"]}
        assert list(errors) == [mark["rank"]] and "no sign of life" in errors[mark["rank"]]


def test_a_failed_check_is_no_lost_node(nodes: Callable[..., Nodes]) -> None:
    job = nodes("--check", "collectives", "--break", "collectives")
    before = time.monotonic()
    codes = job.codes()
    assert codes == [10, 10], job.outputs
    assert time.monotonic() - before < 80, "nobody waits for somebody who has ended"
    assert not job_goes_on(job_policy(GPU_POOL), [Pod(code) for code in codes])


def test_a_dead_rank_is_no_lost_node(nodes: Callable[..., Nodes]) -> None:
    """Both nodes are there: it is the job that is broken."""
    job = nodes(*LONG)
    job.wait_for_progress()
    (mark,) = (job.folders[1] / "ranks").glob("rank-*.json")  # torchrun numbers the ranks, not in the nodes' order
    os.kill(json.loads(mark.read_text())["pid"], signal.SIGKILL)
    before = time.monotonic()
    codes = job.codes()
    assert codes == [1, 1], job.outputs
    assert time.monotonic() - before < 60, "not by running out of time"
    for rank in (0, 1):  # the head hears it of the other
        (error,) = job.document(rank)["errors"]
        assert "was ended by SIGKILL" in error["message"]
    assert not job_goes_on(job_policy(GPU_POOL), [Pod(code) for code in codes])


def test_three_nodes_lose_one(nodes: Callable[..., Nodes]) -> None:
    job = nodes(*LONG, count=3)
    job.wait_for_progress()
    job.take_away(2, signal.SIGTERM)
    assert job.codes() == [75, 75, 75], job.outputs
    for rank in (0, 1):
        assert "node 2 (" in job.document(rank)["errors"][0]["message"]
    assert "the job was told to stop" in job.document(2)["errors"][0]["message"]


SHORT = ("--check", "collectives")


@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
def test_a_signal_in_the_last_moment_leaves_one_verdict(nodes: Callable[..., Nodes], victim: int) -> None:
    """The checks are done; all run again or none does."""
    job = nodes(*SHORT)
    job.wait_for(1 - victim, "result.json")
    job.take_away(victim, signal.SIGTERM)
    codes = job.codes()
    assert codes in ([75, 75], [0, 0]), job.outputs
    assert [job.document(rank)["exit_code"] for rank in range(2)] == codes


@pytest.mark.parametrize("victim", [0, 1], ids=["head", "other"])
def test_a_signal_while_a_node_waits_for_the_others_to_end(nodes: Callable[..., Nodes], victim: int) -> None:
    """The other's wrapper is slow to see that its ranks have ended, and meanwhile the victim is told to stop."""
    job = nodes(*SHORT)
    job.wait_for_progress()
    job.take_away(1 - victim, signal.SIGSTOP)
    job.wait_for(victim, "result.json")
    job.wait_for(1 - victim, "result.json")
    time.sleep(4)  # torchrun ends, and the wrapper settles
    assert job.nodes[victim].poll() is None, "it waits"
    job.take_away(victim, signal.SIGTERM)
    time.sleep(1)
    job.take_away(1 - victim, signal.SIGCONT)
    codes = job.codes()
    if victim == 0:  # whose word it is
        assert codes == [75, 75], job.outputs
        assert [job.document(rank)["verdict"] for rank in range(2)] == ["preempted", "preempted"]
        assert "was told to stop" in job.document(1)["errors"][0]["message"], "every check has passed"
    assert codes[0] == codes[1], job.outputs
    assert job_goes_on(job_policy(GPU_POOL), [Pod(codes[0]), Pod(codes[1], disrupted=True)])


def test_the_head_does_not_pass_without_the_others(nodes: Callable[..., Nodes]) -> None:
    job = nodes(*SHORT, "--timeout-s", "25")
    job.wait_for_progress()
    job.take_away(1, signal.SIGSTOP)
    before = time.monotonic()
    output, _ = job.nodes[0].communicate(timeout=90)
    assert job.nodes[0].returncode == 124, output
    assert time.monotonic() - before > 20
    document = job.document(0)
    assert "node 1 (" in document["errors"][0]["message"] and "did not end" in document["errors"][0]["message"]
    job.take_away(1, signal.SIGKILL)


@pytest.fixture
def no_torch(tmp_path: Path) -> dict[str, str]:
    """An installation that cannot be imported."""
    package = tmp_path / "broken" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('libcudart.so.13: cannot open shared object file')\n")
    return {"PYTHONPATH": str(package.parent)}


def test_torchrun_that_does_not_start_is_named(
    start: Callable[..., Any], tmp_path: Path, no_torch: dict[str, str]
) -> None:
    node = start(
        tmp_path / "out", "--nproc-per-node", "1", "--check", "devices", "--tracking-uri", "none", env=no_torch
    )
    output, _ = node.communicate(timeout=60)
    assert node.returncode == 1, output
    (error,) = json.loads((tmp_path / "out" / "result.json").read_text())["errors"]
    assert error["message"] == "torchrun ended before a rank started"


def test_the_node_that_broke_says_why_and_the_other_where(
    nodes: Callable[..., Nodes], no_torch: dict[str, str]
) -> None:
    job = nodes(*SHORT, env={1: no_torch})
    assert job.codes() == [1, 1], job.outputs
    messages = [[error["message"] for error in job.document(rank)["errors"]] for rank in range(2)]
    assert messages == [
        ["the ranks of another node ended without a result; see its log"], ["torchrun ended before a rank started"],
    ]  # fmt: skip


def test_a_node_that_waits_for_the_others_stops_at_once(start: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    head = start(folder, "--nodes", "2", "--node-rank", "0", "--head", "localhost", "--port", str(free_ports(4)),
                 "--nproc-per-node", "1", "--check", "devices")  # fmt: skip
    deadline = time.monotonic() + 300
    while not folder.exists():  # made just before the wrapper listens to signals
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(1)
    head.send_signal(signal.SIGTERM)
    before = time.monotonic()
    output, _ = head.communicate(timeout=90)
    assert head.returncode == 75, output
    assert time.monotonic() - before < 60, "not at the rendezvous timeout"


@pytest.mark.parametrize("beyond", [0, 1], ids=["of torchrun", "of the roll call"])
def test_a_port_that_is_taken_is_named_in_a_result(
    start: Callable[..., Any], nodes: Callable[..., Nodes], beyond: int
) -> None:
    port = free_ports(4)
    with socket.create_server(("", port + beyond)):
        job = nodes(*SHORT, "--port", str(port), "--rendezvous-timeout-s", "10")
        codes = job.codes()
    assert 0 not in codes
    assert 124 not in codes
    documents = [json.dumps(job.document(rank)) for rank in range(2)]
    assert f"port {port + beyond}" in documents[0], job.outputs


def test_a_result_that_cannot_be_written_is_told(start: Callable[..., Any], tmp_path: Path) -> None:
    node = start(
        Path("/proc/no-folder"), "--nproc-per-node", "1", "--check", "devices", "--break", "devices",
        "--tracking-uri", "none",
    )  # fmt: skip
    output, _ = node.communicate(timeout=60)
    assert node.returncode == 10, output
    told = json.loads(next(line for line in output.splitlines() if line.startswith("SMOKE_RESULT ")).split(" ", 1)[1])
    assert told["exit_code"] == 10
    assert "/proc/no-folder" in output
    assert "Traceback" not in output
