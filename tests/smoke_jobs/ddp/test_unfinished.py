"""A collective that NCCL gave up accuses nobody: a fake of its backend stands in for the watchdog of a GPU."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from tests.smoke_jobs.ddp.test_flight import entry, stand
from trainyard.smoke_jobs.ddp import check_alltoall, check_collectives, supervise, unfinished
from trainyard.smoke_jobs.ddp.ends import second_hand
from trainyard.smoke_jobs.ddp.flight import behind
from trainyard.smoke_jobs.ddp.job import Job
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.result import failed
from trainyard.smoke_jobs.ddp.unfinished import Unfinished
from trainyard.smoke_jobs.ddp.worker import Posted, _text, merge


class Error(Enum):
    """As `torch.distributed`'s ErrorType of a build with NCCL."""

    SUCCESS = 0
    TIMEOUT = 1
    COMM_ERROR = 2
    NEW_ONE = 9


class Backend:
    """NCCL's, after its watchdog has looked."""

    def __init__(self, error: Error) -> None:
        self.error = error

    def get_error(self) -> Error:
        return self.error


def a_job(limit_s: float = 90.0) -> Job:
    """Rank 0 of two with a GPU, of which only its memory is asked for; that is the host's here."""
    job = object.__new__(Job)
    job.__dict__ |= {
        "cuda": True, "device": torch.device("cpu"), "rank": 0, "world_size": 2, "host": "a", "host_group": None,
        "options": Options(collective_timeout_s=limit_s),
        "inventories": [{"host": "a"}, {"host": "b"}],
    }  # fmt: skip
    return job


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Callable[[Error], Job]:
    """A job whose collectives leave their buffers as they were, and whose waits return at once."""

    def make(error: Error) -> Job:
        monkeypatch.setattr(torch.cuda, "synchronize", lambda _: None)
        monkeypatch.setattr(unfinished, "backends", lambda _: [Backend(error)])
        for name in ("all_reduce", "broadcast", "all_to_all_single"):
            monkeypatch.setattr(dist, name, lambda *_, **__: None)
        for name in ("_all_gather", "_reduce_scatter"):
            monkeypatch.setattr(check_collectives, name, lambda *_: None)
        return a_job()

    return make


def accused(job: Job) -> list[str]:
    """What the check of collectives says of a small and of a large message."""
    return check_collectives._wrong(job) + check_collectives._wrong_at(job, 4096, torch.float32)


def test_what_a_dead_link_left_in_the_buffer_accuses_nobody(gpu: Callable[[Error], Job]) -> None:
    told = accused(gpu(Error.SUCCESS))
    assert any("the data of rank 1 (b) is wrong" in text for text in told), "as it would be without the question"
    for check in (accused, check_alltoall.run):
        with pytest.raises(Unfinished, match="timed out: NCCL's watchdog gave it up after its limit of 90 s"):
            check(gpu(Error.TIMEOUT))


@pytest.mark.parametrize("error", [Error.TIMEOUT, Error.COMM_ERROR])
def test_who_only_saw_it_comes_second_to_the_rank_that_kept_the_others(error: Error) -> None:
    with pytest.raises(Unfinished) as raised:
        unfinished.ended([Backend(Error.SUCCESS), Backend(error)], 0.1, 90)
    said = _text(raised.value)
    assert second_hand(said)
    ahead, back = stand(entry(1, at=5), entry(2, at=10)), stand(entry(1, at=5))
    saw, kept = (Posted(failed(f"rank {rank}: {said}"), True, stood) for rank, stood in enumerate((ahead, back)))
    outcome, lost = merge([saw, kept], lambda stands: behind(stands, 90.0), ["a", "b"])
    assert lost and outcome.reason.startswith("rank 1 on b had asked for no more than nccl:all_reduce 1")
    real = Posted(failed("rank 1: AcceleratorError: uncorrectable ECC error"), True)
    assert "ECC" in merge([Posted(failed(said), True), real], lambda _: {}, ["a", "b"])[0].reason


def test_an_error_of_a_later_pytorch_is_told_by_its_name() -> None:
    with pytest.raises(Unfinished, match="NCCL reports NEW_ONE"):
        unfinished.ended([Backend(Error.NEW_ONE)], 0.1, 90)


def test_where_a_backend_does_not_tell_the_wait_does() -> None:
    older = [SimpleNamespace()]
    unfinished.ended(older, 30.0, 90)
    unfinished.ended([Backend(Error.SUCCESS)], 30.0, 90)
    with pytest.raises(Unfinished, match="waited for for 90 s, a collective may take 90 s"):
        unfinished.ended(older, 89.8, 90)


def test_the_backends_of_all_groups_are_asked_that_carry_the_device() -> None:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        second: Any = dist.new_group([0])
        cpu = torch.device("cpu")
        assert {id(each) for each in unfinished.backends(cpu)} >= {id(second._get_backend(cpu))}
        assert len(unfinished.backends(cpu)) == 2
        only = SimpleNamespace(_device_types=[torch.device("cpu")])
        assert not unfinished._carries(only, torch.device("cuda", 3))
        both = SimpleNamespace(_device_types=[torch.device("cpu"), torch.device("cuda")])
        assert unfinished._carries(both, torch.device("cuda", 3))
    finally:
        dist.destroy_process_group()


def test_nccl_leaves_the_process_and_keeps_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_FR_BUFFER_SIZE"):
        monkeypatch.delenv(name, raising=False)
    found = supervise.environment(1, {})
    assert found["TORCH_NCCL_ASYNC_ERROR_HANDLING"] == "2" and int(found["TORCH_FR_BUFFER_SIZE"]) > 0


def test_every_further_group_has_the_limit_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's own are 30 minutes with gloo and 10 with NCCL, on a GPU, where the host's group is one of them."""
    given: list[Any] = []
    monkeypatch.setattr(dist, "init_process_group", lambda *_, timeout, **__: given.append(timeout))
    monkeypatch.setattr(dist, "new_group", lambda *_, timeout, **__: given.append(timeout))
    job = a_job(limit_s=40)
    job.__dict__ |= {"backend": "cpu:gloo,cuda:nccl", "store": dist.HashStore(), "generation": 0}
    job._make_groups()
    job.group(range(1))
    assert given == [timedelta(seconds=40)] * 3
    for path in Path(unfinished.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("new_group", "init_process_group"):
                assert "timeout" in {keyword.arg for keyword in node.keywords}, f"{path.name} {node.lineno}"


def test_on_a_gpu_groups_are_aborted_and_never_destroyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """To destroy one can hang once a peer is gone (pytorch#180611)."""
    said: list[str] = []
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: said.append("destroyed"))
    monkeypatch.setattr(distributed_c10d, "_abort_process_group", lambda: said.append("aborted"))
    job = a_job()
    job.leave()
    assert said == ["aborted"] and job.host_group is None
    job.cuda = False
    job.leave()
    assert said == ["aborted", "destroyed"], "gloo's peers hear at once"


@pytest.mark.parametrize(("cuda", "away"), [(True, False), (False, True)])
def test_who_waits_in_a_collective_until_its_limit_has_not_stayed_away(cuda: bool, away: bool) -> None:
    """Rank 0 failed first, and aborts: of its peers in the same node nobody hears before NCCL's limit has passed."""
    job = a_job(limit_s=60.0)
    job.__dict__ |= {"cuda": cuda, "store": dist.HashStore()}
    job.options = replace(job.options, rank_timeout_s=0.5)
    job.post("check/0", "failed")
    later = threading.Timer(3.0, job.post, ("check/1", "timed out"))
    later.start()
    found = job.collect("check", lambda said: said == "failed")
    later.join()
    assert (1 not in found) is away
