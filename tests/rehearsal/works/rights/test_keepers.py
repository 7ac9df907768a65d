"""Each keeper takes a turn before a server that writes down what it is asked: the table says the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from trainyard.components.k8s.keepers import budgets, flavors, idle, off_peak, sleep
from trainyard.rehearsal.works.rights.kubernetes.keepers import asked

NOW = 1_797_811_200.0  # 2026-12-21, noon in Abu Dhabi
OWNERS = tuple(idle.OWNERS)
_PATH = re.compile(
    r"/apis?/(?:(?P<group>[\w.-]+\.[\w.-]+|batch)/)?v\w+"
    r"(?:/namespaces/(?P<space>[\w-]+))?/(?P<plural>\w+)(?:/(?P<name>[\w-]+))?"
)


class Server:
    """Answers a list with a Workload of each kind of owner, and everything else with an empty object."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, str, str, str]] = set()

    def ask(self, path: str, body: Any = None, manager: str = "", *, merge: bool = False) -> dict[str, Any]:
        found = _PATH.match(path)
        assert found is not None, path
        thing = found["plural"] + (f".{found['group']}" if found["group"] else "")
        verb = ("patch" if manager or merge else "create") if body is not None else "get" if found["name"] else "list"
        self.asked.add((verb, thing, found["space"] or "", found["name"] or ""))
        if verb == "list" and found["plural"] == "workloads":
            return {"items": [workload(kind) for kind in OWNERS]}
        return {"metadata": {"name": "job"}, "spec": {}}


def workload(kind: str) -> dict[str, Any]:
    owner = {"kind": kind, "name": "job"}
    labels = {"kueue.x-k8s.io/priority-class": "development"}
    notes = {idle.EVICTED: "1"}
    return {
        "metadata": {
            "name": "of-job",
            "namespace": "team-a",
            "resourceVersion": "1",
            "ownerReferences": [owner],
            "labels": labels,
            "annotations": notes,
        },
        "spec": {"active": True, "priorityClassName": "development", "priorityClassRef": {"name": "development"}},
        "status": {},
    }


HOURS = {"from": "20:00", "to": "06:00", "time_zone": "Asia/Dubai"}
GANG = idle.Gang("team-a", "of-job", "Job", "job", 1, {"p": 1.0}, NOW - 9000, True, "", None, False, "1")
TURNS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "flavors": (
        flavors,
        {"flavors": {"spot": "group-"}, "spans": {}, "retry_seconds": 1800},
        {"decide": lambda *_: [flavors.Decision("spot", "no capacity")], "read_status": lambda _: None},
    ),
    "budgets": (
        budgets,
        {
            "prometheus": "http://p", "spent": "s", "drain_after_seconds": None,
            "teams": {"a": {"namespace": "team-a", "queues": ["default"], "budget_usd": 10}},
        },
        {
            "decide": lambda *_: [budgets.Decision("a", "default", budgets.HOLD, "spent", None)],
            "figures": lambda *_: [],
        },
    ),
    "off_peak": (
        off_peak,
        {**HOURS, "queues": [{"namespace": "team-a", "name": "off-peak"}]},
        {"decide": lambda *_: off_peak.Decision(True, "day")},
    ),
    "idle": (
        idle,
        {
            "prometheus": "http://p", "metric": "m", "busy_from": 0.02, "namespaces": ["team-a"],
            "resource": "gpu",
            "idle_seconds": 2700, "grace_seconds": 900, "sample_seconds": 30,
        },
        {"decide": lambda *_, **__: [idle.Decision(GANG, idle.EVICT, "idle")], "seen_by": lambda *_: {}},
    ),
    "sleep": (
        sleep,
        {**HOURS, "namespaces": ["team-a"], "priorities": ["development"]},
        {"decide": lambda *_: sleep.SLEEP, "priority_of": lambda _: "development", "is_finished": lambda _: False},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TURNS)
def test_the_table_says_what_a_keeper_asks_for(name, monkeypatch):
    module, configuration, patches = TURNS[name]
    server = Server()
    for where in {module, idle}:
        monkeypatch.setattr(where, "ask", server.ask)
    for attribute, value in patches.items():
        monkeypatch.setattr(module, attribute, value)
    more = (set(),) if name in ("budgets", "idle") else ()
    module.turn(configuration, NOW, *more)
    container = {"command": ["python", "-m", f"keepers.{name}"], "args": [json.dumps(configuration)]}
    table = set(asked(container))
    assert {one[:3] for one in server.asked} == {one[:3] for one in table}
    assert {one for one in table if one[3]} <= server.asked  # rights by name are for the names that are asked


def test_what_is_no_keeper_asks_for_nothing():
    assert list(asked({"command": ["python", "-m", "keepers.alert_log"], "args": ["8080"]})) == []
    assert list(asked({"command": ["python", "-m", "keepers.idle"], "args": ["no JSON"]})) == []
    assert list(asked({"command": ["python", "-m", "other.idle"], "args": ["{}"]})) == []
