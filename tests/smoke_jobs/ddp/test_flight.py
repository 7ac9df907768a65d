"""Who kept the others in a collective, from what PyTorch's flight recorder holds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.shared import ROOT
from tests.smoke_jobs.ddp.conftest import clean_environment
from trainyard.smoke_jobs.ddp import flight
from trainyard.smoke_jobs.ddp.flight import Stand, latest
from trainyard.smoke_jobs.ddp.result import Outcome, failed
from trainyard.smoke_jobs.ddp.worker import Posted, merge

SECOND = 1_000_000_000
TIMEOUT = "DistBackendError: Watchdog caught collective operation timeout: ran for 90000 milliseconds"
ECC = "DistBackendError: NCCL error: unhandled cuda error: uncorrectable ECC error encountered"


LIMIT_S = 90.0


def behind(stands: Sequence[Stand | None]) -> dict[int, str]:
    return flight.behind(stands, LIMIT_S)


def entry(number: int, *, at: int, operation: str = "nccl:all_reduce", state: str = "started", **more: Any) -> Any:
    return {
        "record_id": number - 1, "pg_id": 0, "collective_seq_id": number, "profiling_name": operation, "state": state,
        "input_sizes": [[1024, 4]], "time_created_ns": at * SECOND, "is_p2p": False, **more,
    }  # fmt: skip


def stand(*entries: Any) -> Stand:
    found = latest(entries)
    assert found is not None
    return found


def test_the_last_collective_says_where_a_rank_stands() -> None:
    found = stand(entry(1, at=5, state="completed"), entry(2, at=10), entry(9, at=50, is_p2p=True))
    assert str(found) == "nccl:all_reduce 2 of group 0 (4096 elements)"
    assert (found.at, found.begun, found.whole) == (10.0, True, True)
    assert latest([entry(1, at=5)], clock_s=2.0).at == 3.0  # type: ignore[union-attr]
    assert latest([]) is None


def test_a_rank_that_asked_for_less_is_named() -> None:
    ahead, back = stand(entry(1, at=5), entry(2, at=10)), stand(entry(1, at=5))
    assert behind([ahead, back, ahead, None]) == {
        1: "had asked for no more than nccl:all_reduce 1 of group 0 (4096 elements), while the others waited in "
        "nccl:all_reduce 2 of group 0 (4096 elements)"
    }


def test_a_rank_whose_gpu_never_began_is_named() -> None:
    begun, idle = stand(entry(2, at=10)), stand(entry(2, at=10, state="scheduled"))
    (said,) = behind([begun, begun, idle]).values()
    assert list(behind([begun, begun, idle])) == [2] and "its GPU had not begun it" in said
    assert behind([idle, idle]) == {}, "nobody is behind the others"


def test_a_rank_that_came_late_is_named() -> None:
    early = stand(entry(2, at=10, operation="gloo:all_reduce"))
    late = stand(entry(2, at=97, operation="gloo:all_reduce"))
    assert behind([early, late]) == {
        1: "asked for gloo:all_reduce 2 of group 0 (4096 elements) 87 s after the first rank, which waited in it"
    }
    assert behind([early, early]) == {}


def test_groups_are_compared_each_with_itself() -> None:
    """The group of the hosts is another one than that of the GPUs: neither's numbers say anything of the other's."""
    host = entry(3, at=20, operation="gloo:barrier", pg_id=1)
    first = entry(8, at=10, record_id=0)
    ahead, back = stand(first, host), stand(first)
    assert list(behind([ahead, back])) == [1]
    assert behind([ahead, ahead]) == {}


def test_what_a_full_recorder_has_forgotten_is_not_held_against_a_rank() -> None:
    """Of two recorders that hold the last 2,000, one may just have dropped the only entry of an old group."""
    old = entry(1, at=1, pg_id=7, record_id=40)
    full, forgot = stand(old, entry(2, at=10, record_id=41)), stand(entry(2, at=10, record_id=41))
    assert behind([full, forgot]) == {}


def posted(reason: str, stood: Stand | None) -> Posted:
    outcome: Outcome = failed(reason)
    return Posted(outcome, True, stood)


def test_where_all_only_ran_out_of_time_the_one_that_was_behind_is_the_reason() -> None:
    ahead, back = stand(entry(1, at=5), entry(2, at=10)), stand(entry(1, at=5))
    outcome, lost = merge([posted(TIMEOUT, ahead), posted(TIMEOUT, back)], behind, ["a", "b"])
    assert lost and outcome.reason.startswith("rank 1 on b had asked for no more than nccl:all_reduce 1")
    assert outcome.details["seen"] == TIMEOUT
    assert outcome.details["stood_in"] == [str(ahead), str(back)]


def test_who_knows_the_reason_is_heard_before_the_recorder() -> None:
    ahead, back = stand(entry(1, at=5), entry(2, at=10)), stand(entry(1, at=5))
    outcome, _ = merge([posted(TIMEOUT, ahead), posted(TIMEOUT, back), posted(ECC, ahead)], behind, ["a", "b", "c"])
    assert outcome.reason == ECC


PROGRAM = """
import json, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from trainyard.smoke_jobs.ddp import flight
dist.init_process_group("gloo", timeout=timedelta(seconds=3))
dist.all_reduce(torch.ones(8))
if dist.get_rank() == 1:
    time.sleep(6)
try:
    dist.all_reduce(torch.ones(1000))
except RuntimeError:
    pass
found = flight.stand(0.0)
with open(f"{sys.argv[1]}/{dist.get_rank()}.json", "w") as stream:
    json.dump([found.group, found.number, found.operation, found.elements, found.begun, found.at,
               found.asked, found.whole], stream)
os._exit(0)
"""


def test_the_recorder_of_this_pytorch_says_who_came_late(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(program), str(tmp_path)],
        env=clean_environment({"PYTHONPATH": str(ROOT), "TORCH_FR_BUFFER_SIZE": "100", "OMP_NUM_THREADS": "1"}),
        check=True,
        timeout=90,
    )
    names = ("group", "number", "operation", "elements", "begun", "at", "asked", "whole")
    stands = [Stand(**dict(zip(names, json.loads((tmp_path / f"{r}.json").read_text()), strict=True))) for r in (0, 1)]
    ((rank, said),) = flight.behind(stands, limit_s=3.0).items()
    assert rank == 1
    assert "asked for gloo:all_reduce 2" in said and "(1000 elements)" in said
