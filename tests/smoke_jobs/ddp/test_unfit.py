"""Ranks whose GPU is not there are named before process groups are made, which would never be complete."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.testing._internal.distributed.fake_pg import FakeStore

from tests.shared import ROOT
from tests.smoke_jobs.ddp.conftest import clean_environment
from trainyard.smoke_jobs.ddp import hardware, job, pulse, result
from trainyard.smoke_jobs.ddp.job import Here, unfit
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.pulse import Pulse

PROGRAM = """
import os, sys
import torch
how, rank = sys.argv[1], int(os.environ["RANK"])
def lost(device):
    raise RuntimeError("CUDA error: invalid device ordinal")
if how == "lost" or rank == 0:
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 2 if how == "lost" else 1
    torch.cuda.nccl.version = lambda: (2, 27, 5)
    torch.cuda.set_device = lost if how == "lost" and rank == 1 else lambda device: None
    zeros = torch.zeros
    torch.zeros = lambda *size, device=None, **more: zeros(*size, **more)
from trainyard.smoke_jobs.ddp import worker
sys.exit(worker.main(sys.argv[2:]))
"""
"""The worker on a machine of which rank 1's GPU was lost, or where only rank 0 sees one."""


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("lost", ("rank 1 on ", "its GPU, one of 2 that it sees there, cannot be used: CUDA error: invalid device")),
        ("none", ("rank 1 on ", "sees no GPU, 1 of 2 ranks do", "device plugin")),
    ],
)
def test_a_gpu_that_is_not_there_fails_devices_and_names_the_rank(
    tmp_path: Path, how: str, says: tuple[str, ...]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    begun = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program), how,
         "--result-dir", str(tmp_path), "--check", "devices", "--check", "collectives", "--timeout-s", "600"],
        env=clean_environment({"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "SMOKE_WRAPPED": "1"}),
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr  # under the wrapper result.json says the rest
    assert time.monotonic() - begun < 120, "not by a limit"
    document = json.loads((tmp_path / "result.json").read_text())
    assert result.problems(document) == []
    assert (document["verdict"], document["exit_code"]) == ("fail", 10)
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["rendezvous"]["verdict"] == "pass"
    for text in says:
        assert text in checks["devices"]["reason"]
    assert checks["collectives"]["verdict"] == "skipped" and "needs devices" in checks["collectives"]["reason"]


def test_ranks_that_are_alike_are_fit() -> None:
    assert not unfit([Here("a"), Here("b")]), "no GPU anywhere is a job on CPUs"
    assert not unfit([Here("a", True, 8), Here("b", True, 7)]), "how many there have to be says the plan"


def test_each_node_without_a_gpu_is_named_once() -> None:
    here = [Here("a", True, 2), Here("a", True, 2), Here("b"), Here("b"), Here("c", True, 2, "lost"), Here("c")]
    lost, *lacking = unfit(here)
    assert lost.startswith("rank 4 on c: its GPU, one of 2")
    assert [text.partition(" sees")[0] for text in lacking] == ["rank 2, 3 on b", "rank 5 on c"]


def test_more_ranks_than_gpus_accuse_no_gpu() -> None:
    here = [Here("a", True, 1), Here("a", True, 1, "CUDA error: invalid device ordinal"), Here("b", True, 2, "lost")]
    few, lost = unfit(here)
    assert few.startswith("a has 2 ranks and shows 1 GPU: start one rank a GPU (`nproc_per_node`)")
    assert lost.startswith("rank 2 on b: its GPU") and "drain the node" in lost


def test_what_the_driver_says_of_a_gpu_that_it_cannot_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = "Unable to determine the device handle for gpu 0000:3B:00.0: GPU is lost."
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-1)'\necho '{lost}'\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hardware.unanswered() == [lost]

    def gone(_: object) -> None:
        raise RuntimeError("CUDA error: invalid device ordinal\nmore")

    monkeypatch.setattr(torch.cuda, "set_device", gone)
    said = job._unusable(torch.device("cuda", 7))
    assert said == f"CUDA error: invalid device ordinal (nvidia-smi: {lost})"


def test_groups_that_are_never_made_end_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "PULSE_S", 0.05)
    monkeypatch.setenv("SMOKE_WRAPPED", "1")
    watch = Pulse(0, ["a"], 60.0, dist.HashStore, lambda: "rendezvous", tmp_path)
    watch.come("first")
    with watch.limit(600, "never told", "first"):
        time.sleep(0.2)
    assert not (tmp_path / "silent.json").exists()
    deadline = time.monotonic() + 300
    with watch.limit(0.1, "the process groups were not made", "first"):
        while not (tmp_path / "silent.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
    (said,) = json.loads((tmp_path / "silent.json").read_text())["ranks"]
    assert (said["rank"], said["host"]) == (-1, "") and "were not made in 0 s: every rank lives" in said["message"]


def test_who_does_not_come_to_make_them_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a device is lost, to abort the old groups may hang: its thread counts on, and all others wait."""
    monkeypatch.setattr(pulse, "PULSE_S", 0.05)
    monkeypatch.setenv("SMOKE_WRAPPED", "1")
    watch = Pulse(0, ["a", "b"], 60.0, dist.HashStore, lambda: "gradients", tmp_path)
    watch.come("groups/1")
    deadline = time.monotonic() + 60
    with watch.limit(0.1, "the process groups were not made", "groups/1"):
        while not (tmp_path / "silent.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
    (said,) = json.loads((tmp_path / "silent.json").read_text())["ranks"]
    assert (said["rank"], said["host"]) == (1, "b") and "did not come to make them" in said["message"]


def test_a_watch_that_stops_is_in_the_store_no_more(tmp_path: Path) -> None:
    """A thread that is there when the interpreter goes aborts the process, whatever it had to say."""

    def slowly() -> dist.Store:
        time.sleep(0.5)
        return dist.HashStore()

    watch = Pulse(1, ["a", "b"], 60.0, slowly, lambda: "rendezvous", tmp_path)
    threads = list(watch._threads)
    assert [thread.is_alive() for thread in threads] == [True, True]
    watch.stop()
    assert [thread.is_alive() for thread in threads] == [False, False]


class _Splits:
    """Counts what is asked of NCCL's group."""

    def __init__(self) -> None:
        self.asked = 0

    def perform_nocolor_split(self, _device: torch.device) -> None:
        self.asked += 1


def test_who_is_not_in_a_group_of_hosts_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those in a group of NCCL split the first one, and the others with them; who is not in one of gloo would wait
    for ever."""
    splits = _Splits()
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=2)
    try:
        first = dist.group.WORLD
        assert first is not None
        first.bound_device_id = torch.device("cuda", 0)  # as where there are GPUs
        monkeypatch.setattr(distributed_c10d, "_get_split_source", lambda _group: splits)
        this = job.Job.__new__(job.Job)
        this.options = Options()
        assert this.group([0], backend="gloo") is None
        assert splits.asked == 0
        assert this.group([0]) is dist.GroupMember.NON_GROUP_MEMBER
        assert splits.asked == 1
    finally:
        dist.destroy_process_group()
