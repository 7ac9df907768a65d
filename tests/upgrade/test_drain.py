"""A team or a pool is emptied before it goes, on a cluster that keeps objects as the API server does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.upgrade.standing import Standing, workload
from trainyard.plan.parts import NoSuchName
from trainyard.plan.resolve import resolve_stack
from trainyard.upgrade import queues as queues_module
from trainyard.upgrade.drain import EVICTED, TAINT, Leaving, leaving, left, release, shut
from trainyard.upgrade.queues import QueuesError

VISION, POOL = Leaving(("team-vision",), ()), Leaving((), ("train-spot", "train-reserved"))


def job(name: str, flavor: str = "", *, namespace: str = "team-vision", **more: Any) -> dict[str, Any]:
    """A workload; with a flavor it holds quota of it."""
    found = workload(f"{namespace}/default", *(["QuotaReserved"] if flavor else []), name=name)
    if flavor:
        found["status"]["admission"] = {"podSetAssignments": [{"flavors": {"nvidia.com/gpu": flavor}}]}
    found["spec"] |= more
    return found


class Cluster:
    """Queues and flavors with who set them, and workloads; a workload that is switched off gives its quota back."""

    def __init__(self, *workloads: dict[str, Any]) -> None:
        self.queues = {("team-vision", "default"): "", ("team-vision", "smoke"): "", ("team-language", "default"): ""}
        self.flavors = {name: ([], "") for name in ("train-spot", "train-reserved", "tune-spot")}
        self.workloads = {each["metadata"]["name"]: each for each in workloads}
        self.down = False

    def __call__(self, command: Sequence[str]) -> CompletedProcess[str]:
        if self.down:
            return CompletedProcess(command, 1, "", "Unable to connect to the server: i/o timeout")
        verb, what = command[0], command[1]
        if verb == "get":
            items: list[Any] = list(self.workloads.values())
            if what.startswith("localqueues"):
                items = [
                    {"metadata": {"namespace": space, "name": name}, "spec": {"stopPolicy": policy or "None"}}
                    for (space, name), policy in self.queues.items()
                ]
            return CompletedProcess(command, 0, json.dumps({"items": items}), "")
        if verb == "patch":
            return self._patched(command)
        given = json.loads(Path(command[command.index("--filename") + 1]).read_text())
        if given["kind"] == "LocalQueue":
            key = (given["metadata"]["namespace"], given["metadata"]["name"])
            self.queues[key] = given["spec"].get("stopPolicy", "")
            return CompletedProcess(command, 0, "", "")
        name, taints = given["metadata"]["name"], given["spec"].get("nodeTaints", [])
        had, manager = self.flavors[name]
        if manager not in ("", "drain") and taints:
            return CompletedProcess(command, 1, "", 'Apply failed with 1 conflict: conflict with "keeper"')
        if manager in ("", "drain"):
            self.flavors[name] = (taints, "drain" if taints else "")
        return CompletedProcess(command, 0, str(had), "")

    def _patched(self, command: Sequence[str]) -> CompletedProcess[str]:
        one = self.workloads[command[2]]
        change = json.loads(command[command.index("--patch") + 1])
        notes = one["metadata"].setdefault("annotations", {}) | change["metadata"]["annotations"]
        one["metadata"]["annotations"] = {key: value for key, value in notes.items() if value is not None}
        one["spec"]["active"] = change["spec"]["active"]
        if not one["spec"]["active"]:
            one["status"] = {"conditions": [{"type": "QuotaReserved", "status": "False"}]}
        return CompletedProcess(command, 0, "", "")


def test_a_teams_queues_are_held_and_nobody_elses(tmp_path: Path) -> None:
    cluster = Cluster(job("run", "train-spot"), job("theirs", "train-spot", namespace="team-language"), job("waits"))
    shut(cluster, VISION, tmp_path, evict=False)
    assert cluster.queues == {
        ("team-vision", "default"): "Hold", ("team-vision", "smoke"): "", ("team-language", "default"): "",
    }  # fmt: skip
    assert left(cluster, VISION, evict=False) == ["team-vision/run"]
    assert all(not taints for taints, _ in cluster.flavors.values())
    release(cluster, VISION, tmp_path)
    assert set(cluster.queues.values()) == {""}


def test_a_teams_jobs_save_and_end_where_that_is_asked_for(tmp_path: Path) -> None:
    cluster = Cluster(job("run", "train-spot"))
    shut(cluster, VISION, tmp_path, evict=True)
    assert cluster.queues["team-vision", "default"] == "HoldAndDrain"


def test_a_pool_is_passed_over_by_every_queue_and_its_jobs_go_on(tmp_path: Path) -> None:
    cluster = Cluster(job("run", "train-spot"), job("small", "tune-spot"))
    shut(cluster, POOL, tmp_path, evict=False)
    for name, (taints, _) in cluster.flavors.items():
        assert [each["key"] for each in taints] == ([TAINT] if name.startswith("train") else []), name
    assert set(cluster.queues.values()) == {""}, "the teams' other pools stay open"
    assert left(cluster, POOL, evict=False) == ["team-vision/run"]
    assert "active" not in cluster.workloads["run"]["spec"]
    release(cluster, POOL, tmp_path)
    assert all(taints == [] for taints, _ in cluster.flavors.values())


def test_a_job_that_is_sent_away_is_switched_on_again_as_soon_as_it_has_left(tmp_path: Path) -> None:
    cluster = Cluster(job("run", "train-spot"), job("small", "tune-spot"), job("paused", active=False))
    shut(cluster, POOL, tmp_path, evict=True)
    assert left(cluster, POOL, evict=True) == ["team-vision/run"]
    run = cluster.workloads["run"]
    assert run["spec"]["active"] is False and run["metadata"]["annotations"] == {EVICTED: "true"}
    assert left(cluster, POOL, evict=True) == []
    assert run["spec"]["active"] is True and run["metadata"]["annotations"] == {}
    assert cluster.workloads["paused"]["spec"]["active"] is False, "what somebody else switched off stays off"
    assert "active" not in cluster.workloads["small"]["spec"]


def test_one_that_a_killed_call_left_switched_off_is_found_by_the_next(tmp_path: Path) -> None:
    cluster = Cluster(job("run", "train-spot"))
    left(cluster, POOL, evict=True)
    release(cluster, POOL, tmp_path)
    assert cluster.workloads["run"]["spec"]["active"] is True


def test_taints_of_the_flavor_keeper_stay_and_it_is_said(tmp_path: Path) -> None:
    cluster = Cluster()
    cluster.flavors["train-spot"] = ([{"key": "ml.platform/out-of-queue"}], "keeper")
    with pytest.raises(QueuesError, match=r"flavor train-spot has taints of somebody else.*dryCapacityMinutes"):
        shut(cluster, POOL, tmp_path, evict=False)
    assert cluster.flavors["train-spot"][1] == "keeper"
    cluster.down = True
    with pytest.raises(QueuesError, match="i/o timeout"):
        shut(cluster, POOL, tmp_path, evict=False)


def test_names_are_those_of_the_stack() -> None:
    from tests.shared import ROOT

    (cluster,) = resolve_stack(ROOT, "demo").plan.clusters
    found = leaving(cluster, ["vision"], ["train"])
    assert found.namespaces == ("team-vision",)
    assert found.flavors and all(name.startswith("train-") for name in found.flavors)
    with pytest.raises(NoSuchName, match="visoin"):
        leaving(cluster, ["visoin"], [])
    with pytest.raises(NoSuchName, match="trian"):
        leaving(cluster, [], ["trian"])


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Standing:
    monkeypatch.setattr(queues_module, "LOOK_AGAIN_SECONDS", 0.01)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return Standing(tmp_path, "1.34", "1.34.9-20260625")


def test_the_command_waits_holds_and_says_what_comes_next(stack: Standing) -> None:
    run = workload("team-vision/default", "QuotaReserved", "Admitted")
    stack.cluster(workloads=[[run], [run], []])
    done = stack.verb("drain", "--team", "vision")
    assert done.exit_code == 0, done.output
    assert "waiting for 1 job to end: team-vision/run" in done.output
    assert "team vision: nothing runs there any more. Take it out of Pulumi.demo.yaml" in done.output
    assert stack.queues["team-vision/default"] == "Hold" and stack.queues["team-language/default"] == "None"
    again = stack.verb("drain", "--team", "vision", "--release")
    assert again.exit_code == 0, again.output
    assert set(stack.queues.values()) == {"None"}


def test_the_command_stops_where_jobs_do_not_end_and_refuses_what_is_not_there(stack: Standing) -> None:
    run = workload("team-vision/default", "QuotaReserved", "Admitted")
    stack.cluster(workloads=[[run]] * 3)
    done = stack.verb("drain", "--team", "vision", "--wait-minutes", "0")
    assert done.exit_code == 3
    assert "after 0 minutes there still run team-vision/run" in done.output
    assert stack.queues["team-vision/default"] == "Hold", "the same command goes on"
    for arguments, text in (((), "--team TEAM, --pool POOL"), (("--pool", "trian"), "there is")):
        refused = stack.verb("drain", *arguments)
        assert refused.exit_code == 2 and text in refused.output, refused.output
