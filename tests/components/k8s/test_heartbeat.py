"""A keeper that runs but cannot act is not ready, and one that acts is: played with a server that refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.components.k8s.api_server import ApiServer
from tests.components.k8s.test_budget_keeper import CONFIGURATION, IMAGE, NOW, POLICY, VISION
from tests.components.k8s.test_kueue import run as kueue
from tests.shared import ROOT
from trainyard.components.k8s.keepers import budgets, cluster_api, flavors, heartbeat, idle, sources
from trainyard.components.k8s.keepers.budgets import OPEN
from trainyard.conventions.monitoring import KEEPERS
from trainyard.rehearsal.rehearse import rehearse

STATUS = """time: 2026-12-20 11:59:55.5 +0000 UTC
clusterWide: {}
nodeGroups:
- name: train-spot
  scaleUp:
    status: NoActivity
"""
IDLE = {
    "prometheus": "http://prometheus:9090",
    "metric": "busy",
    "busy_from": 0.02,
    "namespaces": ["team-vision"],
    "resource": "nvidia.com/gpu",
    "idle_seconds": 2700,
    "grace_seconds": 900,
    "sample_seconds": 30,
}


class Ended(BaseException):
    """Ends a keeper's loop."""


class Played:
    """The clock, the server and the figures of a keeper, minute by minute."""

    def __init__(self, monkeypatch: Any, tmp_path: Path, program: Any) -> None:
        self.server = ApiServer(VISION, defaults={POLICY: OPEN})
        self.now, self.figures_come, self.ready, self.program = NOW, True, list[bool](), program
        self.course: dict[int, Any] = {}
        monkeypatch.setattr(heartbeat, "LAST", tmp_path / "last")
        monkeypatch.setattr(cluster_api, "beat", self.beat)
        monkeypatch.setattr(cluster_api.time, "time", lambda: self.now)
        monkeypatch.setattr(cluster_api.time, "sleep", self.sleep)
        monkeypatch.setattr(program, "ask", self.ask)
        if hasattr(program, "figures"):
            monkeypatch.setattr(program, "figures", self.figures)

    def beat(self) -> None:
        heartbeat.beat()
        os.utime(heartbeat.LAST, (self.now, self.now))

    def ask(self, path: str, *more: Any, **others: Any) -> dict[str, Any]:
        if self.server.refuses is None and path not in self.server.objects:
            return {"items": []} if "configmaps" not in path else {"data": {"status": STATUS}}
        return self.server.ask(path, *more, **others)

    def figures(self, *_: Any) -> Any:
        if not self.figures_come:
            raise ConnectionRefusedError("no Prometheus")
        return []

    def sleep(self, seconds: float) -> None:
        self.ready.append(heartbeat.is_recent(self.now))
        self.now += seconds
        minute = (self.now - NOW) / 60
        if minute in self.course:
            self.course[int(minute)]()
        if minute >= 40:
            raise Ended

    def play(self, configuration: Any, **course: Any) -> list[bool]:
        """Readiness at each minute; `course` says what happens in which: m10=..."""
        self.course = {int(name[1:]): what for name, what in course.items()}
        with pytest.raises(Ended):
            self.program.main([json.dumps(configuration)])
        each = len(self.ready) // 40
        return self.ready[::each]


def refusing(played: Played, code: int | None) -> Any:
    return lambda: setattr(played.server, "refuses", code)


PROGRAMS = [
    (budgets, CONFIGURATION),
    (flavors, {"flavors": {}, "spans": {}, "retry_seconds": 1800}),
    (idle, IDLE),
]


@pytest.mark.parametrize(("program", "configuration"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("code", [401, 403, 500])
def test_a_server_that_refuses_is_seen_and_its_return_too(
    program: Any, configuration: Any, code: int, monkeypatch: Any, tmp_path: Path
) -> None:
    played = Played(monkeypatch, tmp_path, program)
    ready = played.play(configuration, m10=refusing(played, code), m30=refusing(played, None))
    assert all(ready[:14]), "a few rounds that fail are nobody's business"
    assert not any(ready[16:30]), "it runs, and nothing that it asks is answered"
    assert all(ready[31:])


@pytest.mark.parametrize(("program", "configuration"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_healthy_one_is_ready_throughout(program: Any, configuration: Any, monkeypatch: Any, tmp_path: Path) -> None:
    assert all(Played(monkeypatch, tmp_path, program).play(configuration))


@pytest.mark.parametrize(("program", "configuration"), [PROGRAMS[0], PROGRAMS[2]])
def test_without_prometheus_it_is_not_ready(program: Any, configuration: Any, monkeypatch: Any, tmp_path: Path) -> None:
    played = Played(monkeypatch, tmp_path, program)
    ready = played.play(configuration, m10=lambda: setattr(played, "figures_come", False))
    assert all(ready[:14])
    assert not any(ready[16:])
    assert played.server.applies == 0, "and changes nothing"


def test_one_that_never_could_is_not_ready_after_a_while(monkeypatch: Any, tmp_path: Path) -> None:
    """At first it is: an `up` that makes it does not wait for what comes up beside it."""
    played = Played(monkeypatch, tmp_path, budgets)
    played.server.refuses = 403
    ready = played.play(CONFIGURATION)
    assert ready[0]
    assert not any(ready[6:])


def test_a_status_that_is_not_understood_is_no_whole_round(monkeypatch: Any) -> None:
    monkeypatch.setattr(flavors, "ask", lambda *_: {"data": {"status": "Cluster-wide: Healthy"}})
    assert not flavors.turn({"flavors": {}, "spans": {}, "retry_seconds": 1800}, NOW)


def probe(tmp_path: Path) -> int:
    """What the pod's own readiness probe says, run as it is."""
    recording = kueue(budgets={"image": IMAGE, "budgets_usd": {"vision": 1000}})
    deployment = recording.one("kubernetes:apps/v1:Deployment", "queues-budgets-deployment")
    (container,) = deployment.inputs["spec"]["template"]["spec"]["containers"]
    command = container["readinessProbe"]["exec"]["command"]
    environment = {"PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)}
    return subprocess.run([sys.executable, *command[1:]], env=environment, check=False).returncode


def test_the_probe_of_a_pod_reads_what_its_keeper_notes(tmp_path: Path) -> None:
    (tmp_path / "keepers").mkdir()
    for name, text in sources("budgets").items():
        (tmp_path / "keepers" / name).write_text(text)
    assert probe(tmp_path) == 1
    (tmp_path / heartbeat.LAST.name).touch()
    assert probe(tmp_path) == 0
    os.utime(tmp_path / heartbeat.LAST.name, (1, 1))
    assert probe(tmp_path) == 1


def test_the_alert_names_every_keeper_of_a_stack() -> None:
    hours = {"from": "20:00", "to": "07:00", "timeZone": "Europe/Berlin", "developmentSleeps": True}
    asked = [
        item.inputs["metadata"]["name"]
        for item in rehearse(ROOT, "demo", config_overrides={"offPeak": hours}).resources
        if item.type.endswith("apps/v1:Deployment")
        and item.inputs["metadata"]["namespace"] == "kueue-system"
        and any(
            "exec" in one.get("readinessProbe", {}) for one in item.inputs["spec"]["template"]["spec"]["containers"]
        )
    ]
    assert sorted(asked) == sorted(KEEPERS)
