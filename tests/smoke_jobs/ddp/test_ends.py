"""Who is blamed for the end of a job, from what its ranks and torchrun left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp.ends import after, errors_of, first_hand
from trainyard.smoke_jobs.ddp.result import write_json

LOST = "RuntimeError: [../gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.7]:4711"


@pytest.fixture
def left(tmp_path: Path) -> Any:
    """Writes the marks of ranks, and what torchrun saw: [(rank, exit code, second)]."""

    def write(*marks: tuple[str, str], failures: list[tuple[int, int, int]] | None = None) -> Path:
        for rank, (state, message) in enumerate(marks):
            mark = {"rank": rank, "host": "n", "pid": 10 + rank, "state": state, "message": message}
            write_json(tmp_path / "ranks" / f"rank-{rank}.json", mark)
        if failures is not None:
            entries = [{"rank": rank, "pid": 10 + rank, "exit_code": code, "at": at} for rank, code, at in failures]
            write_json(tmp_path / "failures.json", entries)
        return tmp_path

    return write


def blamed(folder: Path, **how: Any) -> dict[int, str]:
    return {error["rank"]: error["message"] for error in errors_of(folder, **how)}


def test_without_a_word_of_torchrun_those_that_only_started_are_named(left):
    folder = left(("stopped", ""), ("started", ""), ("raised", "ValueError: no"), ("finished", ""))
    found = blamed(folder)
    assert list(found) == [1, 2]
    assert "process 11 died without a trace" in found[1] and "out-of-memory" in found[1]
    assert found[2] == "ValueError: no"
    assert blamed(folder, stopped=True) == {2: "ValueError: no"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-9, "ended by SIGKILL; look for the out-of-memory killer"),
        (-15, "ended by SIGTERM; something outside of the job told it to stop"),
        (143, "ended by SIGTERM; something outside of the job told it to stop"),
        (-11, "ended by SIGSEGV; a library or the driver"),
        (-6, "ended by SIGABRT; a library gave up: NCCL's watchdog"),
        (-7, "ended by SIGBUS"),
        (3, "ended with exit code 3 and left no word"),
    ],
)
def test_the_first_process_that_ended_is_blamed_by_its_exit_code(left, code, said):
    state = "stopped" if code == 143 else "started"
    others = [(0, -15, 101), (2, -9, 131)]  # torchrun stopped one, and killed one that did not hear
    folder = left(("stopped", ""), (state, ""), ("started", ""), failures=[(1, code, 100), *others])
    (rank, message), *more = blamed(folder).items()
    assert (rank, more) == (1, [])
    assert said in message


def test_one_that_aborts_tells_what_it_had_met_before(left):
    met = "CUDA error: uncorrectable ECC error encountered (in check gradients)"
    folder = left(("caught", LOST), ("caught", met), failures=[(1, -6, 100)])
    assert "SIGABRT after it had met: CUDA error: uncorrectable ECC error" in blamed(folder)[1]
    assert list(blamed(folder)) == [1], "who saw a connection close knows nothing"


def test_two_that_die_together_are_both_named(left):
    folder = left(("started", ""), ("started", ""), failures=[(0, -9, 100), (1, -9, 100)])
    assert list(blamed(folder)) == [0, 1]


def test_where_nobody_knows_why_all_are_heard():
    errors = [{"rank": rank, "host": "n", "message": LOST} for rank in (0, 1)]
    assert first_hand(errors) == errors


def test_a_silent_rank_that_had_caught_something_tells_it(left):
    met = "AcceleratorError: CUDA error: uncorrectable ECC error encountered (in check gradients)"
    folder = left(("caught", LOST), ("caught", met))
    ranks = [{"rank": rank, "host": "n", "message": "did not come back"} for rank in (0, 1)]
    (folder / "silent.json").write_text(json.dumps({"check": "gradients", "ranks": ranks}))
    assert blamed(folder) == {0: "did not come back", 1: f"did not come back after it had met: {met}"}


def test_a_rank_of_which_several_nodes_tell_is_told_once_by_who_knows_most():
    short = {"rank": 1, "host": "n", "message": "did not come back"}
    long = {"rank": 1, "host": "n", "message": "did not come back after it had met: CUDA error"}
    other = {"rank": -1, "host": "m", "message": "torchrun ended"}
    assert first_hand([short, long, other, other]) == [long, other]


@pytest.mark.parametrize(
    ("message", "met", "told"),
    [
        ("NCCL error", "", "NCCL error"),
        ("NCCL error", "ECC error", "NCCL error after it had met: ECC error"),
        (LOST, "ECC error", "ECC error"),
        ("NCCL error", LOST, "NCCL error"),
    ],
)
def test_an_end_is_told_with_what_came_before_it(message, met, told):
    assert after(message, met) == told


def test_who_is_silent_is_all_that_counts(left):
    folder = left(("started", ""), ("caught", LOST))
    ranks = [{"rank": 0, "host": "n", "message": "has given no sign of life"}]
    (folder / "silent.json").write_text(json.dumps({"check": "data", "ranks": ranks}))
    assert errors_of(folder) == ranks
