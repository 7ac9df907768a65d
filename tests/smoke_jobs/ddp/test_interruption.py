"""What surrounds the inner job of the interruption check: whose groups, and whose NCCL."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainyard.smoke_jobs.ddp import check_interruption, supervise
from trainyard.smoke_jobs.ddp.options import Options


def a_job(tmp_path: Path, cuda: bool, said: list[str]) -> Any:
    options = Options(scratch_dir=str(tmp_path), checkpoint_uri=str(tmp_path / "tier"), nodes=1, nproc_per_node=1)
    return SimpleNamespace(
        options=options, cuda=cuda, host="a", rank=0, local_rank=0, local_world_size=1, world_size=1, nodes=1,
        head=True, exclusive="", broken=lambda _: False, broadcast=lambda value: value,
        leave=lambda: said.append("left"), renew=lambda: said.append("renewed"), post=lambda *_: None,
        read=lambda _: "",
    )  # fmt: skip


def test_the_outer_groups_are_left_before_the_inner_job_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes a GPU with communicators of their own fail where a GPU takes one."""
    said: list[str] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)

    def run(_: object) -> str:
        said.append("inner job")
        raise check_interruption.Broken("enough")

    monkeypatch.setattr(check_interruption.Supervisor, "run", run)
    monkeypatch.setattr(check_interruption, "_outcome", lambda *_: None)
    check_interruption.run(a_job(tmp_path, True, said))
    assert said == ["left", "inner job", "renewed"]


def test_the_inner_job_goes_by_the_name_that_the_platform_gave_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's own name, which torchrun would take, may mean nothing to the others (SageMaker)."""
    asked: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: asked.append(command))
    job = a_job(tmp_path, False, [])
    for nodes, named in ((2, "algo-2"), (2, ""), (1, "algo-1")):
        job.nodes = nodes
        monkeypatch.setenv("SMOKE_NODE_NAME", named)
        check_interruption.Supervisor(job, check_interruption.make_plan(job, "x"), "algo-1")._start(
            check_interruption.make_plan(job, "x"), 0, 2
        )
    assert asked[0][asked[0].index("--local-addr") + 1] == "algo-2"
    assert all("--local-addr" not in command for command in asked[1:])


@pytest.mark.parametrize(("cuda", "algorithm"), [(True, "Ring"), (False, None)])
def test_the_ring_is_the_inner_job_s_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cuda: bool, algorithm: str | None
) -> None:
    """NVLS, which H100 and later take, does not add in the same order every time; nothing else needs that."""
    monkeypatch.delenv("NCCL_ALGO", raising=False)
    given: list[dict[str, str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, env, **__: given.append(env))
    job = a_job(tmp_path, cuda, [])
    plan = check_interruption.make_plan(job, "x")
    check_interruption.Supervisor(job, plan, "a")._start(plan, 0, 2)
    assert given[0].get("NCCL_ALGO") == algorithm
    assert given[0]["SMOKE_ROLE"] == "interrupted"
    assert "NCCL_ALGO" not in supervise.environment(8, {}), "the checks measure what NCCL chooses"
    for path in Path(supervise.__file__).parent.glob("*.py"):
        assert ("NCCL_ALGO" in path.read_text()) is (path.name == "check_interruption.py"), path.name
