"""What switches development off for the night: what it decides, and what of others it leaves alone."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tests.components.k8s.api_server import refused
from tests.components.k8s.checkers import check_plain_objects
from tests.components.k8s.test_idle_keeper import KEEP, Cluster, workload
from tests.components.k8s.test_kueue import run as kueue
from tests.components.k8s.test_off_peak_keeper import CLOCK, at
from tests.shared import ROOT
from trainyard.components.k8s.keepers import idle, sleep
from trainyard.components.k8s.keepers.hours import hours_of, within
from trainyard.components.k8s.keepers.sleep import ASLEEP, FORGET, SLEEP, WAKE, Job, decide
from trainyard.rehearsal.rehearse import rehearse

CONFIGURATION = {
    "from": "20:00",
    "to": "07:00",
    "time_zone": "Europe/Berlin",
    "namespaces": ["team-vision"],
    "priorities": ["development"],
}
EVENING, NIGHT, MORNING = (at(f"2026-11-{day}:00") for day in ("23T19:00", "23T23:00", "24T07:01"))
TILL_TWO = "2026-11-24T02:00:00+01:00"
AWAKE = Job("team-vision", "job-pretrain-1a2b", "Job", "pretrain", active=True, asleep=False, keep="", version="7")
SLEEPING = replace(AWAKE, active=False, asleep=True)


@pytest.mark.parametrize(
    ("what", "job", "moment", "expected"),
    [
        ("by day nothing sleeps", AWAKE, EVENING, None),
        ("by night it does", AWAKE, NIGHT, SLEEP),
        ("once", SLEEPING, NIGHT, None),
        ("in the morning it wakes", SLEEPING, MORNING, WAKE),
        ("who needs it keeps it on", replace(AWAKE, keep=TILL_TWO), NIGHT, None),
        ("till then", replace(AWAKE, keep=TILL_TWO), at("2026-11-24T02:01:00"), SLEEP),
        ("and wakes it", replace(SLEEPING, keep=TILL_TWO), NIGHT, WAKE),
        ("a keep that is no time keeps nothing", replace(AWAKE, keep="tomorrow"), NIGHT, SLEEP),
        ("what somebody switched on by night stays on", replace(SLEEPING, active=True), NIGHT, None),
        ("for that night", replace(SLEEPING, active=True), MORNING, FORGET),
        ("what is off by anybody else stays off by night", replace(AWAKE, active=False), NIGHT, None),
        ("and in the morning", replace(AWAKE, active=False), MORNING, None),
    ],
)
def test_what_is_decided(what: str, job: Job, moment: float, expected: str | None) -> None:
    assert decide(job, within(hours_of(CONFIGURATION), moment), moment) == expected, what


class Development(Cluster):
    """The stand-in server with one job of a priority, which may refuse."""

    def __init__(self, priority: str = "development") -> None:
        super().__init__()
        self.workload = workload()
        self.workload["spec"]["priorityClassRef"] = {
            "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": priority,
        }  # fmt: skip
        self.refuses: int | None = None

    def ask(
        self, path: str, body: Mapping[str, Any] | None = None, manager: str = "", *, merge: bool = False
    ) -> dict[str, Any]:
        if self.refuses is not None:
            raise refused(self.refuses)
        return super().ask(path, body, manager, merge=merge)

    @property
    def active(self) -> bool:
        return bool(self.workload["spec"]["active"])


def served(monkeypatch: pytest.MonkeyPatch, cluster: Development) -> Development:
    monkeypatch.setattr(sleep, "ask", cluster.ask)
    monkeypatch.setattr(idle, "ask", cluster.ask)
    return cluster


def test_a_night(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = served(monkeypatch, Development())
    course = []
    for minute in range(13 * 60):
        assert sleep.turn(CONFIGURATION, EVENING + minute * 60)
        course.append(cluster.active)
    assert (set(course[:60]), set(course[60:720]), set(course[720:])) == ({True}, {False}, {True})
    assert [json.loads(line)["what"] for line in capsys.readouterr().out.splitlines()] == [SLEEP, WAKE]
    assert [(one["reason"], one["regarding"]["kind"]) for one in cluster.events] == [(SLEEP, "Job"), (WAKE, "Job")]
    assert KEEP in cluster.events[0]["note"]
    assert cluster.workload["metadata"]["annotations"] == {}


@pytest.mark.parametrize("priority", ["standard", "production", ""])
def test_other_priorities_do_not_sleep(priority: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = served(monkeypatch, Development(priority))
    assert sleep.turn(CONFIGURATION, NIGHT)
    assert cluster.active


def test_what_has_ended_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = served(monkeypatch, Development())
    cluster.workload["status"] = {"conditions": [{"type": "Finished", "status": "True"}]}
    assert sleep.turn(CONFIGURATION, NIGHT)
    assert cluster.active


def test_what_has_changed_meanwhile_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = served(monkeypatch, Development())
    cluster.meanwhile = True
    assert sleep.turn(CONFIGURATION, NIGHT), "a conflict is nobody's failure"
    assert cluster.active
    cluster.meanwhile = False
    sleep.turn(CONFIGURATION, NIGHT + 60)
    assert not cluster.active


def test_a_server_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = served(monkeypatch, Development())
    cluster.refuses = 403
    assert not sleep.turn(CONFIGURATION, NIGHT)
    assert "failed" in capsys.readouterr().out
    assert cluster.active


def test_a_thousand_nights_and_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person switched off stays off, what they keep or switch on stays on, and all else follows the clock."""
    draw, slept = random.Random(58), 0
    for _ in range(1000):
        cluster = served(monkeypatch, Development())
        now = EVENING - draw.randrange(24) * 3600
        person: str = ""  # "off": they switched it off; "on": they switched it on for this night
        kept = 0.0
        for _ in range(30):
            now += draw.choice((1, 10, 60, 180)) * 60
            night = within(hours_of(CONFIGURATION), now)
            assert sleep.turn(CONFIGURATION, now)
            person = "" if person == "on" and not night else person
            if person == "off":
                assert not cluster.active
            elif not night or person == "on" or now < kept:
                assert cluster.active, (now, kept)
            else:
                assert not cluster.active
                slept += 1
            asleep = ASLEEP in cluster.workload["metadata"].get("annotations", {})
            chance = draw.random()
            if chance < 0.05 and cluster.active and not asleep and not person:
                cluster.workload["spec"]["active"], person = False, "off"
            elif chance < 0.1 and person == "off":
                cluster.workload["spec"]["active"], person = True, ""
            elif chance < 0.15 and not cluster.active and asleep:
                cluster.workload["spec"]["active"], person = True, "on"
            elif chance < 0.25 and not person:
                kept = now + draw.randrange(1, 8) * 3600
                text = datetime.fromtimestamp(kept, hours_of(CONFIGURATION).zone).isoformat()
                cluster.job["metadata"]["annotations"] = {KEEP: text}
    assert slept > 1000


def test_it_is_made_of_valid_objects_with_rights_on_workloads_alone() -> None:
    recording = kueue(sleep={**CLOCK, "priorities": ["development"]})
    assert check_plain_objects(recording) > 6
    roles = [item for item in recording.resources if "sleep-role" in item.name]
    assert {item.inputs["metadata"]["namespace"] for item in roles} == {"team-vision", "team-speech"}
    written = {
        resource
        for role in roles
        for rule in role.inputs["rules"]
        if set(rule["verbs"]) & {"patch", "update", "create", "delete"}
        for resource in rule["resources"]
    }
    assert written == {"workloads", "events"}
    deployment = recording.one("kubernetes:apps/v1:Deployment", "queues-sleep-deployment")
    (container,) = deployment.inputs["spec"]["template"]["spec"]["containers"]
    assert json.loads(container["args"][0]) == CONFIGURATION | {"namespaces": ["team-vision", "team-speech"]}


def test_it_is_in_a_stack_whose_settings_say_so_and_nothing_of_it_would_be_refused() -> None:
    hours = {"from": "20:00", "to": "07:00", "timeZone": "Europe/Berlin", "developmentSleeps": True}
    found = rehearse(ROOT, "demo-gcp", config_overrides={"offPeak": hours})
    assert not found.errors
    names = {item.name for item in found.resources}
    assert "kueue-sleep-deployment" in names
    assert "kueue-off-peak-deployment" not in names, "there is no reserved node for work that can wait"
