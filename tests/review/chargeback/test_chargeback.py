"""A month's account: sums, shares, what does not add up, and what a user gets wrong."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.review.chargeback.document import as_document
from trainyard.review.chargeback.model import Figures, Flavor, Team, account_of
from trainyard.review.chargeback.read import NoFigures, figures_of, span_of
from trainyard.review.chargeback.report import as_csv, as_html, gaps

TEAMS = (Team("vision", "team-vision", "vision", 1000), Team("speech", "team-speech", "speech", 3000))
FLAVORS = (Flavor("train-spot", "train", "spot", 1.0, 3.0), Flavor("train-reserved", "train", "reserved", 2.5, 3.0))
FIGURES = Figures(
    spent_usd={"vision": 600.0, "speech": 200.0},
    held_hours={("vision", "train-spot"): 100.0, ("vision", "train-reserved"): 200.0, ("speech", "train-spot"): 200.0},
    active_hours={"team-vision": 150.0},
    ended={("team-vision", "Succeeded"): 9, ("team-vision", "Failed"): 1},
    wait_seconds={"vision": 90.0},
    course={"vision": ((span_of("2026-12")[0] + 86_400, 1100.0),)},
    coverage=1.0,
)


def account(figures: Figures = FIGURES, **changes: Any) -> Any:
    return account_of("demo", "2026-12", TEAMS, FLAVORS, figures, **changes)


def test_a_teams_month() -> None:
    vision, speech = account().accounts
    assert (vision.gpu_hours, vision.spot_hours, vision.saved_usd) == (300.0, 100.0, 200.0)
    assert vision.idle_share == 0.5
    assert vision.gap_usd == 0.0
    assert vision.gone_at == span_of("2026-12")[0] + 86_400
    assert speech.idle_share is None, "no exporter said, which is not that all was idle"
    assert speech.gone_at is None


def test_what_is_held_by_night_counts_to_the_team_too() -> None:
    held = {**FIGURES.held_hours, ("vision-off-peak", "train-reserved"): 40.0, ("speech-off-peak", "train-spot"): 5.0}
    teams = [replace(team, off_peak_queue=f"{team.name}-off-peak") for team in TEAMS[:1]]
    found = account_of("demo", "2026-12", [*teams, TEAMS[1]], FLAVORS, replace(FIGURES, held_hours=held))
    vision, speech = found.accounts
    assert {line.flavor.name: line.gpu_hours for line in vision.lines} == {"train-spot": 100.0, "train-reserved": 240.0}
    assert speech.gpu_hours == 200.0, "a queue that the plan does not know is nobody's"


@pytest.mark.parametrize(
    ("key", "shares"), [("spent", [900.0, 300.0]), ("budget", [300.0, 900.0]), ("equal", [600.0, 600.0])]
)
def test_what_no_team_held_is_divided_by_a_key(key: Any, shares: list[float]) -> None:
    found = account(bill_usd=2000.0, key=key)
    assert [one.shared_usd for one in found.accounts] == shares
    assert found.spent_usd + sum(shares) == 2000.0


def test_nothing_spent_is_divided_evenly() -> None:
    found = account(replace(FIGURES, spent_usd={}), bill_usd=100.0)
    assert [one.shared_usd for one in found.accounts] == [50.0, 50.0]


def test_the_months_own_budgets_and_prices_go_before_the_plans() -> None:
    found = account(replace(FIGURES, budgets_usd={"vision": 500.0}, prices_usd={"train-spot": 2.0}))
    assert [one.team.budget_usd for one in found.accounts] == [500, 3000]
    assert found.accounts[1].lines[0].usd == 400.0


def test_what_adds_up_is_told_nothing_of() -> None:
    assert gaps(account(bill_usd=1000.0)) == []


@pytest.mark.parametrize(
    ("figures", "bill", "words"),
    [
        (replace(FIGURES, coverage=0.5), 1000.0, "50 % of the month"),
        (replace(FIGURES, spent_usd={"vision": 650.0, "speech": 200.0}), 1000.0, "vision: 50 USD between"),
        (replace(FIGURES, spent_usd={"vision": 600.0}), 1000.0, "speech: the ledger has no figure"),
        (FIGURES, 700.0, "100 USD more than was billed"),
        (FIGURES, None, "No bill was given"),
        (replace(FIGURES, held_hours={("vision", "old-spot"): 5.0}), 1000.0, "old-spot, which has no price"),
    ],
)
def test_what_does_not_add_up_is_told(figures: Figures, bill: float | None, words: str) -> None:
    assert any(words in gap for gap in gaps(account(figures, bill_usd=bill)))


def test_the_rows_add_up_to_the_bill() -> None:
    rows = list(csv.DictReader(as_csv(account(bill_usd=1000.0)).splitlines()))
    assert sum(float(row["usd"]) for row in rows) == 1000.0
    assert {row["month"] for row in rows} == {"2026-12"}


def test_the_page_is_one_file_and_names_are_text() -> None:
    found = account(bill_usd=1000.0)
    first = found.accounts[0]
    named = replace(found, accounts=(replace(first, team=replace(first.team, name="<b>x")), found.accounts[1]))
    text = as_html(named)
    assert "&lt;b&gt;x" in text
    assert "<b>x" not in text
    assert not any(word in text for word in ("<script", "http://", "https://"))


def test_the_document_has_what_the_page_has_and_no_figure_is_null() -> None:
    found = as_document(account(replace(FIGURES, spent_usd={"vision": 600.0}), bill_usd=1000.0))
    vision, speech = found["teams"]
    assert json.loads(json.dumps(found)) == found
    assert (found["month"], found["billed"], found["sharedBy"], found["counted"]) == ("2026-12", 1000.0, "spent", 1.0)
    assert (vision["spent"], vision["budget"], vision["gpuHours"], vision["idleShare"]) == (600.0, 1000, 300.0, 0.5)
    assert vision["budgetSpentAt"] == "2026-12-02T00:00:00+00:00"
    assert sum(line["usd"] for line in vision["lines"]) + vision["notInTheLines"] == vision["spent"]
    assert (speech["spent"], speech["notInTheLines"], speech["meanWaitSeconds"]) == (None, None, None)
    assert any("speech: the ledger has no figure" in gap for gap in found["gaps"])
    assert as_document(account())["sharedBy"] is None, "nothing is shared without a bill"


def part_of(text: str, team: str) -> str:
    return text.partition(f"<h2>{team}</h2>")[2].partition("</section>")[0]


def test_the_page_does_not_say_more_than_is_known() -> None:
    text = as_html(account(replace(FIGURES, spent_usd={"vision": 650.0}), bill_usd=1000.0))
    vision, speech = part_of(text, "vision"), part_of(text, "speech")
    assert "not in the lines" in vision, "what the lines lack is beside them"
    assert "The budget was spent on 2 December." in vision
    assert "Whether it kept to its budget is not known" in speech
    assert "Within its budget" not in speech
    assert ">no figure</td><td></td></tr>\n</tfoot>" in speech, "what is not known is no sum"


def test_a_sound_page_has_a_sum_of_all_teams_and_nothing_beside_the_lines() -> None:
    text = as_html(account(bill_usd=1000.0))
    assert '<td>all teams</td><td class="n">800</td><td class="n">4,000</td><td class="n">500</td>' in text
    assert "not in the lines" not in text
    assert "Within its budget." in part_of(text, "speech")


def chargeback(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["chargeback", "demo", *arguments, "--project", str(ROOT)])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--month", "2026-13"), "must be a month, like 2026-12"),
        (("--month", "2999-01"), "2999-01 has not begun"),
        (("--prometheus", "localhost"), "must be an address"),
        (("--month", "2025-12", "--prometheus", "http://127.0.0.1:1"), "Connection refused"),
        (("--html", "-", "--csv", "-"), "only one of them"),
        (("--json", "-", "--csv", "-"), "only one of them"),
    ],
)
def test_what_a_user_gets_wrong_is_said_in_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    done = chargeback(*arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_a_stack_without_a_cluster_has_no_ledger() -> None:
    done = CliRunner().invoke(app, ["chargeback", "small-aws", "--project", str(ROOT)])
    assert done.exit_code == 2
    assert "no ledger" in " ".join(done.output.split())


def test_what_is_no_prometheus_is_told() -> None:
    with pytest.raises(NoFigures, match="refused"):
        figures_of("http://127.0.0.1:1", "2025-12", 2e9)
