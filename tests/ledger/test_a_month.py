"""A month of three teams, time compressed: a real Prometheus with our rules, the keeper of budgets, an API server that
knows who owns a field. A job starts only where that server says that its queue is open. One team overspends."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.ledger.month import (
    CPU_NODE_USD,
    CPU_NODES,
    FIRST,
    GAP,
    GIB_MONTH_USD,
    PODS,
    PRICES,
    START,
    STEP,
    UNREAD,
    Team,
)
from tests.ledger.play import HOUR, PERSON_HOLDS, Ran, played
from tests.ledger.prometheus import needs_prometheus
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.components.k8s.keepers.budgets import HOLD, OPEN, Queue, queue_path
from trainyard.monitoring import names as n
from trainyard.monitoring.alerts.money import LADDER
from trainyard.monitoring.alerts.platform import WATCHDOG
from trainyard.review.chargeback import read
from trainyard.review.chargeback.model import Figures

pytestmark = [needs_prometheus, pytest.mark.long]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    with played(tmp_path_factory.mktemp("month")) as found:
        yield found


def held(ran: Ran, team: str, queue: str = "default") -> list[int]:
    path = queue_path(f"team-{team}", queue)
    return [at for at, queues in ran.history.items() if queues[path].policy != OPEN]


def counted(ran: Ran) -> dict[str, float]:
    """What the ledger has of each team at the end of December."""
    rows = ran.prometheus.range(n.TEAM_SPENT_USD, FIRST - STEP, FIRST - STEP, STEP)
    return {labels["team"]: float(values[0][1]) for labels, values in rows}


def test_the_ledger_is_within_one_percent_of_the_truth(ran: Ran) -> None:
    for team in ran.month.teams.values():
        truth, counted_usd = team.spent[FIRST], counted(ran)[team.name]
        assert truth > 3_000
        assert abs(counted_usd - truth) <= 0.01 * truth, (team.name, counted_usd, truth)


@pytest.mark.parametrize(("alert", "percent"), list(zip(LADDER, (50, 80, 100), strict=True)))
def test_each_step_of_the_ladder_is_told_once_of_each_team_that_takes_it(ran: Ran, alert: str, percent: int) -> None:
    """By the alert's own rule, after its `for`."""
    told = ran.prometheus.firing(ran.alerts[alert], START, FIRST - STEP, STEP)
    crossed = {team: at for (team, at_percent), at in ran.month.crossed.items() if at_percent == percent}
    assert {labels["team"] for labels, _, _ in told} == set(crossed) and crossed
    assert percent == 50 or set(crossed) == {"vision"}
    first = {labels["team"]: since for labels, since, _ in reversed(told)}
    for team in crossed:
        assert percent - 0.1 <= percent_spent(ran.month.teams[team], first[team]) <= percent + 1


def percent_spent(team: Team, at: int) -> float:
    """What it has truly spent of its budget then."""
    return 100 * team.spent[at - at % STEP] / team.budget


def test_the_team_that_overspends_is_held_at_100_percent(ran: Ran) -> None:
    eighty, whole = ran.month.crossed["vision", 80], ran.month.crossed["vision", 100]
    assert eighty < whole
    assert 99.9 <= percent_spent(ran.month.teams["vision"], held(ran, "vision")[0]) <= 101
    assert held(ran, "vision", "vision") == held(ran, "vision"), "both of its queues"
    assert not held(ran, "language")
    assert not held(ran, "tabular")


def test_nothing_of_a_team_starts_while_it_is_held_and_only_then(ran: Ran) -> None:
    """The loop is closed: what the keeper does at the API server is what decides whether jobs start."""
    since, till = held(ran, "vision")[0], held(ran, "vision")[-1]
    jobs = ran.month.teams["vision"].jobs
    assert not [job for job in jobs if since < job.start <= till]
    assert [job for job in jobs if since - 86_400 < job.start <= since]
    assert till - since > 86_400, "days in which it wanted to"
    by_person = [job for job in ran.month.teams["tabular"].jobs if job.start > PERSON_HOLDS]
    assert not by_person
    assert [job for job in ran.month.teams["language"].jobs if since < job.start <= till]


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


def test_an_hour_without_prometheus_changes_nothing(ran: Ran) -> None:
    within = [queues for at, queues in ran.history.items() if GAP[0] - 1800 <= at < GAP[1] + 1800]
    assert len(within) > 12
    assert all(queues == within[0] for queues in within)
    assert len([line for line in ran.said if "failed" in line]) == 1


def begun(ran: Ran, start: int, end: int) -> list[str]:
    """The alerts that begin to fire between two moments, by all rules of the stack."""
    return [
        name
        for name, rule in ran.alerts.items()
        for _, since, _ in ran.prometheus.firing(rule, start - 2 * HOUR, end, STEP)
        if name != WATCHDOG and start <= since < end
    ]


def test_an_hour_without_prometheus_is_told_once_from_outside_and_by_nothing_else(ran: Ran, rehearsed: Any) -> None:
    """Nothing evaluates a rule then. What tells is the account's alarm on the watchdog, which stops arriving."""
    (alarm,) = [
        item.inputs
        for item in rehearsed("demo").resources
        if item.type.endswith(":MetricAlarm") and item.inputs["metricName"] == "NumberOfMessagesPublished"
    ]
    period, least = int(alarm["period"]), float(alarm["threshold"])
    published = [at for at in range(GAP[0] - 6 * HOUR, GAP[1] + 6 * HOUR, STEP) if not GAP[0] <= at < GAP[1]]
    states = []
    for at in range(GAP[0] - 5 * HOUR, GAP[1] + 5 * HOUR, period):
        messages = sum(at <= moment < at + period for moment in published)
        states.append(messages < least if messages else alarm["treatMissingData"] == "breaching")
    assert (alarm["comparisonOperator"], alarm["evaluationPeriods"]) == ("LessThanThreshold", 1)
    raised = [now for before, now in pairwise(states) if now and not before]
    assert raised == [True], "one alarm"
    assert not states[0] and not states[-1]
    assert begun(ran, GAP[1], GAP[1] + 6 * HOUR) == []


def test_an_hour_without_kueues_figures_is_one_alert_and_changes_nothing(ran: Ran) -> None:
    assert begun(ran, UNREAD[0], UNREAD[1] + 6 * HOUR) == ["QueueFiguresMissing"]
    within = [queues for at, queues in ran.history.items() if UNREAD[0] - 1800 <= at < UNREAD[1] + 1800]
    assert len(within) > 12 and all(queues == within[0] for queues in within)


def test_a_persons_hold_survives_the_month(ran: Ran) -> None:
    path = queue_path("team-tabular", "tabular")
    assert all(queues[path] == Queue(HOLD, None, "") for at, queues in ran.history.items() if at >= PERSON_HOLDS)


def test_every_decision_is_said_and_an_event(ran: Ran) -> None:
    decisions = [(line["team"], line["policy"]) for line in ran.said if "policy" in line]
    assert decisions == [("vision", HOLD)] * 2 + [("vision", OPEN)] * 2
    assert [event["reason"] for event in ran.server.events] == ["BudgetExceeded"] * 2 + ["BudgetReleased"] * 2
    assert ran.server.applies == 4


# What the month's account says of it


@pytest.fixture(scope="module")
def asked_once() -> Iterator[None]:
    """The first account of the month asks Prometheus, those after it have its answers: the month is over.

    To look through all of it takes the server seconds.
    """
    known: dict[tuple[str, str], Figures] = {}
    asked = read.figures_of

    def figures_of(url: str, month: str, now: float) -> Figures:
        if (url, month) not in known:
            known[url, month] = asked(url, month, now)
        return known[url, month]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(read, "figures_of", figures_of)
        yield


def account(ran: Ran, *arguments: str) -> Any:
    command = ["chargeback", "demo", "--month", "2025-12", "--prometheus", ran.url, "--project", str(ROOT), *arguments]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.usefixtures("asked_once")
def test_the_months_account_is_the_truth(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "month.csv"
    account(ran, "--csv", str(file), "--bill", "50000", "--shared-by", "equal")
    rows = list(csv.DictReader(file.read_text().splitlines()))
    for name in ran.month.teams:
        for flavor in PRICES:
            capacity = flavor.removeprefix("train-")
            (row,) = [row for row in rows if (row["team"], row["capacity"]) == (name, capacity)]
            jobs = [job for job in ran.month.teams[name].jobs if job.flavor == flavor]
            truth = sum(job.gpus * max(0, min(job.end, FIRST) - job.start) / 3600 for job in jobs)
            assert abs(float(row["gpu_hours"]) - truth) <= 0.01 * truth
    gaps = [float(row["usd"]) for row in rows if row["what"] == "not in the lines"]
    assert [gap for gap in gaps if abs(gap) >= 1] == [], "GPU hours at their prices are what was spent, to the dollar"
    spent = sum(counted(ran).values())
    shared = [float(row["usd"]) for row in rows if row["what"].startswith("shared")]
    others = [float(row["usd"]) for row in rows if row["what"] in ("cpu", "volumes")]
    assert shared[0] == shared[1]
    assert abs(sum(shared) + spent + sum(others) - 50_000) < 100, "to half an hour"


@pytest.mark.usefixtures("asked_once")
def test_waits_evictions_nodes_without_gpus_and_volumes_are_the_truth(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "month.json"
    account(ran, "--json", str(file), "--bill", "50000")
    found = json.loads(file.read_text())
    hours = (FIRST - START) / 3600 - 1  # nothing was read in one
    vision = next(team for team in found["teams"] if team["team"] == "vision")
    jobs = [job for job in ran.month.teams["vision"].jobs if job.start < FIRST]
    (wait,) = vision["waits"]
    assert (wait["queue"], abs(wait["jobs"] - len(jobs)) <= 2) == ("vision", True)
    assert 320 < wait["medianSeconds"] <= 640, "600, as far as the histogram knows"
    assert 640 < wait["p95Seconds"] <= 1280, "1140 likewise"
    assert abs(vision["jobsEvicted"]["Preempted"] - sum(job.evicted for job in jobs)) <= 1
    assert vision["cpu"] == pytest.approx(CPU_NODE_USD * 2 / 8 * hours, rel=0.01)
    assert vision["volumes"] == pytest.approx(500 * GIB_MONTH_USD * hours / 730, rel=0.01)
    asked = sum(max(cpu / 8, memory / 32) for cpu, memory in PODS.values())
    assert found["idle"]["CPU nodes"] == pytest.approx((CPU_NODES - asked) * CPU_NODE_USD * hours, rel=0.01)
    assert found["idle"]["GPU nodes"] > 0
    assert found["countedUsd"] + found["notCounted"] == pytest.approx(50_000, abs=0.02)


@pytest.mark.usefixtures("asked_once")
def test_the_page_has_a_part_for_each_team(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "month.html"
    account(ran, "--html", str(file))
    text = file.read_text()
    assert "December 2025" in text
    assert text.count('<section class="team">') == 3, "demo's"
    assert text.count("idle: 30 %") == 3
    assert text.count("<b>10 min</b>") == 3
    assert "What is shared" in text and "idle GPU nodes" in text
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
