"""A month of three teams, time compressed: a real Prometheus with our rules, the keeper of budgets, an API server that
knows who owns a field. One team overspends."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.components.k8s.api_server import ApiServer
from tests.ledger.month import END, FIRST, GAP, PRICES, START, STEP, Month, kueue_series, simulate
from tests.ledger.prometheus import Prometheus, free_port, needs_prometheus
from tests.monitoring.promtool import NAMESPACES
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.components.k8s.keepers import budgets as keeper
from trainyard.components.k8s.keepers.budgets import HOLD, OPEN, Queue, queue_path, read
from trainyard.monitoring import names as n
from trainyard.monitoring.recordings import Money
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

pytestmark = [needs_prometheus, pytest.mark.long]
POLICY = ("spec", "stopPolicy")
PERSON_HOLDS = START + 25 * 86_400
STAGES = (
    (n.GPU_HOUR_USD, n.TEAM_BUDGET_USD, n.GPUS_HELD),
    (n.USD_PER_HOUR,),
    (n.TEAM_USD_PER_HOUR,),
    (n.TEAM_SPENT_USD,),
)
"""Rules in the order in which they read one another."""


@dataclass
class Ran:
    """The month, as the keeper went through it."""

    month: Month
    history: dict[int, dict[str, Queue]]
    server: ApiServer
    said: list[dict[str, Any]]
    spent: dict[str, dict[int, float]]
    warned: dict[str, int]
    """By team, when the alert at 80 % first had cause."""
    url: str
    """Prometheus, while the tests run."""


def file_of_rules(month: Month) -> dict[str, Any]:
    money = Money(PRICES, {team.name: (team.queue, int(team.budget)) for team in month.teams.values()})
    return rules(Thresholds(), namespaces=NAMESPACES, members={}, runbooks="https://example.com/r", money=money)


def turns(month: Month) -> list[int]:
    """Every half hour, and every five minutes around what matters."""
    dense = [month.crossed["vision", 100], FIRST, GAP[0] + 1800]
    found = set(range(START + 600, END, 1800))
    for moment in dense:
        found |= set(range(moment - 3600, moment + 3600, 300))
    return sorted(at + 30 for at in found)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    month = simulate(("speech", PERSON_HOLDS))
    every = file_of_rules(month)
    record = {rule["record"]: rule for group in every["groups"] for rule in group["rules"] if "record" in rule}
    assert record.keys() >= {name for stage in STAGES for name in stage}
    teams = {
        team.name: {"namespace": f"team-{team.name}", "queues": [team.name, "default"], "budget_usd": team.budget}
        for team in month.teams.values()
    }
    paths = [queue_path(own["namespace"], queue) for own in teams.values() for queue in own["queues"]]
    server = ApiServer(*paths, defaults={POLICY: OPEN})
    said: list[dict[str, Any]] = []
    told: set[tuple[str, ...]] = set()
    history: dict[int, dict[str, Queue]] = {}
    with pytest.MonkeyPatch.context() as patched, Prometheus(tmp_path_factory.mktemp("month")) as prometheus:
        prometheus.take(kueue_series(month))
        prometheus.start()
        for stage in STAGES:
            chosen = [rule for group in every["groups"] for rule in group["rules"] if rule.get("record") in stage]
            prometheus.evaluate([{"name": "ledger", "interval": "5m", "rules": chosen}], START, END)
        patched.setattr(keeper, "ask", server.ask)
        patched.setattr(keeper, "say", lambda **what: said.append(what))
        nobody = f"http://127.0.0.1:{free_port()}"
        for at in turns(month):
            if at >= PERSON_HOLDS and not said_by_a_person(server):
                server.edit(queue_path("team-speech", "speech"), POLICY, HOLD, manager="kubectl-patch")
            configuration = {
                "prometheus": nobody if GAP[0] <= at < GAP[1] else prometheus.url,
                "spent": f"max by (team, month) ({n.TEAM_SPENT_USD})",
                "teams": teams,
                "drain_after_seconds": None,
            }
            keeper.turn(configuration, float(at), told)
            history[at] = {path: read(server.ask(path)) for path in paths}
        rows = prometheus.range(n.TEAM_SPENT_USD, START, FIRST - STEP, 6 * STEP)
        spent = {labels["team"]: {int(at): float(value) for at, value in values} for labels, values in rows}
        alerts = {
            rule["alert"]: rule["expr"] for group in every["groups"] for rule in group["rules"] if "alert" in rule
        }
        warned = {
            labels["team"]: int(values[0][0])
            for labels, values in prometheus.range(alerts["TeamBudgetWarning"], START, FIRST - STEP, STEP)
        }
        yield Ran(month, history, server, said, spent, warned, prometheus.url)


def said_by_a_person(server: ApiServer) -> bool:
    return "kubectl-patch" in server.objects[queue_path("team-speech", "speech")].owners.get(POLICY, set())


def held(ran: Ran, team: str, queue: str = "default") -> list[int]:
    path = queue_path(f"team-{team}", queue)
    return [at for at, queues in ran.history.items() if queues[path].policy != OPEN]


def test_the_ledger_is_within_one_percent_of_the_truth(ran: Ran) -> None:
    for team in ran.month.teams.values():
        truth, counted = team.spent[FIRST], max(ran.spent[team.name].values())
        assert truth > 3_000
        assert abs(counted - truth) <= 0.01 * truth, (team.name, counted, truth)


def test_the_team_that_overspends_is_warned_at_80_and_held_at_100_percent(ran: Ran) -> None:
    eighty, whole = ran.month.crossed["vision", 80], ran.month.crossed["vision", 100]
    assert set(ran.warned) == {"vision"}
    assert eighty - 600 <= ran.warned["vision"] <= eighty + 7200 < whole
    assert -600 <= held(ran, "vision")[0] - whole <= 3600
    assert held(ran, "vision", "vision") == held(ran, "vision"), "both of its queues"
    assert not held(ran, "language")
    assert not held(ran, "speech")


def test_what_runs_finishes(ran: Ran) -> None:
    whole = ran.month.crossed["vision", 100]
    running = [job for job in ran.month.teams["vision"].jobs if job.start < whole < job.end]
    assert running
    assert all(queues[queue_path("team-vision", "vision")].policy != "HoldAndDrain" for queues in ran.history.values())
    assert ran.month.teams["vision"].spent[FIRST] > ran.month.teams["vision"].budget


def test_it_is_let_go_on_the_first(ran: Ran) -> None:
    last = held(ran, "vision")[-1]
    assert FIRST - 600 <= last <= FIRST + 600
    assert any(job.start >= FIRST for job in ran.month.teams["vision"].jobs)


def test_an_hour_without_prometheus_changes_nothing_and_is_said_once(ran: Ran) -> None:
    within = [queues for at, queues in ran.history.items() if GAP[0] - 1800 <= at < GAP[1] + 1800]
    assert len(within) > 12
    assert all(queues == within[0] for queues in within)
    assert len([line for line in ran.said if "failed" in line]) == 1


def test_a_persons_hold_survives_the_month(ran: Ran) -> None:
    path = queue_path("team-speech", "speech")
    assert all(queues[path] == Queue(HOLD, None, "") for at, queues in ran.history.items() if at >= PERSON_HOLDS)


def test_every_decision_is_said_and_an_event(ran: Ran) -> None:
    decisions = [(line["team"], line["policy"]) for line in ran.said if "policy" in line]
    assert decisions == [("vision", HOLD)] * 2 + [("vision", OPEN)] * 2
    assert [event["reason"] for event in ran.server.events] == ["BudgetExceeded"] * 2 + ["BudgetReleased"] * 2
    assert ran.server.applies == 4


# What the month's account says of it


def account(ran: Ran, *arguments: str) -> Any:
    command = ["chargeback", "demo", "--month", "2025-12", "--prometheus", ran.url, "--project", str(ROOT), *arguments]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return done


def test_the_months_account_is_the_truth(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "month.csv"
    account(ran, "--csv", str(file), "--bill", "50000", "--shared-by", "equal")
    rows = list(csv.DictReader(file.read_text().splitlines()))
    for name in ("vision", "language"):
        for flavor in PRICES:
            capacity = flavor.removeprefix("train-")
            (row,) = [row for row in rows if (row["team"], row["capacity"]) == (name, capacity)]
            jobs = [job for job in ran.month.teams[name].jobs if job.flavor == flavor]
            truth = sum(job.gpus * max(0, min(job.end, FIRST) - job.start) / 3600 for job in jobs)
            assert abs(float(row["gpu_hours"]) - truth) <= 0.01 * truth
    spent = sum(max(ran.spent[name].values()) for name in ("vision", "language"))
    shared = [float(row["usd"]) for row in rows if row["what"].startswith("shared")]
    assert shared[0] == shared[1]
    assert abs(sum(shared) + spent - 50_000) < 100, "to half an hour"


def test_the_page_has_a_part_for_each_team(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "month.html"
    account(ran, "--html", str(file))
    text = file.read_text()
    assert "December 2025" in text
    assert text.count('<section class="team">') == 3, "demo's"
    assert text.count("idle: 30 %") == 2
    assert text.count("<b>10 min</b>") == 2
    assert "<script" not in text
    whole = ran.month.crossed["vision", 100]
    assert f"The budget was spent on {datetime.fromtimestamp(whole, UTC).day} December" in text
    assert "today" not in text
    assert "No bill was given" in text


def test_a_month_that_nobody_counted_is_told(ran: Ran) -> None:
    command = ["chargeback", "demo", "--month", "2024-02", "--prometheus", ran.url, "--project", str(ROOT)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert "nothing of it in its ledger" in " ".join(done.output.split())
