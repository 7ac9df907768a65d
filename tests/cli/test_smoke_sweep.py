"""A sweep as the command line has it, with made-up jobs in the place of the cluster's."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.smoke_jobs.launch.support import RecordedView
from trainyard.cli import smoke_fit, smoke_sweep
from trainyard.cli.smoke_options import Target
from trainyard.smoke_jobs.ddp.options import LEVELS, Options
from trainyard.smoke_jobs.ddp.result import empty_document, passed
from trainyard.smoke_jobs.launch.follow import Ended
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec
from trainyard.smoke_jobs.launch.pod import pool_affinity

SPEC = SmokeSpec(pool="train", nodes=2)
NODES = [f"ip-10-0-0-{number}" for number in range(4)]


def ended(good: bool, tflops: float = 700.0) -> Ended:
    found = empty_document(Options(), 0.0) | {"verdict": "pass", "exit_code": 0}
    found["checks"] = [passed("fine").entry(name, 1.0) for name in LEVELS["quick"]]
    found["figures"] = [
        {"name": "compute of the slowest device", "value": tflops, "unit": "TFLOPS", "better": "higher"}
    ]
    if not good:
        found |= {"verdict": "fail", "exit_code": 10}
        found["checks"][2] |= {"verdict": "fail", "reason": "a product gave two answers"}
    return Ended(found["exit_code"], found)


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
    with pytest.raises(LaunchError, match="--sweep is for --target kubernetes, not local"):
        smoke_fit.check_options({"sweep": "--sweep", "stack": "stack"}, Target.local)
