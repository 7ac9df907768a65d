"""The local target with the real worker, torchrun and gloo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.launch.support import QUICK, RecordedView
from trainyard.smoke_jobs.ddp.result import problems
from trainyard.smoke_jobs.launch import local
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec


@pytest.fixture
def forked_ranks(monkeypatch):
    """The ranks are forks of their agent: the first test here has them as a user has."""
    monkeypatch.setenv("PYTHONPATH", str(WITHOUT_COMPILER))


def test_a_run_with_its_progress_and_result(tmp_path, monkeypatch):
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    view = RecordedView()
    ended = local.run(SmokeSpec(processes_per_node=2, options=QUICK), view, tmp_path)
    assert ended.exit_code == 0
    assert ended.document is not None
    assert problems(ended.document) == []
    assert ended.document["topology"]["world_size"] == 2
    assert [done.name for done in view.done[:2]] == ["rendezvous", "devices"]
    assert "check 2 of 10: devices" in view.statuses
    assert (tmp_path / "result.json").exists()
    left = [path.name for path in temporary.iterdir() if not path.name.startswith("torchinductor_")]  # its cache
    assert left == []


def test_a_broken_check_keeps_its_exit_code(forked_ranks):
    spec = SmokeSpec(processes_per_node=2, options={**QUICK, "breaks": ["devices"]})
    ended = local.run(spec, RecordedView())
    assert ended.exit_code == 10
    assert ended.document is not None
    assert {check["name"]: check["verdict"] for check in ended.document["checks"]}["devices"] == "fail"


def test_what_was_not_written_is_said_and_wrong_options_need_no_more_words(tmp_path):
    missing = tmp_path / "result.json"
    assert "left no result" in local._without(missing, 1, None)
    assert local._without(missing, 0, {"verdict": "pass"}).startswith(f"{missing} was not written: what is shown is")
    assert local._without(missing, 2, {"verdict": "usage"}) == "", "its table says what is wrong"


def test_out_of_time_is_124(forked_ranks):
    spec = SmokeSpec(processes_per_node=2, timeout_s=4, options={"checks": ["interruption"]})
    ended = local.run(spec, RecordedView())
    assert ended.exit_code == 124


def test_sigterm_stops_the_worker_and_says_preempted(forked_ranks):
    view = RecordedView()

    def stop() -> None:
        deadline = time.monotonic() + 300
        while not view.done and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop, daemon=True).start()
    before = signal.getsignal(signal.SIGTERM)
    spec = SmokeSpec(processes_per_node=2, options={"checks": ["rendezvous", "interruption"]})
    ended = local.run(spec, view)
    assert ended.exit_code == 75
    assert "asked to stop; once more kills it" in view.statuses
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_worker_that_breaks_at_once_leaves_its_words(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    ended = local.run(SmokeSpec(processes_per_node=1, options=QUICK), RecordedView())
    assert ended.exit_code == 1
    assert "no torch here" in "\n".join(ended.log)


def test_the_rendering_is_a_command_that_runs():
    spec = SmokeSpec(processes_per_node=1, options={"checks": ["rendezvous"]})
    command = local.render(spec)
    assert sys.executable in command
    answer = subprocess.run(["bash", "-n"], input=command, text=True, check=False)
    assert answer.returncode == 0


def test_variables_reach_the_processes(tmp_path):
    wanted = (("NCCL_DEBUG", "a 'quoted' value"), ("SMOKE_OPTIONS", "{}"))
    spec = SmokeSpec(processes_per_node=1, environment=wanted, options={"checks": ["rendezvous"]})
    assert "SMOKE_OPTIONS='{\"" in local.render(spec), "the worker's own are not overwritten"
    shown = local.render(spec).rpartition(sys.executable)[0] + "printenv NCCL_DEBUG"
    answer = subprocess.run(["bash"], input=shown, text=True, capture_output=True, check=True)
    assert answer.stdout == "a 'quoted' value\n"


def test_several_nodes_are_refused():
    with pytest.raises(LaunchError, match="use --nproc"):
        local.render(SmokeSpec(nodes=2))
