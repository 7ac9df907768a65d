"""Parts of the wrapper that a real process meets by chance only."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.entrypoint import _Run, _Stopped
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.topology import Topology

SLOW = result.Outcome("below", "accelerator utilisation 0.5")


def a_run(tmp_path: Path) -> _Run:
    options = Options(result_dir=str(tmp_path), rendezvous_timeout_s=30.0, port=29990)
    return _Run(options, Topology(nodes=2, node_rank=1, head="localhost", hosts=()))


def test_a_signal_just_before_the_roll_call_is_not_forgotten(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    run._on_signal(signal.SIGTERM, None)
    before = time.monotonic()
    assert run._roll_call() == ""
    assert time.monotonic() - before < run.options.rendezvous_timeout_s, "not at the rendezvous timeout"
    assert run.preempted and not run.calling


def test_what_a_check_found_out_itself_outlives_the_stop(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    document = result.empty_document(run.options, time.time())
    wrong = result.failed("rank 0 on a has a NVIDIA H200, the plan says H100")
    gone = result.failed("rank 0 on a: RuntimeError: Connection reset by peer")
    raised = result.failed("rank 0 on a: OSError: no route to host", details={"traceback": "..."})
    document["checks"] = [
        outcome.entry(name, 1.0)
        for name, outcome in (("devices", wrong), ("collectives", gone), ("gradients", raised), ("data", SLOW))
    ]
    result.write_json(tmp_path / "progress.json", document)
    run.again = "the job was told to stop (SIGTERM)"
    document = run._incomplete("", "preempted")
    assert (document["verdict"], document["exit_code"]) == ("preempted", 75)
    said = {check["name"]: check["reason"] for check in document["checks"]}
    assert said.pop("devices") == wrong.reason
    assert all("told to stop (SIGTERM) before this check was done" in said[name] for name in ("gradients", "data"))
    assert "before this check was done" in said["collectives"]


def test_only_the_first_signal_interrupts_the_roll_call(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    run.calling = True
    with pytest.raises(_Stopped):
        run._on_signal(signal.SIGTERM, None)
    run._on_signal(signal.SIGTERM, None)
    assert run.preempted
