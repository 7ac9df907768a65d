"""What holds the queues of a team whose money is gone: what it decides, and what it leaves to people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.components.k8s.api_server import ApiServer
from tests.components.k8s.checkers import check_plain_objects
from tests.components.k8s.test_kueue import run as kueue
from trainyard.components.k8s.keepers import budgets as keeper
from trainyard.components.k8s.keepers.budgets import (
    DRAIN,
    HOLD,
    OPEN,
    OVERRIDE,
    Decision,
    Hold,
    Queue,
    decide,
    goes_on_until,
    queue_path,
    read,
    spent_of_month,
)

IMAGE = f"org/python:3@sha256:{'0' * 64}"
NOW = datetime(2026, 12, 20, 12, tzinfo=UTC).timestamp()
NEXT_MONTH = datetime(2027, 1, 1, 0, 6, tzinfo=UTC).timestamp()
FREE = Queue(OPEN, None, "")
HELD = Queue(HOLD, Hold(NOW - 600, "2026-12", 1010.0), "")
TILL_TOMORROW = "2026-12-21T12:00:00+01:00"


def policies(
    queue: Queue, spent: float | None, *, now: float = NOW, budget: float = 1000.0, drain: float | None = None
) -> list[str]:
    figures = {} if spent is None else {"vision": spent}
    return [item.policy for item in decide({"vision": budget}, figures, {"vision": {"vision": queue}}, now, drain)]


@pytest.mark.parametrize(
    ("what", "found", "expected"),
    [
        ("there is money", policies(FREE, 999.9), []),
        ("it is gone", policies(FREE, 1000.0), [HOLD]),
        ("once", policies(HELD, 1020.0), []),
        ("no figure, no hold", policies(FREE, None), []),
        ("no figure, nobody let go", policies(HELD, None), []),
        ("a new month without a figure lets nobody go", policies(HELD, None, now=NEXT_MONTH), []),
        ("the new month", policies(HELD, 3.0, now=NEXT_MONTH), [OPEN]),
        ("the budget is raised", policies(HELD, 1020.0, budget=1500), [OPEN]),
        ("not by enough", policies(HELD, 1020.0, budget=1015), []),
        ("a figure that fell is of a Prometheus that lost its data", policies(HELD, 4.0), []),
        ("somebody lets it go on", policies(Queue(HOLD, HELD.hold, TILL_TOMORROW), 1020.0), [OPEN]),
        ("without a figure too", policies(Queue(HOLD, HELD.hold, TILL_TOMORROW), None), [OPEN]),
        ("and it is not held meanwhile", policies(Queue(OPEN, None, TILL_TOMORROW), 1020.0), []),
        ("the day after it is", policies(Queue(OPEN, None, TILL_TOMORROW), 1020.0, now=NOW + 86_400), [HOLD]),
        ("a person holds the queue", policies(Queue(DRAIN, None, ""), 1020.0), []),
        ("and keeps it while there is money", policies(Queue(HOLD, None, ""), 3.0), []),
        ("a person lets a held one go", policies(Queue(OPEN, HELD.hold, ""), 1020.0), []),
        ("what runs goes on", policies(HELD, 1020.0, drain=None), []),
        ("or is evicted after a while", policies(HELD, 1020.0, drain=600), [DRAIN]),
        ("not before", policies(HELD, 1020.0, drain=601), []),
        ("at once", policies(FREE, 1020.0, drain=0), [DRAIN]),
        ("once too", policies(Queue(DRAIN, HELD.hold, ""), 1020.0, drain=600), []),
        ("another budget of nothing", policies(FREE, 0.0, budget=0), [HOLD]),
    ],
)
def test_what_is_decided(what: str, found: list[str], expected: list[str]) -> None:
    assert found == expected, what


def test_all_queues_of_a_team_are_held_and_no_other_teams() -> None:
    queues = {"vision": {"vision": FREE, "default": FREE}, "speech": {"speech": FREE}}
    found = decide({"vision": 10, "speech": 10}, {"vision": 11, "speech": 9}, queues, NOW, None)
    assert [(item.team, item.queue) for item in found] == [("vision", "vision"), ("vision", "default")]


def test_a_queue_that_was_made_anew_is_held_since_the_first_was() -> None:
    (found,) = decide({"vision": 1000}, {"vision": 1020}, {"vision": {"vision": HELD, "default": FREE}}, NOW, None)
    assert (found.queue, found.hold) == ("default", Hold(NOW - 600, "2026-12", 1020.0))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (TILL_TOMORROW, True),
        ("2026-12-21T12:00:00Z", True),
        ("2026-12-21T12:00:00", False),
        ("2026-12-20T11:00:00Z", False),
        ("2027-03-01T00:00:00Z", False),
        ("for ever", False),
        ("", False),
    ],
)
def test_an_override_is_a_time_with_a_zone_that_is_near(text: str, holds: bool) -> None:
    assert (goes_on_until(text, NOW) is not None) is holds


def test_a_figure_of_another_month_is_none() -> None:
    rows = [
        ({"team": "vision", "month": "12"}, 5.0),
        ({"team": "speech", "month": "11"}, 7.0),
        ({"team": "text", "month": "12"}, float("nan")),
        ({"month": "12"}, 7.0),
    ]
    assert spent_of_month(rows, NOW) == {"vision": 5.0}


# A turn, at an API server that knows who owns a field

VISION = queue_path("team-vision", "vision")
POLICY = ("spec", "stopPolicy")
CONFIGURATION = {
    "prometheus": "http://prometheus:9090",
    "spent": "trainyard_team_spent_usd",
    "teams": {"vision": {"namespace": "team-vision", "queues": ["vision"], "budget_usd": 1000}},
    "drain_after_seconds": None,
}


class World:
    """A server, a Prometheus that may be gone, and the keeper's turns."""

    def __init__(self, monkeypatch: Any) -> None:
        self.server = ApiServer(VISION, defaults={POLICY: OPEN})
        self.spent: float | None = 0.0
        self.told: set[tuple[str, ...]] = set()
        monkeypatch.setattr(keeper, "ask", self.server.ask)
        monkeypatch.setattr(keeper, "figures", self.figures)

    def figures(self, _prometheus: str, _expression: str, at: float) -> Any:
        if self.spent is None:
            raise ConnectionRefusedError("no Prometheus")
        return [({"team": "vision", "month": str(datetime.fromtimestamp(at, UTC).month)}, self.spent)]

    def turn(self, now: float = NOW) -> Queue:
        keeper.turn(CONFIGURATION, now, self.told)
        return read(self.server.ask(VISION))


def test_a_turn_holds_and_the_first_of_the_month_lets_go(monkeypatch: Any, capsys: Any) -> None:
    world = World(monkeypatch)
    assert world.turn() == FREE
    world.spent = 1000.5
    assert world.turn() == Queue(HOLD, Hold(NOW, "2026-12", 1000.5), "")
    world.turn(NOW + 60)
    assert world.server.applies == 1, "what stands is not applied again"
    world.spent = 0.0
    assert world.turn(NEXT_MONTH) == FREE
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["policy"] for line in lines] == [HOLD, OPEN]
    assert [event["reason"] for event in world.server.events] == ["BudgetExceeded", "BudgetReleased"]


def test_without_prometheus_nothing_changes_and_it_is_said_once(monkeypatch: Any, capsys: Any) -> None:
    world = World(monkeypatch)
    world.spent = 1200.0
    world.turn()
    world.spent = None
    for minute in range(60):
        assert world.turn(NOW + 60 * minute).policy == HOLD
    world.spent = 1200.0
    assert world.turn(NOW + 3600).policy == HOLD
    assert capsys.readouterr().out.count("no figure") == 1


def test_a_persons_hold_survives_the_months_turn(monkeypatch: Any) -> None:
    world = World(monkeypatch)
    world.server.edit(VISION, POLICY, HOLD)
    world.spent = 1200.0
    world.turn()
    world.spent = 0.0
    assert world.turn(NEXT_MONTH) == Queue(HOLD, None, "")
    assert world.server.applies == 0


def test_a_person_who_holds_a_held_queue_keeps_it(monkeypatch: Any) -> None:
    world = World(monkeypatch)
    world.spent = 1200.0
    world.turn()
    world.server.edit(VISION, POLICY, DRAIN)
    world.turn(NOW + 60)
    world.turn(NOW + 120)
    assert [event["reason"] for event in world.server.events] == ["BudgetExceeded", "BudgetHoldRefused"]
    world.spent = 0.0
    assert world.turn(NEXT_MONTH) == Queue(DRAIN, None, ""), "the notes go, the person's hold stays"


def test_a_person_who_lets_a_held_queue_go_is_not_overruled(monkeypatch: Any) -> None:
    world = World(monkeypatch)
    world.spent = 1200.0
    world.turn()
    world.server.edit(VISION, POLICY, OPEN)
    assert world.turn(NOW + 60).policy == OPEN
    assert world.server.applies == 1


def test_an_override_ends_by_itself(monkeypatch: Any, capsys: Any) -> None:
    world = World(monkeypatch)
    world.spent = 1200.0
    world.turn()
    world.server.edit(VISION, ("metadata", "annotations", OVERRIDE), TILL_TOMORROW)
    assert world.turn(NOW + 60).policy == OPEN
    assert world.turn(NOW + 86_400).policy == HOLD
    assert "31 days" in capsys.readouterr().out, "that it is over is said too"


# One queue that is not as it should be is that queue's matter

SPEECH, LATER = queue_path("team-speech", "speech"), queue_path("team-speech", "later")
TWO_TEAMS = {
    **CONFIGURATION,
    "teams": {
        **CONFIGURATION["teams"],  # type: ignore[dict-item]
        "speech": {"namespace": "team-speech", "queues": ["speech", "later"], "budget_usd": 1000},
    },
}
EVENTS = "/apis/events.k8s.io/v1/namespaces/team-vision/events"


def two_teams(monkeypatch: Any, *missing: str, **others: Any) -> tuple[ApiServer, Any]:
    """A server with the queues of two teams that have spent all, and the keeper's turn there."""
    server = ApiServer(*(path for path in (VISION, SPEECH, LATER) if path not in missing), defaults={POLICY: OPEN})
    monkeypatch.setattr(keeper, "ask", server.ask)
    rows = [({"team": team, "month": "12"}, 1200.0) for team in ("vision", "speech")]
    monkeypatch.setattr(keeper, "figures", lambda *_: rows)
    return server, lambda now=NOW: keeper.turn(TWO_TEAMS | others, now, set())


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", VISION, 403),
        ("GET", VISION, 500),
        ("PATCH", VISION, 403),
        ("PATCH", VISION, 422),
        ("PATCH", VISION, 500),
        ("POST", EVENTS, 403),
    ],
)
def test_what_is_refused_of_one_team_holds_up_no_other(
    method: str, path: str, code: int, monkeypatch: Any, capsys: Any
) -> None:
    server, turn = two_teams(monkeypatch)
    server.refused[method, path] = code
    assert turn() is False, "and the keeper says that it is not well"
    assert [read(server.ask(each)).policy for each in (SPEECH, LATER)] == [HOLD, HOLD]
    assert f"HTTP Error {code}" in capsys.readouterr().out
    server.refused.clear()
    assert turn(NOW + 60) is True
    assert read(server.ask(VISION)).policy == HOLD


def test_a_queue_that_is_gone_holds_up_neither_its_team_nor_others(monkeypatch: Any) -> None:
    server, turn = two_teams(monkeypatch, SPEECH, drain_after_seconds=0)
    assert turn() is False
    assert [read(server.ask(each)).policy for each in (VISION, LATER)] == [DRAIN, DRAIN]


def test_nobody_is_evicted_while_a_queue_that_may_let_its_team_go_on_is_not_told(monkeypatch: Any) -> None:
    server, turn = two_teams(monkeypatch, drain_after_seconds=0)
    server.edit(SPEECH, ("metadata", "annotations", OVERRIDE), TILL_TOMORROW)
    server.refused["GET", SPEECH] = 500
    assert turn() is False
    assert [read(server.ask(each)).policy for each in (VISION, LATER)] == [DRAIN, HOLD]
    server.refused.clear()
    assert turn(NOW + 60) is True
    assert read(server.ask(LATER)).policy == OPEN


def test_what_is_drained_stays_so_while_a_queue_is_not_told(monkeypatch: Any) -> None:
    server, turn = two_teams(monkeypatch, drain_after_seconds=0)
    assert turn() is True
    server.refused["GET", SPEECH] = 500
    applies = server.applies
    assert turn(NOW + 60) is False
    assert read(server.ask(LATER)).policy == DRAIN
    assert server.applies == applies


def test_what_is_noted_is_read_back() -> None:
    hold = Hold(NOW, "2026-12", 12.25)
    made = keeper.patch(Decision("vision", "vision", HOLD, "12 USD", hold), "team-vision")
    assert read(made) == Queue(HOLD, hold, "")
    assert keeper.patch(Decision("vision", "vision", OPEN, "", None), "team-vision")["spec"] == {}


# What it is made of, and in the demo stack


def test_it_is_made_of_valid_objects_with_rights_on_its_queues_alone() -> None:
    recording = kueue(budgets={"image": IMAGE, "budgets_usd": {"vision": 1000}, "drain_after_hours": 2})
    assert check_plain_objects(recording) > 6
    deployment = recording.one("kubernetes:apps/v1:Deployment", "queues-budgets-deployment")
    (container,) = deployment.inputs["spec"]["template"]["spec"]["containers"]
    configuration = json.loads(container["args"][0])
    assert configuration["teams"] == {
        "vision": {"namespace": "team-vision", "queues": ["vision", "default"], "budget_usd": 1000}
    }
    assert configuration["drain_after_seconds"] == 7200
    (role,) = [item for item in recording.resources if item.type.endswith(":Role")]
    assert role.inputs["metadata"]["namespace"] == "team-vision"
    assert role.inputs["rules"] == [
        {
            "apiGroups": ["kueue.x-k8s.io"],
            "resources": ["localqueues"],
            "resourceNames": ["vision", "default"],
            "verbs": ["get", "patch"],
        },
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
    ]


def test_a_team_without_a_budget_here_is_none_of_its() -> None:
    recording = kueue(budgets={"image": IMAGE, "budgets_usd": {"vision": 1000}})
    assert [item.name for item in recording.resources if item.type.endswith(":Role")] == ["queues-budgets-role-vision"]


def test_what_it_asks_is_what_the_rules_record(rehearsed: Any) -> None:
    resources = rehearsed("demo").resources
    (deployment,) = [item for item in resources if item.name == "kueue-budgets-deployment"]
    configuration = json.loads(deployment.inputs["spec"]["template"]["spec"]["containers"][0]["args"][0])
    recorded = {
        rule["record"]: rule["expr"]
        for item in resources
        if item.type.endswith(":PrometheusRule")
        for group in item.inputs["spec"]["groups"]
        for rule in group["rules"]
        if "record" in rule
    }
    assert "trainyard_team_spent_usd" in configuration["spent"]
    assert "trainyard_team_spent_usd" in recorded
    budgets = {
        (rule["labels"]["team"], rule["expr"])
        for item in resources
        if item.type.endswith(":PrometheusRule")
        for group in item.inputs["spec"]["groups"]
        for rule in group["rules"]
        if rule.get("record") == "trainyard_team_budget_usd"
    }
    assert budgets == {(team, f"vector({own['budget_usd']})") for team, own in configuration["teams"].items()}


def test_it_reaches_prometheus_through_both_walls(rehearsed: Any) -> None:
    policies = {
        (item.inputs["metadata"]["namespace"], item.inputs["metadata"]["name"]): item.inputs["spec"]
        for item in rehearsed("demo").resources
        if item.type.endswith(":NetworkPolicy")
    }
    (out,) = policies["kueue-system", "allow-budget-keeper"]["egress"]
    assert out["ports"] == [{"protocol": "TCP", "port": 9090}]
    assert any(
        peer.get("podSelector", {}).get("matchLabels") == {"app.kubernetes.io/name": "budget-keeper"}
        for rule in policies["monitoring", "allow-prometheus"]["ingress"]
        for peer in rule["from"]
    )
