"""What a rank makes of the outcomes of its checks, without a job around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import check_gradients, flight, thresholds
from trainyard.smoke_jobs.ddp.entrypoint import _may_be_of_the_end
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.result import CheckFailed, Figure, Outcome, passed
from trainyard.smoke_jobs.ddp.worker import Runner, _Mark


def runner(baseline: Path, *outcomes: Outcome) -> Runner:
    """One that has the outcomes of some collectives checks and of nothing else."""
    job: Any = SimpleNamespace(
        options=Options(baseline=str(baseline), nodes=1, nproc_per_node=2), nodes=1, world_size=2, local_world_size=2,
        device=SimpleNamespace(type="cpu"), backend="gloo", instance="cpu",
    )  # fmt: skip
    made = Runner(job, SimpleNamespace(write=lambda *_: None))  # type: ignore[arg-type]
    for outcome in outcomes:
        made._add("collectives", outcome, 1.0)
    made.document["figures"] = [
        {"name": f.name, "value": f.value, "unit": f.unit, "better": f.better}
        for figures in made.figures.values()
        for f in figures
    ]
    return made


def bandwidth(shown: str, **gb_per_s: float) -> Outcome:
    """A check that shows one message size (`MiB_4`) and measured several."""
    figures = {size: Figure(f"busbw all_reduce {size[4:]} MiB", value, "GB/s") for size, value in gb_per_s.items()}
    return passed("exact", figure=figures.pop(shown), figures=list(figures.values()))


@pytest.mark.parametrize("shown", ["MiB_1", "MiB_4"])
def test_a_drop_is_told_at_its_own_message_size_whichever_is_shown(tmp_path: Path, shown: str) -> None:
    path = tmp_path / "baseline.json"
    thresholds.write_baseline(path, runner(path, bandwidth("MiB_4", MiB_1=20.0, MiB_4=40.0)).document)
    now = runner(path, bandwidth(shown, MiB_1=20.0, MiB_4=30.0, MiB_16=5.0))
    now._compare()
    (check,) = now.document["checks"]
    assert check["verdict"] == "below"
    assert check["reason"].startswith("worse than the recorded baseline: busbw all_reduce 4 MiB is 30 GB/s")
    assert len(check["details"]["baseline"]) == 1, "1 MiB is as it was, and 16 MiB was not recorded"


def test_sizes_are_not_compared_with_each_other(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    thresholds.write_baseline(path, runner(path, bandwidth("MiB_4", MiB_1=20.0, MiB_4=40.0)).document)
    now = runner(path, bandwidth("MiB_1", MiB_1=19.0, MiB_4=39.0))
    now._compare()
    assert now.document["checks"][0]["verdict"] == "pass"


@pytest.fixture
def broken_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Rank 1 of two whose GPU is lost in check gradients, and whose groups cannot even be aborted then."""
    said: list[str] = []
    monkeypatch.setenv("RANK", "1")

    def lost(_: object) -> Outcome:
        raise RuntimeError("CUDA error: uncorrectable ECC error encountered")

    def leave() -> None:
        said.append("left")
        raise RuntimeError("NCCL error: unhandled cuda error")

    monkeypatch.setattr(check_gradients, "run", lost)
    monkeypatch.setattr(flight, "stand", lambda _: said.append(mark()["state"]))
    made = runner(tmp_path / "none")
    vars(made.job).update({
        "rank": 1, "host": "a", "head": False, "watch": None, "clock_s": 0.0, "leave": leave,
        "post": lambda key, posted: said.append(f"{key}: {posted.outcome.reason}"),
    })  # fmt: skip
    made.mark = _Mark(tmp_path)
    mark = lambda: json.loads(made.mark.path.read_text())  # noqa: E731
    made.job.said = said  # type: ignore[attr-defined]
    return made


def test_what_was_caught_is_written_and_posted_before_anything_that_may_hang(broken_rank: Runner) -> None:
    with pytest.raises(RuntimeError, match="unhandled cuda error") as raised:
        broken_rank._check(1, "gradients")
    ecc = "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    said: list[str] = broken_rank.job.said  # type: ignore[attr-defined]
    assert said == ["caught", f"gradients/1: rank 1 on a: {ecc}", "left"]
    broken_rank.mark.write("raised", str(raised.value))
    mark = json.loads(broken_rank.mark.path.read_text())
    assert mark["message"] == f"NCCL error: unhandled cuda error after it had met: {ecc} (in check gradients)"


def no_file(_: object) -> Outcome:
    raise CheckFailed("no file matches *.bin below /data")


def no_tier(_: object) -> Outcome:
    try:
        raise OSError("Transport endpoint is not connected")
    except OSError as error:
        raise CheckFailed(f"the data tier /data cannot be used: {error}") from None


@pytest.mark.parametrize(("run", "of_the_end"), [(no_file, False), (no_tier, True)])
def test_what_a_check_found_out_itself_is_not_taken_for_the_end(
    broken_rank: Runner, monkeypatch: pytest.MonkeyPatch, run: Callable[[object], Outcome], of_the_end: bool
) -> None:
    """On preemption a check that failed because of it is dropped; a file that is not there was not there before."""
    posted: list[Outcome] = []
    monkeypatch.setattr(check_gradients, "run", run)
    vars(broken_rank.job)["post"] = lambda _, each: posted.append(each.outcome)
    with pytest.raises(RuntimeError, match="unhandled cuda error"):
        broken_rank._check(1, "gradients")
    assert _may_be_of_the_end(posted[0].entry("gradients", 1.0)) is of_the_end


def test_what_was_caught_in_an_earlier_check_explains_no_later_end(broken_rank: Runner) -> None:
    broken_rank.mark.write("caught", "CheckFailed: no file matches")
    broken_rank.mark.go_on()
    mark = json.loads(broken_rank.mark.path.read_text())
    assert (mark["state"], mark["message"]) == ("started", "")
    broken_rank.mark.write("raised", "ValueError: no")
    assert json.loads(broken_rank.mark.path.read_text())["message"] == "ValueError: no"
