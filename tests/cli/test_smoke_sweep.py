"""A sweep as the command line has it, with made-up jobs in the place of the cluster's."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from tests.plan.stack_files import plan_of
from tests.smoke_jobs.launch.support import RecordedView
from trainyard.cli import smoke_fit, smoke_spec, smoke_sweep, smoke_targets
from trainyard.cli.smoke_options import JobOptions, Level, Target, TargetOptions, Transport
from trainyard.smoke_jobs.ddp.options import LEVELS, TIMEOUT_S, Options
from trainyard.smoke_jobs.ddp.result import empty_document, passed
from trainyard.smoke_jobs.launch import slurm
from trainyard.smoke_jobs.launch.follow import Ended
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec
from trainyard.smoke_jobs.launch.pod import pool_affinity

SPEC = SmokeSpec(pool="train", nodes=2)
NODES = [f"ip-10-0-0-{number}" for number in range(4)]


def ended(good: bool, tflops: float = 700.0, gb_s: float = 400.0, level: str = "standard") -> Ended:
    """A job as the worker leaves it at a level: at quick there is no burn-in, and so no figure of it."""
    found = empty_document(Options(), 0.0) | {"verdict": "pass", "exit_code": 0}
    found["checks"] = [passed("fine").entry(name, 1.0) for name in LEVELS[level]]
    found["curves"] = {"bandwidth": [
        {"collective": name, "bytes": size, "busbw_gb_s": rate, "algbw_gb_s": rate, "seconds_median": 1.0,
         "seconds_p95": 1.0, "iterations": 3}
        for name in ("all_reduce", "all_gather")
        for size, rate in ((2**20, 0.1 * gb_s), (2**31, gb_s))
    ], "scaling": []}  # fmt: skip
    if "compute" in LEVELS[level]:
        found["figures"] = [
            {"name": "compute of the slowest device", "value": tflops, "unit": "TFLOPS", "better": "higher"}
        ]
    if not good:
        found |= {"verdict": "fail", "exit_code": 10}
        found["checks"][2] |= {"verdict": "fail", "reason": "a product gave two answers"}
    return Ended(found["exit_code"], found)


def test_what_is_compared_at_the_level_that_a_sweep_has():
    read = smoke_sweep.read((NODES[0],), ended(True)).figures
    assert read == {"compute of the slowest device": 700.0, "busbw all_reduce 2 GiB": 400.0}
    assert smoke_sweep.read((NODES[0],), ended(True, level="quick")).figures == {"busbw all_reduce 2 GiB": 400.0}


def test_a_slow_link_that_passes_its_gate_is_named_by_the_largest_all_reduce():
    slow = {(NODES[1], NODES[2])}
    text, told, code = smoke_sweep.told(
        smoke_sweep.sweep(
            SPEC, NODES, lambda spec, _: ended(True, gb_s=300.0 if spec.hosts in slow else 400.0), RecordedView()
        )
    )
    assert code == 10 and not told["bad_nodes"]
    assert f"bad link {NODES[1]} - {NODES[2]}: busbw all_reduce 2 GiB is 300, the median of the pool is 400" in text


def test_a_sweep_is_of_level_standard_where_nothing_else_is_said():
    quick = JobOptions(level=Level.quick)
    assert smoke_spec.of_command_line(Target.slurm, JobOptions(), sweep=True).level == "standard"
    assert smoke_spec.of_command_line(Target.slurm, JobOptions()).level == "quick"
    assert smoke_spec.of_command_line(Target.slurm, quick, sweep=True).level == "quick", "asked for"
    plan = plan_of()
    swept = smoke_spec.of_stack(plan, Target.kubernetes, JobOptions(), sweep=True)
    assert (plan.clusters[0].smoke.level, swept.level, swept.timeout_s) == ("quick", "standard", TIMEOUT_S["standard"])
    assert smoke_spec.of_stack(plan, Target.kubernetes, quick, sweep=True).level == "quick"
    assert smoke_spec.of_stack(plan, Target.kubernetes, JobOptions()).level == "quick"


SINFO = """n1 idle
n2 mixed
n2 mixed
n3 down*
n4 drained
n5 idle~
n6 allocated
"""


def test_slurm_sweeps_the_nodes_that_take_jobs(tmp_path, monkeypatch):
    (tmp_path / "sinfo").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat <<E\n{SINFO}E\n')
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    ran: list[SmokeSpec] = []

    def launched(spec: SmokeSpec, *_: object) -> smoke_targets.Launcher:
        return smoke_targets.Launcher(str, lambda _: ran.append(spec) or ended(True))

    monkeypatch.setattr(smoke_targets, "launcher", launched)
    spec = smoke_spec.of_command_line(Target.slurm, JobOptions(transport=Transport.ib), sweep=True)
    text, _, code = smoke_targets.sweep(replace(spec, queue="gpu"), Target.slurm, TargetOptions(), RecordedView())
    assert code == 0 and "3 nodes passed, alone and with their peers; compared by busbw all_reduce 2 GiB" in text
    assert "--partition=gpu" in (tmp_path / "asked").read_text()
    assert {job.hosts for job in ran if job.nodes == 1} == {("n1",), ("n2",), ("n6",)}
    pair = next(job for job in ran if job.nodes == 2)
    assert f"#SBATCH --nodelist={','.join(pair.hosts)}" in slurm.render(pair)
    assert "nodelist" not in slurm.render(spec)


def test_a_bad_node_is_named_and_the_others_go_on_without_it():
    ran, at_once, lock = [], threading.Barrier(4, timeout=20), threading.Lock()

    def run(spec, view):
        if spec.nodes == 1:
            at_once.wait()  # all four jobs of the first round have to be there together
        view.status("running")
        with lock:
            ran.append(spec.hosts)
        return ended(spec.hosts != (NODES[2],))

    results = smoke_sweep.sweep(SPEC, NODES, run, RecordedView())
    text, told, code = smoke_sweep.told(results)
    assert sorted(ran[:4]) == [(name,) for name in NODES]
    assert all(NODES[2] not in hosts for hosts in ran[4:]) and len(ran) == 7
    assert code == 10 and f"bad node {NODES[2]}: " in text and "a product gave two answers" in text
    assert set(told["bad_nodes"]) == {NODES[2]} and not told["bad_links"]


def test_a_bad_link_and_a_node_without_a_verdict():
    def run(spec, _view):
        if spec.hosts == (NODES[3],):
            raise LaunchError("no nodes in time")
        return ended(spec.hosts != (NODES[0], NODES[1]))

    text, told, code = smoke_sweep.told(smoke_sweep.sweep(SPEC, NODES, run, RecordedView()))
    assert code == 10 and f"bad link {NODES[0]} - {NODES[1]}: " in text and f"no verdict on {NODES[3]}" in text
    assert told["bad_nodes"] == {}


def test_all_well_passes_and_a_pool_without_nodes_is_said():
    text, _, code = smoke_sweep.told(smoke_sweep.sweep(SPEC, NODES, lambda *_: ended(True), RecordedView()))
    assert code == 0 and "4 nodes passed, alone and with their peers" in text
    with pytest.raises(LaunchError, match="pool train has no nodes now"):
        smoke_sweep.sweep(SPEC, [], lambda *_: ended(True), RecordedView())


def test_a_job_of_the_sweep_runs_on_its_nodes_alone():
    (term,) = pool_affinity(replace(SPEC, hosts=("a", "b")))["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert {"key": "kubernetes.io/hostname", "operator": "In", "values": ["a", "b"]} in term["matchExpressions"]
    assert "hostname" not in str(pool_affinity(SPEC))


def test_options_of_one_job_are_refused():
    with pytest.raises(LaunchError, match="--html is of one job, and --sweep runs many"):
        smoke_fit.check_options({"sweep": "--sweep", "html_file": "--html", "stack": "stack"}, Target.kubernetes)
    with pytest.raises(LaunchError, match="--sweep is for --target kubernetes or slurm, not local"):
        smoke_fit.check_options({"sweep": "--sweep", "stack": "stack"}, Target.local)


def test_ctrl_c_cancels_every_job_of_a_sweep():
    """It reaches the main thread alone, and the others follow their jobs to the end."""
    followed, cancelled = threading.Barrier(len(NODES)), []

    def run(spec, view):
        if followed.wait(timeout=60) == 0:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                view.still_wanted()
                time.sleep(0.01)
        except KeyboardInterrupt:
            cancelled.append(spec.hosts[0])
            raise
        return ended(True)

    view = RecordedView()
    with pytest.raises(KeyboardInterrupt):
        smoke_sweep.sweep(SPEC, NODES, run, view)
    assert sorted(cancelled) == NODES and view.statuses[-1] == "stopping: every job is cancelled"
