"""What opens the queues of work that can wait: its hours, what it decides, and any course of persons and budgets."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.components.k8s.api_server import ApiServer
from tests.components.k8s.checkers import check_custom_resources, check_plain_objects
from tests.components.k8s.test_kueue import arguments
from tests.components.k8s.test_kueue import run as kueue
from trainyard.components.k8s.keepers import budgets, off_peak
from trainyard.components.k8s.keepers.budgets import month_of
from trainyard.components.k8s.keepers.held import BY_BUDGET, BY_CLOCK, OPEN, queue_path
from trainyard.components.k8s.keepers.hours import hours_of, span_of, within
from trainyard.components.k8s.keepers.off_peak import HOLD, Decision, Queue, decide, read
from trainyard.components.k8s.kueue import _check

IMAGE = f"org/python:3@sha256:{'0' * 64}"
QUEUE = queue_path("team-vision", "off-peak")
POLICY = ("spec", "stopPolicy")
CLOCK = {"image": IMAGE, "hours": {"start": "20:00", "end": "07:00", "time_zone": "Europe/Berlin"}}
MINUTE, DAY = 60.0, 86_400.0


def configuration(start: str = "20:00", end: str = "07:00", zone: str = "Europe/Berlin") -> dict[str, Any]:
    queues = [{"namespace": "team-vision", "name": "off-peak"}]
    return {"from": start, "to": end, "time_zone": zone, "queues": queues}


def at(text: str, zone: str = "Europe/Berlin", fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


@pytest.mark.parametrize(
    ("moment", "open_"),
    [
        ("2026-11-23T19:59:59", False),
        ("2026-11-23T20:00:00", True),
        ("2026-11-24T00:00:00", True),
        ("2026-11-24T06:59:59", True),
        ("2026-11-24T07:00:00", False),
        ("2026-11-24T12:00:00", False),
    ],
)
def test_the_hours_go_over_midnight(moment: str, open_: bool) -> None:
    assert within(hours_of(configuration()), at(moment)) is open_


def test_hours_of_one_day() -> None:
    noon = hours_of(configuration("12:00", "13:30"))
    assert within(noon, at("2026-11-23T12:30:00"))
    assert not within(noon, at("2026-11-23T13:30:00"))
    assert not within(noon, at("2026-11-23T00:30:00"))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-28", 10), ("2026-10-24", 12), ("2026-11-23", 11)])
def test_the_night_of_a_change_of_time_is_an_hour_shorter_or_longer(day: str, hours: int) -> None:
    """Central Europe's clocks go forward on 2026-03-29 and back on 2026-10-25 (Directive 2000/84/EC)."""
    start, end = span_of(hours_of(configuration()), datetime.fromisoformat(day).date())
    assert end - start == hours * 3600
    assert end == at(f"{datetime.fromisoformat(day).date() + timedelta(days=1)}T07:00:00")


def test_an_hour_that_the_clock_has_twice_opens_the_queues_once() -> None:
    hours, first = hours_of(configuration("02:30", "05:00")), at("2026-10-25T00:00:00")
    states = [within(hours, first + minute * MINUTE) for minute in range(10 * 60)]
    assert sum(before is not after for before, after in pairwise(states)) == 2
    assert within(hours, at("2026-10-25T02:30:00"))
    assert within(hours, at("2026-10-25T02:10:00", fold=1)), "the second ten past two comes after the first half past"


def test_any_zone_and_year_has_one_night_a_day() -> None:
    draw = random.Random(20261123)
    zones = (
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Asia/Dubai",
        "America/Santiago",
    )
    for _ in range(1000):
        minutes = draw.sample(range(1440), 2)
        start, end = (f"{minute // 60:02}:{minute % 60:02}" for minute in minutes)
        zone = draw.choice(zones)
        hours = hours_of(configuration(start, end, zone))
        day = datetime(draw.randint(2026, 2035), 1, 1, tzinfo=UTC).date() + timedelta(days=draw.randrange(365))
        opens, closes = span_of(hours, day)
        after, _ = span_of(hours, day + timedelta(days=1))
        assert opens < after
        if closes <= opens or closes > after:  # the clock's change swallows the whole of it, or all between two
            continue
        assert within(hours, opens) and within(hours, closes - 1)
        if closes < after:
            assert not within(hours, closes) and not within(hours, after - 1)
        told = datetime.fromtimestamp(opens, hours.zone).strftime("%H:%M")
        gap = hours.zone.utcoffset(datetime.fromtimestamp(opens, hours.zone)) != hours.zone.utcoffset(
            datetime.fromtimestamp(opens - 2 * 3600, hours.zone)
        )
        assert told == start or gap, (zone, day, start)


def test_a_zone_that_the_image_does_not_know_ends_the_program() -> None:
    with pytest.raises(KeyError):
        hours_of(configuration(zone="Europe/Atlantis"))


@pytest.mark.parametrize(
    ("what", "queue", "night", "expected"),
    [
        ("by day it is held", Queue(OPEN, False, False), False, True),
        ("once", Queue(HOLD, True, False), False, None),
        ("by night it is let go", Queue(HOLD, True, False), True, False),
        ("once too", Queue(OPEN, False, False), True, None),
        ("a person's hold is theirs by day", Queue(HOLD, False, False), False, None),
        ("and by night", Queue("HoldAndDrain", False, False), True, None),
        ("what a person lets go by day stays open", Queue(OPEN, True, False), False, None),
        ("till the night, when the note goes", Queue(OPEN, True, False), True, False),
        ("a spent budget holds it instead", Queue(HOLD, True, True), False, False),
        ("and is left alone", Queue(HOLD, False, True), False, None),
    ],
)
def test_what_is_decided(what: str, queue: Queue, night: bool, expected: bool | None) -> None:
    found = decide(queue, night)
    assert (None if found is None else found.hold) is expected, what


class World:
    """Both keepers and persons at one server, which no ClusterQueue is in: whoever asks for one fails the test."""

    def __init__(self, monkeypatch: Any, hours: dict[str, Any], drain: float | None = None) -> None:
        self.server = ApiServer(QUEUE, defaults={POLICY: OPEN})
        self.hours, self.spent, self.told = hours, 0.0, set[tuple[str, ...]]()
        teams = {"vision": {"namespace": "team-vision", "queues": ["off-peak"], "budget_usd": 1000}}
        self.budget = {"prometheus": "", "spent": "", "teams": teams, "drain_after_seconds": drain}
        monkeypatch.setattr(off_peak, "ask", self.server.ask)
        monkeypatch.setattr(budgets, "ask", self.server.ask)
        monkeypatch.setattr(
            budgets,
            "figures",
            lambda _p, _e, now: [({"team": "vision", "month": str(int(month_of(now)[5:]))}, self.spent)],
        )

    def turn(self, now: float, first: str = "clock") -> str:
        clock, budget = (
            lambda: off_peak.turn(self.hours, now),
            lambda: budgets.turn(self.budget, now, self.told),
        )
        for one in (clock, budget) if first == "clock" else (budget, clock):
            one()
        return self.policy

    @property
    def policy(self) -> str:
        return read(self.server.ask(QUEUE)).policy


def test_a_day_and_a_night(monkeypatch: Any, capsys: Any) -> None:
    world, noon = World(monkeypatch, configuration()), at("2026-11-23T12:00:00")
    course = [world.turn(noon + minute * MINUTE) for minute in range(2 * 1440)]
    assert course[0] == HOLD
    assert set(course[480 : 480 + 660]) == {OPEN}, "20:00 to 07:00"
    assert set(course[480 + 660 : 1440 + 480]) == {HOLD}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["hold"] for line in lines] == [True, False, True, False, True]
    assert [one["reason"] for one in world.server.events] == [*["OffPeakHeld", "OffPeakReleased"] * 2, "OffPeakHeld"]


def test_a_spent_budget_holds_at_night_without_a_moment_in_between(monkeypatch: Any) -> None:
    world, evening = World(monkeypatch, configuration()), at("2026-11-23T19:30:00")
    world.turn(evening)
    world.spent = 1200.0
    course = [world.turn(evening + minute * MINUTE, ("clock", "budget")[minute % 2]) for minute in range(1, 180)]
    assert OPEN not in course
    world.spent = 0.0
    world.budget["teams"] = {"vision": {**world.budget["teams"]["vision"], "budget_usd": 5000}}
    assert world.turn(evening + 181 * MINUTE) == OPEN


def test_a_drain_of_the_budget_comes_through_by_day(monkeypatch: Any) -> None:
    world, noon = World(monkeypatch, configuration(), drain=600.0), at("2026-11-23T12:00:00")
    world.turn(noon)
    world.spent = 1200.0
    course = [world.turn(noon + minute * MINUTE) for minute in range(1, 30)]
    assert course[-1] == "HoldAndDrain"
    assert OPEN not in course
    assert not [one for one in world.server.events if one["reason"] == "BudgetHoldRefused"]


def test_a_thousand_courses_of_nights_persons_and_budgets(monkeypatch: Any) -> None:
    """What is true at every minute, whatever persons do and whoever's turn comes first."""
    draw = random.Random(58)
    nights = held_by_person = opened = 0
    for _ in range(1000):
        zone = draw.choice(("Europe/Berlin", "America/New_York", "Asia/Kolkata"))
        hours = configuration(f"{draw.randint(17, 23)}:00", f"0{draw.randint(4, 9)}:30", zone)
        world, now = World(monkeypatch, hours), at("2026-03-28T12:00:00", zone) + draw.randrange(300) * DAY
        person: str | None = None  # what a person says of the queue, and nobody but they take back
        was_night, let_go, month = within(hours_of(hours), now), False, month_of(now)
        for _ in range(60):
            now += draw.choice((1, 5, 60, 240)) * MINUTE
            night = within(hours_of(hours), now)
            if night is not was_night:
                let_go, was_night = let_go and not night, night
            before = world.policy
            if month_of(now + 2 * MINUTE) != month:  # a month's figure only grows, and begins anew with the next
                month, world.spent = month_of(now + 2 * MINUTE), 0.0
            for turn in range(3):  # judged after both had their turns, and one month turned at the most
                world.turn(now + turn * MINUTE, draw.choice(("clock", "budget")))
            night = within(hours_of(hours), now + 2 * MINUTE)
            now += 2 * MINUTE
            let_go = let_go and not night
            policy, spent = world.policy, world.spent >= 1000
            if person is not None:
                assert policy == person
                held_by_person += 1
            elif let_go:
                pass  # a person's word, till the night
            elif night and not spent:
                assert policy == OPEN, (hours, before)
                nights += 1
            else:
                assert policy != OPEN, (hours, night, spent)
            if draw.random() < 0.15 and person is None and policy == OPEN and night:
                person = draw.choice((HOLD, "HoldAndDrain"))
                world.server.edit(QUEUE, POLICY, person)
            elif draw.random() < 0.3 and person is not None:
                world.server.edit(QUEUE, POLICY, None)
                person = None
            elif draw.random() < 0.05 and person is None and not night and policy == HOLD and not spent:
                world.server.edit(QUEUE, POLICY, None)
                let_go, opened = True, opened + 1
            if draw.random() < 0.05 and not let_go and person is None:
                world.spent = 1500.0
    assert min(nights, held_by_person, opened) > 300


def test_a_server_that_refuses_changes_nothing_and_is_told(monkeypatch: Any, capsys: Any) -> None:
    world = World(monkeypatch, configuration())
    world.server.refuses = 403
    assert not off_peak.turn(world.hours, at("2026-11-23T12:00:00"))
    world.server.refuses = None
    assert world.policy == OPEN
    assert "failed" in capsys.readouterr().out
    assert off_peak.turn(world.hours, at("2026-11-23T12:00:00"))


def test_what_is_noted_is_read_back() -> None:
    made = off_peak.patch(Decision(True, "day"), "team-vision", "off-peak", 12.0)
    assert read(made) == Queue(HOLD, True, False)
    made["metadata"]["annotations"][BY_BUDGET] = "12"
    assert read(made).by_budget
    assert off_peak.patch(Decision(False, ""), "team-vision", "off-peak", 12.0)["spec"] == {}
    assert BY_CLOCK != BY_BUDGET


# What it is made of, and in the demo stack


def with_off_peak(**changes: Any) -> Any:
    queues = [
        {
            **queue,
            "off_peak": {
                "cluster_queue": f"{queue['team']}-off-peak",
                "local_queue": "off-peak",
                "flavors": ["train-reserved"],
            },
        }
        for queue in arguments()["queues"]
    ]
    return kueue(queues=queues, off_peak=CLOCK, **changes)


def test_it_is_made_of_valid_objects_with_rights_on_its_queues_alone() -> None:
    recording = with_off_peak(budgets={"image": IMAGE, "budgets_usd": {"vision": 1000}})
    assert check_plain_objects(recording) > 6
    assert check_custom_resources(recording) == 13 + 2 * 2
    roles = [item for item in recording.resources if "off-peak-role" in item.name]
    assert [item.inputs["rules"][0] for item in roles] == [
        {
            "apiGroups": ["kueue.x-k8s.io"],
            "resources": ["localqueues"],
            "resourceNames": ["off-peak"],
            "verbs": ["get", "patch"],
        }
    ] * 2
    deployment = recording.one("kubernetes:apps/v1:Deployment", "queues-budgets-deployment")
    held = json.loads(deployment.inputs["spec"]["template"]["spec"]["containers"][0]["args"][0])["teams"]
    assert held["vision"]["queues"] == ["vision", "default", "off-peak"], "it is no way around a budget"


def test_its_queue_owns_nothing_takes_nothing_and_gives_back_first() -> None:
    recording = with_off_peak()
    spec = recording.one(
        "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "queues-cluster-queue-vision-off-peak"
    ).inputs["spec"]
    (group,) = spec["resourceGroups"]
    assert [(one["name"], one["resources"][0]["nominalQuota"]) for one in group["flavors"]] == [("train-reserved", "0")]
    assert spec["preemption"]["reclaimWithinCohort"] == "Never"
    assert spec["fairSharing"] == {"weight": "10m"}
    assert spec["namespaceSelector"] == {"matchLabels": {"ml.platform/team": "vision"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "nothing says when"),
        ({"off_peak": CLOCK, "flavors": []}, "which is none of"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    own = {"cluster_queue": "x", "local_queue": "off-peak", "flavors": ["train-reserved"]}
    args: Any = arguments(queues=[{**queue, "off_peak": own} for queue in arguments()["queues"][:1]], **changes)
    with pytest.raises(ValueError, match=message):
        _check(args)
