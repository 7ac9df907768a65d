"""`trainyard upgrade --from`: nodes of pools become others, and nobody's job ends by it."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.review.change.state import exported
from tests.upgrade.standing import QUEUES, Standing, workload
from trainyard.upgrade import queues as queues_module
from trainyard.upgrade import run as run_module
from trainyard.upgrade.drain import EVICTED

OPEN = dict.fromkeys(QUEUES, "None")
HELD = {name: "None" if name.endswith("smoke") else "Hold" for name in QUEUES}


@pytest.fixture
def stack(tmp_path: Path, there: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Standing:
    monkeypatch.setattr(queues_module, "LOOK_AGAIN_SECONDS", 0.01)
    found = Standing(tmp_path, "1.35", "1.35.6-20260714")
    shutil.copy(there["deployed"], tmp_path / "state-demo.json")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return found


@pytest.fixture(scope="module")
def there(rehearsed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What stands, in files that `--from` takes: as it is, with other machines in a pool, with another image."""
    whole = rehearsed("demo").as_json()
    folder = tmp_path_factory.mktemp("there")
    found = {}
    for name, key, value in (
        ("same", "", None),
        ("machine", "instanceTypes", ["g6.xlarge"]),
        ("image", "releaseVersion", "1.35.6-20260601"),
        ("size", "scalingConfig", {"desiredSize": 0, "maxSize": 3, "minSize": 0}),
    ):
        resources = [
            {**each, "inputs": {**each["inputs"], key: value}}
            if key and each["name"] == "gpu-nodes-dev-on-demand" and "NodeGroup" in each["type"]
            else each
            for each in whole["resources"]
        ]
        found[name] = folder / f"{name}.json"
        found[name].write_text(json.dumps({**whole, "resources": resources}))
    state = exported(rehearsed("demo"))
    for name, pools in (("deployed", ("dev-on-demand",)), ("elsewhere", ("dev-on-demand", "train-spot"))):
        then = copy.deepcopy(state)
        for each in then["deployment"]["resources"]:
            if "NodeGroup" in each["type"] and any(pool in each["urn"] for pool in pools):
                each["inputs"]["instanceTypes"] = ["g6.xlarge"]
        found[name] = folder / f"{name}.json"
        found[name].write_text(json.dumps(then))
    return found


def on_flavor(name: str, flavor: str, *, queue: str = "team-vision/default") -> dict[str, Any]:
    found = workload(queue, "QuotaReserved", "Admitted", name=name)
    found["status"]["admission"] = {"podSetAssignments": [{"flavors": {"nvidia.com/gpu": flavor}}]}
    return found


@pytest.mark.parametrize(("what", "told"), [("machine", "would be replaced"), ("image", "every node is drained")])
def test_whose_jobs_are_in_the_way_is_told_and_nothing_is_touched(stack, there, what, told):
    done = stack.run("--from", str(there[what]))
    assert done.exit_code == 0, done.output
    assert f"pool dev (on-demand): {told}" in done.output
    assert (
        "those of team-language/default, team-tabular/default, team-vision/default (flavor dev-on-demand)"
        in done.output
    )
    assert "2. wait until no job runs on dev-on-demand; jobs on other nodes go on" in done.output
    assert (stack.calls, stack.queues) == ([], OPEN)


@pytest.mark.parametrize("what", ["same", "size"])
def test_a_change_that_takes_no_node_needs_no_held_queue(stack, there, what):
    done = stack.run("--from", str(there[what]), "--run")
    assert done.exit_code == 0, done.output
    assert "nobody's job is in the way" in done.output
    assert "nothing was held and nothing done" in done.output
    assert (stack.calls, stack.queues) == ([], OPEN)


def test_only_jobs_on_those_nodes_are_waited_for(stack, there):
    on_it, elsewhere = on_flavor("tune", "dev-on-demand"), on_flavor("pretrain", "train-reserved")
    stack.cluster(workloads=[[on_it, elsewhere], [elsewhere], [elsewhere]])
    done = stack.run("--from", str(there["machine"]), "--run")
    assert done.exit_code == 0, done.output
    assert "waiting for 1 job to end: team-vision/tune" in done.output
    assert stack.calls == ["stack-export", "stack-output", "up"]
    assert stack.queues == OPEN
    assert sum('"stopPolicy": "Hold"' in line for line in stack.applied) == 2, "those of smoke jobs never"
    assert "no upgrade of demo is under way" in stack.run("--release").output


def test_jobs_that_are_sent_away_are_those_of_the_pool_and_start_again(stack, there):
    on_it, elsewhere = on_flavor("tune", "dev-on-demand"), on_flavor("pretrain", "train-reserved")
    gone = workload("team-vision/default", name="tune")
    gone["metadata"]["annotations"] = {EVICTED: "true"}
    stack.cluster(workloads=[[on_it, elsewhere], [elsewhere], [gone, elsewhere]])
    done = stack.run("--from", str(there["machine"]), "--run", "--evict")
    assert done.exit_code == 0, done.output
    switched = [(each["name"], each["patch"]["spec"]["active"]) for each in stack.patched]
    assert switched == [("tune", False), ("tune", True)], "jobs on other nodes go on"
    assert not any("HoldAndDrain" in line for line in stack.applied)


def test_jobs_that_stay_stop_it_and_the_same_command_goes_on(stack, there):
    job = on_flavor("tune", "dev-on-demand")
    stack.cluster(workloads=[[job]] * 4)
    done = stack.run("--from", str(there["machine"]), "--run", "--wait-minutes", "0")
    assert done.exit_code == 3
    assert "there still run team-vision/tune" in done.output
    assert stack.queues == HELD
    assert "up" not in stack.calls
    other = stack.run("--from", str(there["machine"]))
    assert (other.exit_code, "an upgrade is under way" in other.output) == (2, True)
    stack.cluster(workloads=[[]])
    done = stack.run("--run")
    assert done.exit_code == 0, done.output
    assert (stack.calls.count("up"), stack.queues) == (1, OPEN)


def test_an_up_that_fails_leaves_the_queues_held_until_they_are_let_go(stack, there):
    stack.failing("up")
    done = stack.run("--from", str(there["machine"]), "--run")
    assert done.exit_code == 3
    assert "the queues stay held" in done.output
    assert stack.queues == HELD
    assert stack.run("--release").exit_code == 0
    assert stack.queues == OPEN


@pytest.mark.parametrize("way", ["--run", "--release"])
def test_a_queue_that_the_change_took_away_is_not_made_again(stack, there, way):
    stack.failing("up")
    assert stack.run("--from", str(there["machine"]), "--run").exit_code == 3
    cluster = json.loads((stack.folder / "cluster.json").read_text())
    left = {name: queue for name, queue in cluster["queues"].items() if not name.startswith("team-language/")}
    stack.cluster(queues=left)
    stack.failing("up", fails=False)
    done = stack.run(way)
    assert done.exit_code == 0, done.output
    assert stack.queues == dict.fromkeys(left, "None")


def test_a_version_and_a_change_are_not_brought_at_once(stack, there):
    done = stack.run("--from", str(there["machine"]), "--kubernetes", "1.36")
    assert (done.exit_code, "one of them at a time" in done.output) == (2, True)


def test_json_has_the_change_the_pools_and_the_steps(stack, there):
    told = json.loads(stack.run("--from", str(there["image"]), "--json", "-").stdout)
    (moved,) = told["moved"]
    assert (moved["pool"], moved["flavors"]) == ("pool dev (on-demand)", ["dev-on-demand"])
    assert [step["kind"] for step in told["steps"]] == ["hold", "wait", "up", "release"]
    assert told["change"]["counts"]["changed"] >= 1


@pytest.mark.parametrize("suffix", ["yaml", "lock.yaml"])
def test_a_stack_file_that_was_edited_on_the_way_is_not_brought(stack, there, suffix):
    stack.failing("up")
    assert stack.run("--from", str(there["machine"]), "--run").exit_code == 3
    stack.failing("up", fails=False)
    file = stack.project / "stacks" / f"Pulumi.demo.{suffix}"
    was = file.read_text()
    file.write_text(f"{was}# another pool\n")
    done = stack.run("--run")
    assert (done.exit_code, "or let the queues go with --release" in done.output) == (3, True), done.output
    assert (stack.calls.count("up"), stack.queues) == (1, HELD)
    file.write_text(was)
    assert stack.run("--run").exit_code == 0
    assert (stack.calls.count("up"), stack.queues) == (2, OPEN)


def test_a_stack_file_that_is_edited_while_jobs_are_waited_for_is_not_brought(stack, there, monkeypatch):
    file = stack.project / "stacks" / "Pulumi.demo.yaml"
    monkeypatch.setattr(run_module, "wait_until_none", lambda *_, **__: file.write_text(f"{file.read_text()}# more\n"))
    done = stack.run("--from", str(there["machine"]), "--run")
    assert (done.exit_code, "nobody waits for the jobs" in done.output) == (3, True), done.output
    assert "up" not in stack.calls
    assert stack.run("--release").exit_code == 0
    assert stack.queues == OPEN


def test_what_is_deployed_is_asked_before_anything_is_held(stack, there):
    shutil.copy(there["elsewhere"], stack.folder / "state-demo.json")
    done = stack.run("--from", str(there["machine"]), "--run")
    assert done.exit_code == 3, done.output
    assert f"what is deployed is not {there['machine']}" in done.output
    assert "pool train (spot): would be replaced" in done.output
    assert "pool dev" not in done.output.partition("what is deployed is not")[2]
    assert (stack.calls, stack.queues) == (["stack-export"], OPEN)
    assert "no upgrade of demo is under way" in stack.run("--release").output
    (stack.folder / "state-demo.json").unlink()
    done = stack.run("--from", str(there["machine"]), "--run")
    assert (done.exit_code, "could not be asked, and nothing was held" in done.output) == (3, True)


def test_json_says_how_far_a_change_that_goes_on_came(stack, there):
    stack.failing("up")
    file = stack.folder / "told.json"
    assert stack.run("--from", str(there["machine"]), "--run", "--json", str(file)).exit_code == 3
    first = json.loads(file.read_text())
    assert [step["state"] for step in first["steps"]] == ["done", "done", "running", "waiting"]
    stack.failing("up", fails=False)
    assert stack.run("--run", "--json", str(file)).exit_code == 0
    assert {step["state"] for step in json.loads(file.read_text())["steps"]} == {"done"}


@pytest.mark.parametrize("under_way", [False, True])
def test_changes_beside_a_version_are_no_option_of_a_change(stack, there, under_way):
    if under_way:
        stack.failing("up")
        stack.run("--from", str(there["machine"]), "--run")
    done = stack.run("--with-changes", *(["--run"] if under_way else ["--from", str(there["machine"])]))
    assert (done.exit_code, "--with-changes is of an upgrade" in done.output) == (2, True), done.output
