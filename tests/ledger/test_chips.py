"""Three days to a month's end of a team that trains on TPU slices: its chips are its money, by the same ledger and the
same keeper as GPUs, and the month's account says so. A team with GPUs beside it goes on."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.ledger.month import FIRST, IDLE_CHIPS_USD, STEP, Month, Team
from tests.ledger.play import HOUR, Ran, played
from tests.ledger.prometheus import needs_prometheus
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.components.k8s.keepers.budgets import OPEN, queue_path
from trainyard.conventions import TPU_RESOURCE
from trainyard.monitoring import names as n

pytestmark = [needs_prometheus, pytest.mark.long]

PRICES = {"v6e-on-demand": 2.75, "v6e-flex-start": 1.5}
DAYS = 3


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    teams = Team("foundation", 1500, 32, PRICES, TPU_RESOURCE), Team("perception", 40_000, 24)
    month = Month(*teams, start=FIRST - DAYS * 86_400)
    with played(tmp_path_factory.mktemp("chips"), month) as found:
        yield found


def held(ran: Ran, team: str) -> list[int]:
    path = queue_path(f"team-{team}", "default")
    return [at for at, queues in ran.history.items() if queues[path].policy != OPEN]


def test_chips_are_counted_at_their_prices_and_gpus_beside_them(ran: Ran) -> None:
    rows = ran.prometheus.range(n.TEAM_SPENT_USD, FIRST - STEP, FIRST - STEP, STEP)
    counted = {labels["team"]: float(values[0][1]) for labels, values in rows}
    for team in ran.month.teams.values():
        truth = team.spent[FIRST]
        assert truth > 1000
        assert abs(counted[team.name] - truth) <= 0.01 * truth, (team.name, counted, truth)


def test_the_team_is_held_at_its_budget_and_let_go_on_the_first(ran: Ran) -> None:
    team, times = ran.month.teams["foundation"], held(ran, "foundation")
    december = [at for at in times if at <= FIRST + 600]
    since, till = december[0], december[-1]
    whole = ran.month.crossed["foundation", 100]
    assert abs(since - whole) <= 2 * STEP
    assert [at for at in ran.history if since <= at <= till] == december and till >= FIRST - 600
    assert not [at for at in times if FIRST + 600 < at < FIRST + 12 * HOUR], (
        "the new month's money is not spent at once"
    )
    assert [job for job in team.jobs if job.start <= since]
    assert not [job for job in team.jobs if since < job.start <= till], "nothing of it starts"
    assert any(job.start >= FIRST for job in team.jobs)
    assert not held(ran, "perception")


def account(ran: Ran, *arguments: str) -> Any:
    command = ["chargeback", "large-gcp", "--month", "2025-12", "--prometheus", ran.url, "--project", str(ROOT)]
    done = CliRunner().invoke(app, [*command, *arguments])
    assert done.exit_code == 0, done.output
    return done


def test_the_account_has_chips_beside_gpus(ran: Ran, tmp_path: Path) -> None:
    files = {name: tmp_path / f"month.{name}" for name in ("csv", "json", "html")}
    account(ran, *(word for name, file in files.items() for word in (f"--{name}", str(file))))
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    team = ran.month.teams["foundation"]
    for flavor, usd in PRICES.items():
        (row,) = [row for row in rows if row["what"] == "chips" and f"{row['pool']}-{row['capacity']}" == flavor]
        jobs = [job for job in team.jobs if job.flavor == flavor]
        truth = sum(job.gpus * max(0, min(job.end, FIRST) - job.start) / 3600 for job in jobs)
        assert row["team"] == "foundation" and not row["gpu_hours"]
        assert abs(float(row["chip_hours"]) - truth) <= 0.01 * truth
        assert float(row["usd_per_chip_hour"]) == usd
    assert {row["team"] for row in rows if row["what"] == "gpus"} == {"perception"}
    gaps = [float(row["usd"]) for row in rows if row["what"] == "not in the lines" and row["usd"]]
    assert [gap for gap in gaps if abs(gap) >= 1] == [], "hours at their prices are what was spent"
    told = json.loads(files["json"].read_text())
    foundation = next(one for one in told["teams"] if one["team"] == "foundation")
    assert foundation["gpuHours"] == 0 and foundation["idleShare"] is None
    assert foundation["chipHours"] == pytest.approx(sum(line["chipHours"] for line in foundation["lines"]), abs=0.05)
    assert told["idle"]["TPU nodes"] == pytest.approx(IDLE_CHIPS_USD * 24 * DAYS, rel=0.02)
    page = files["html"].read_text()
    assert "chip hours" in page and "of chips" in page and "of GPUs" in page
    assert "Nothing measured what stood idle of TPU nodes" not in page


def test_the_terminal_has_a_column_of_chips(ran: Ran) -> None:
    assert "chip hours" in account(ran).output
