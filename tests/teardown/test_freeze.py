"""Queues are held and drained before anything is deleted, and people's pods end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.teardown.states import exported
from trainyard.teardown.freeze import FreezeError, Running, admitted, freeze, running_in
from trainyard.teardown.state import State

RUNNING = Running(("research", "vision"), ("team-research",))


def workload(name: str, queue: str = "research", *conditions: str, false: str = "") -> dict[str, Any]:
    told = [{"type": each, "status": "True"} for each in conditions] + [{"type": false, "status": "False"}]
    return {
        "metadata": {"namespace": "team-research", "name": name},
        "status": {"admission": {"clusterQueue": queue}, "conditions": told},
    }


class Kubectl:
    """Answers `get workloads` in turn, everything else well; or as if the server were away."""

    def __init__(self, *workloads: list[Any], error: str = "") -> None:
        self.workloads, self.error = list(workloads), error
        self.asked: list[list[str]] = []

    def __call__(self, command: Sequence[str]) -> CompletedProcess[str]:
        self.asked.append(list(command))
        if self.error:
            return CompletedProcess(command, 1, "", self.error)
        if command[0] != "get":
            return CompletedProcess(command, 0, "", "")
        items = self.workloads.pop(0) if len(self.workloads) > 1 else self.workloads[0]
        return CompletedProcess(command, 0, json.dumps({"items": items}), "")


def test_the_queues_of_a_state_are_held_in_the_namespaces_of_teams(rehearsed) -> None:
    found = running_in(State(exported(rehearsed("demo"))))
    assert len(found.queues) == len(found.namespaces) == 3
    assert all(name.startswith("team-") or name in found.queues for name in found.namespaces)


def test_it_holds_waits_and_stops_in_this_order() -> None:
    kubectl = Kubectl([workload("a", "research", "QuotaReserved")], [])
    slept: list[float] = []
    freeze(RUNNING, kubectl, lambda text: None, minutes=1, sleep=slept.append)
    verbs = [each[0] for each in kubectl.asked]
    assert verbs == ["patch", "patch", "get", "get", "scale", "delete"]
    assert json.loads(kubectl.asked[0][-1]) == {"spec": {"stopPolicy": "HoldAndDrain"}}
    assert slept == [5.0]
    assert kubectl.asked[-1][-2:] == ["--namespace", "team-research"]


def test_jobs_that_do_not_end_stop_it_before_anything_is_deleted() -> None:
    kubectl = Kubectl([workload("stuck", "vision", "QuotaReserved", "Admitted")])
    with pytest.raises(FreezeError, match=r"team-research/stuck.*--drain-minutes"):
        freeze(RUNNING, kubectl, lambda text: None, minutes=0.5, sleep=lambda seconds: None)
    assert not any(each[0] in ("scale", "delete") for each in kubectl.asked)


def test_a_cluster_that_is_not_reached_stops_it() -> None:
    with pytest.raises(FreezeError, match="networks of apiAccess"):
        freeze(RUNNING, Kubectl([], error="dial tcp: i/o timeout"), lambda text: None, minutes=1)


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (workload("a", "research", "QuotaReserved"), True),
        (workload("a", "research", "QuotaReserved", "Finished"), False),
        (workload("a", "research", false="QuotaReserved"), False),
        (workload("a", "somebody-elses", "QuotaReserved"), False),
        ({"metadata": {"namespace": "n", "name": "waits"}}, False),
    ],
)
def test_what_holds_quota_of_our_queues_still_runs(found: dict[str, Any], counts: bool) -> None:
    assert bool(admitted([found], RUNNING.queues)) is counts
