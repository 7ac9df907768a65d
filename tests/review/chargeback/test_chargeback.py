"""A month's account: sums, shares, what does not add up, and what a user gets wrong."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.account.answers import aws, refusal
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.review.chargeback import read
from trainyard.review.chargeback.aws_bill import bill_of
from trainyard.review.chargeback.document import as_document
from trainyard.review.chargeback.model import Figures, Flavor, Team, Wait, account_of, merged
from trainyard.review.chargeback.read import NoFigures, figures_of, span_of
from trainyard.review.chargeback.report import as_csv, as_html, gaps, shares

TEAMS = (Team("vision", "team-vision", ("vision",), 1000), Team("speech", "team-speech", ("speech",), 3000))
FLAVORS = (Flavor("train-spot", "train", "spot", 1.0, 3.0), Flavor("train-reserved", "train", "reserved", 2.5, 3.0))
FIGURES = Figures(
    spent_usd={"vision": 600.0, "speech": 200.0},
    held_hours={("vision", "train-spot"): 100.0, ("vision", "train-reserved"): 200.0, ("speech", "train-spot"): 200.0},
    active_hours={"team-vision": 150.0},
    ended={("team-vision", "Succeeded"): 9, ("team-vision", "Failed"): 1},
    waits={"vision": Wait(10, 90.0, 60.0, 600.0)},
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
    teams = [replace(team, queues=(team.name, f"{team.name}-off-peak")) for team in TEAMS[:1]]
    found = account_of("demo", "2026-12", [*teams, TEAMS[1]], FLAVORS, replace(FIGURES, held_hours=held))
    vision, speech = found.accounts
    assert {line.flavor.name: line.hours for line in vision.lines} == {"train-spot": 100.0, "train-reserved": 240.0}
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


WHOLE = replace(
    FIGURES,
    cpu_usd={"team-vision": 30.0, "monitoring": 20.0},
    volume_usd={"team-speech": 10.0, "monitoring": 5.0},
    idle_usd={"GPU nodes": 90.0, "CPU nodes": 45.0},
    evicted={("vision", "Preempted"): 3, ("speech", "NodeFailures"): 0},
)


def test_what_adds_up_is_told_nothing_of() -> None:
    assert gaps(account(WHOLE, bill_usd=1000.0)) == []


def test_nodes_without_gpus_and_volumes_are_charged_and_what_is_idle_is_shared() -> None:
    found = account(WHOLE, key="equal")
    vision, speech = found.accounts
    assert (vision.cpu_usd, vision.volume_usd, vision.direct_usd) == (30.0, 0.0, 630.0)
    assert (speech.cpu_usd, speech.volume_usd, speech.direct_usd) == (0.0, 10.0, 210.0)
    assert (found.platform_usd, found.shared_usd) == (25.0, 160.0), "without a bill: idle nodes and the platform"
    assert [one.shared_usd for one in found.accounts] == [80.0, 80.0]
    assert vision.together_usd == 710.0
    assert found.counted_usd == 1000.0
    assert (vision.evicted, speech.evicted) == ({"Preempted": 3}, {})


SLICES = Flavor("v6e-spot", "v6e", "spot", 1.5, 2.5, "chip")
OF_CHIPS = replace(
    WHOLE,
    spent_usd={"vision": 900.0, "speech": 200.0},
    held_chip_hours={("vision", "v6e-spot"): 200.0, ("nobody", "v6e-spot"): 50.0},
    idle_usd={**WHOLE.idle_usd, "TPU nodes": 12.0},
)


def with_chips(figures: Figures = OF_CHIPS, *flavors: Flavor, **changes: Any) -> Any:
    return account_of("demo", "2026-12", TEAMS, (*FLAVORS, *(flavors or (SLICES,))), figures, **changes)


def test_chips_are_lines_of_their_own_and_never_gpu_hours() -> None:
    found = with_chips()
    vision, speech = found.accounts
    assert (vision.gpu_hours, vision.chip_hours, speech.chip_hours, found.chip_hours) == (300.0, 200.0, 0.0, 200.0)
    assert (vision.spot_hours, vision.idle_share) == (100.0, 0.5), "of GPUs, as without chips"
    assert vision.saved_usd == 200.0 + 200.0, "spot of chips is saved money too"
    assert vision.gap_usd == 0.0 and gaps(with_chips(bill_usd=found.counted_usd)) == []
    assert dict(shares(found))["idle TPU nodes"] == 12.0
    chips, none = (list(csv.DictReader(as_csv(one).splitlines())) for one in (found, account(WHOLE)))
    (row,) = [row for row in chips if row["what"] == "chips"]
    assert (row["chip_hours"], row["usd_per_chip_hour"], row["gpu_hours"], row["usd"]) == (
        "200.00",
        "1.5000",
        "",
        "300.00",
    )
    assert "chip_hours" not in none[0]
    assert "chip" not in as_html(account(WHOLE)).replace("chips {", "")
    (told,) = [line for line in as_document(found)["teams"][0]["lines"] if "chipHours" in line]
    assert (told["chipHours"], told["usdPerChipHour"], "gpuHours" in told) == (200.0, 1.5, False)


def test_what_is_not_known_of_chips_is_told() -> None:
    unpriced = gaps(with_chips(OF_CHIPS, replace(SLICES, usd=None)))
    assert any("200 chip hours of v6e-spot, which has no price" in gap for gap in unpriced)
    assert any("GPU and chip hours" in gap for gap in unpriced), "so the lines are less than was spent"
    nowhere = replace(OF_CHIPS, idle_usd=WHOLE.idle_usd)
    assert any("stood idle of TPU nodes" in gap for gap in gaps(with_chips(nowhere)))
    assert not any("TPU" in gap for gap in gaps(account(WHOLE))), "a stack without slices has none"
    assert any("chipHourUsd" in gap for gap in gaps(with_chips(bill_usd=10.0)))


def test_chips_of_slices_that_are_gone_are_counted_by_the_months_price() -> None:
    vision = account(replace(OF_CHIPS, prices_usd={"v6e-spot": 1.0})).accounts[0]
    (line,) = [line for line in vision.lines if line.flavor.unit == "chip"]
    assert (line.hours, line.usd, vision.chip_hours) == (200.0, 200.0, 200.0)
    assert account(OF_CHIPS).counts_chips


@pytest.mark.parametrize(("bill", "rest"), [(1300.0, 300.0), (900.0, -100.0)])
def test_the_parts_of_what_is_shared_are_the_whole_and_all_is_the_bill(bill: float, rest: float) -> None:
    found = account(WHOLE, bill_usd=bill)
    parts = dict(shares(found))
    assert sum(parts.values()) == found.shared_usd == bill - 840.0
    assert found.uncounted_usd == rest
    assert sum(one.together_usd or 0.0 for one in found.accounts) == pytest.approx(bill)
    assert any(f"{abs(rest):,.0f} USD" in gap for gap in gaps(found)), "by how much it does not add up"


def test_waits_are_by_queue_and_their_mean_by_the_jobs_of_each() -> None:
    teams = (replace(TEAMS[0], queues=("vision", "vision-off-peak")), TEAMS[1])
    waits = {"vision": Wait(30, 100.0, 60.0, 600.0), "vision-off-peak": Wait(10, 20_000.0, 19_000.0, 40_000.0)}
    vision, speech = account_of("demo", "2026-12", teams, FLAVORS, replace(FIGURES, waits=waits)).accounts
    assert list(vision.waits) == ["vision", "vision-off-peak"]
    assert vision.wait_seconds == 5075.0
    assert speech.wait_seconds is None
    text = as_html(account_of("demo", "2026-12", teams, FLAVORS, replace(FIGURES, waits=waits)))
    assert '<td>vision-off-peak</td><td class="n">10</td><td class="n">5.3 h</td><td class="n">11 h</td>' in text


def test_the_clusters_of_a_stack_are_one_account() -> None:
    burst = Figures(
        spent_usd={"vision": 50.0},
        held_hours={("vision", "burst-spot"): 50.0},
        ended={("team-vision", "Failed"): 1},
        waits={"vision": Wait(1, 10.0, 10.0, 10.0)},
        course={"vision": ((FIGURES.course["vision"][0][0], 50.0),)},
        budgets_usd={"vision": 400.0},
        prices_usd={"burst-spot": 1.0},
        coverage=0.9,
    )
    own = replace(FIGURES, budgets_usd={"vision": 600.0, "speech": 3000.0})
    teams = tuple(replace(team, queues=(f"a/{team.name}", f"b/{team.name}")) for team in TEAMS)
    flavors = [replace(one, name=f"a/{one.name}") for one in FLAVORS] + [
        Flavor("b/burst-spot", "b/burst", "spot", 1.0, 3.0)
    ]
    found = account_of("demo", "2026-12", teams, flavors, merged({"a": own, "b": burst}))
    vision = found.accounts[0]
    assert (vision.spent_usd, vision.team.budget_usd, vision.gpu_hours, vision.failed) == (650.0, 1000, 350.0, 2)
    assert not vision.has_gap
    assert list(vision.waits) == ["a/vision", "b/vision"]
    assert vision.course[0][1] == 1150.0
    assert found.coverage == 0.9, "the least of theirs"


# What AWS has billed

COSTS = {"Start": "2026-12-01", "End": "2027-01-01"}


def page(token: str = "", **services: str) -> dict[str, Any]:
    groups = [
        {"Keys": [service], "Metrics": {"UnblendedCost": {"Amount": usd, "Unit": "USD"}}}
        for service, usd in services.items()
    ]
    more = {"NextPageToken": token} if token else {}
    return {"ResultsByTime": [{"TimePeriod": COSTS, "Groups": groups, "Estimated": True}], **more}


def test_the_bill_is_all_pages_of_what_has_the_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def answer(parameters: Any) -> Any:
        asked.append(parameters)
        return page(EC2="12.5") if "NextPageToken" in parameters else page("more", EC2="100", S3="7.5")

    with aws(monkeypatch, {"ce.GetCostAndUsage": answer}) as found:
        bill = bill_of(found, "2026-12", ("project", "acme-demo"), span_of("2027-02")[0])
    assert (bill.usd, bill.by_service, bill.estimated) == (120.0, {"EC2": 112.5, "S3": 7.5}, True)
    assert asked[0]["TimePeriod"] == COSTS
    assert asked[0]["Filter"]["And"][0] == {"Tags": {"Key": "project", "Values": ["acme-demo"]}}


def test_of_a_month_that_runs_what_was_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    with aws(monkeypatch, {"ce.GetCostAndUsage": lambda given: asked.append(given) or page()}) as found:
        bill_of(found, "2026-12", ("project", "x"), span_of("2026-12")[0] + 3600)
        with pytest.raises(ValueError, match="has not begun"):
            bill_of(found, "2027-01", ("project", "x"), span_of("2026-12")[0] + 3600)
    assert asked[0]["TimePeriod"] == {"Start": "2026-12-01", "End": "2026-12-02"}


def billed(monkeypatch: pytest.MonkeyPatch, answer: Any) -> str:
    monkeypatch.setattr(read, "_get", lambda _, what, arguments: _answer(what, arguments))
    with aws(monkeypatch, {"ce.GetCostAndUsage": answer}) as found:
        monkeypatch.setattr("trainyard.account.aws.account_of", lambda *_: found)
        done = chargeback("--month", "2025-12", "--bill-from-account")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return f"{done.exit_code} {' '.join(done.output.split())}"


def _answer(what: str, arguments: Any) -> list[Any]:
    """A Prometheus that has counted the month and knows of no GPU that was held."""
    return [{"metric": {}, "value": [0, "8928"]}] if "count_over_time" in arguments["query"] else []


def test_the_account_is_asked_where_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "1,200 USD of the bill (100 %) were counted nowhere" in billed(monkeypatch, page(EC2="1200"))
    assert "2 error: --bill-from-account: the identity may not" in billed(
        monkeypatch, refusal("AccessDeniedException", "no")
    )
    assert "AWS has billed nothing with the tag project=" in billed(monkeypatch, {"ResultsByTime": []})


@pytest.mark.parametrize(
    ("figures", "bill", "words"),
    [
        (replace(FIGURES, coverage=0.5), 1000.0, "50 % of the month"),
        (replace(FIGURES, spent_usd={"vision": 650.0, "speech": 200.0}), 1000.0, "vision: 50 USD between"),
        (replace(FIGURES, spent_usd={"vision": 600.0}), 1000.0, "speech: the ledger has no figure"),
        (FIGURES, 700.0, "100 USD more were counted than billed (14 %)".replace("14", "12")),
        (FIGURES, 1000.0, "200 USD of the bill (20 %) were counted nowhere"),
        (FIGURES, 1000.0, "Nothing measured what stood idle of GPU nodes and CPU nodes"),
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
    assert as_document(account())["sharedBy"] is None, "nothing is shared without a bill or a measure"
    whole = as_document(account(WHOLE, bill_usd=1300.0))
    assert (whole["countedUsd"], whole["notCounted"], whole["idle"]["GPU nodes"]) == (1000.0, 300.0, 90.0)
    assert (whole["teams"][0]["waits"][0]["p95Seconds"], whole["teams"][0]["jobsEvicted"]) == (600.0, {"Preempted": 3})


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
        (("--prometheus", "other=http://localhost:9090"), "no cluster other counts anything; there is acme-demo"),
        (("--prometheus", "http://a:1", "--prometheus", "http://b:1"), "has one already"),
        (("--bill", "5", "--bill-from-account"), "only one of them"),
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
