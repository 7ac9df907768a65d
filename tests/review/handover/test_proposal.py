"""The proposal, and what changes: by the estimator and the recommender, with nothing counted that nobody told."""

from __future__ import annotations

import copy
import math
import re
from dataclasses import replace
from datetime import date

import pytest

from tests.review.handover.pages import assert_sound, cover_of, handed, sections_of, words_of
from tests.review.handover.test_page import of_recorded
from trainyard.advice import estimate, recommend
from trainyard.advice.assessed import request_of
from trainyard.advice.assessment import answered, assessment_of
from trainyard.advice.hardware import machine_of_type, nodes_with
from trainyard.advice.onprem import compare
from trainyard.advice.ranges import Range
from trainyard.advice.units import duration
from trainyard.review.handover.agency import NOBODY, Agency, Look
from trainyard.review.handover.engagement import before_after, headline, otherwise, spread, target_wait_hours
from trainyard.review.handover.handover import handover
from trainyard.review.handover.page import as_html
from trainyard.review.handover.payback import payback
from trainyard.review.handover.proposal import PHASES, proposal
from trainyard.review.handover.subject import Subject
from trainyard.review.verdict import dollars

DAY = date(2026, 11, 23)
ANSWERS = {
    "people": {"teamSize": 8, "hourlyUsd": 95},
    "today": {"gpu": "A10G", "gpus": 1, "hoursARun": 72, "waitHoursARun": 6, "spendUsd": 2500},
    "training": {
        "task": "fine-tune", "model": "llama-3-8b", "data": "60M tokens", "epochs": 2, "runsAMonth": 9,
        "hoursWanted": 12,
    },
    "where": {"cloud": "aws", "region": "us-east-1"},
    "money": {"monthlyBudgetUsd": 40000},
}  # fmt: skip
AGENCY = Agency.model_validate(
    {
        "name": "Northwind AI",
        "waitingPercent": 25,
        "prices": {"assessment": [15000, 35000], "build": [60000, 150000], "operationsAMonth": [8000, 12000]},
    }
)


def answers(**changes):
    """The answers with other ones, by `part__key`; None takes one away."""
    content = copy.deepcopy(ANSWERS)
    for path, value in changes.items():
        part, key = path.split("__")
        content.setdefault(part, {})[key] = value
        if value is None:
            del content[part][key]
    return assessment_of(content)


@pytest.fixture(scope="module")
def demo(request):
    return of_recorded(request.getfixturevalue("rehearsed")("demo"))


@pytest.fixture(scope="module")
def small(request):
    return of_recorded(request.getfixturevalue("rehearsed")("small-aws"))


def subject(review, given=None):
    return Subject(review, DAY, answers=given)


def proposed(review, given, agency=AGENCY):
    told = subject(review, given)
    return as_html(proposal(told, given, agency), told, Look(agency))


def test_hours_before_and_after_are_the_estimators(demo):
    given = answers()
    found = before_after(subject(demo), given, DAY)
    assert found.before.hours == Range(72, 72, 72) and found.before.how == "as you told us"
    request = replace(request_of(given, DAY), deadline_hours=None, monthly_runs=None, budget_usd=None)
    hours = {one.name: one.hours for one in found.after}
    assert hours["pool train"] == estimate(request, machine_of_type("aws", "p4d.24xlarge"), 2).hours
    assert hours["pool tune"] == estimate(request, machine_of_type("aws", "g6e.12xlarge"), 2).hours
    assert [one.name for one in found.after][-1] == "pool dev" and found.after[-1].hours is None
    assert found.best.name == "pool train"
    assert f"takes 72 h today takes {duration(found.best.hours)} on pool train" in headline(found)
    saved = found.saved_hours
    assert saved.typical == pytest.approx(72 - found.best.hours.typical + 6 - target_wait_hours())
    assert saved.low <= saved.typical <= saved.high and target_wait_hours() == 0.5


def test_hours_that_were_not_told_are_estimated_of_todays_gpus(demo):
    given = answers(today__hoursARun=None, today__gpu="H100", today__gpus=8)
    found = before_after(subject(demo), given, DAY)
    machine, nodes, _ = nodes_with("H100", 8)
    request = replace(request_of(given, DAY), deadline_hours=None, monthly_runs=None, budget_usd=None)
    sold = next(iter(machine.regions), None)
    assert found.before.hours == estimate(replace(request, region=sold), machine, nodes).hours
    assert found.before.how == "estimated"


@pytest.mark.parametrize(
    "changes",
    [
        {"today__hoursARun": None, "today__gpu": None, "today__gpus": None},
        {"today__hoursARun": None, "today__gpu": "no-such-gpu"},
        {"today__hoursARun": None},  # one A10G does not hold it
    ],
)
def test_where_today_is_not_known_nothing_is_claimed(demo, changes):
    given = answers(**changes)
    found = before_after(subject(demo), given, DAY)
    assert found.before.hours is None and found.before.refusal
    assert headline(found) == "" and found.saved_hours is None and found.speedup is None
    assert_sound(proposed(demo, given))


def test_an_environment_that_is_slower_is_not_praised(demo):
    found = before_after(subject(demo), answers(today__hoursARun=0.1), DAY)
    assert "slower" in headline(found)
    assert 'class="verdict good"' not in proposed(demo, answers(today__hoursARun=0.1))


def test_managed_training_is_compared_by_its_types(small):
    found = before_after(subject(small), answers(), DAY)
    assert found.best is not None and found.best.name.startswith("ml.") and found.best.usd is not None
    text = proposed(small, answers())
    assert_sound(text)
    assert "jobs on top" in cover_of(text) and "by the hour" in sections_of(text)["costs"]


def test_payback_adds_up(demo):
    given = answers()
    found = before_after(subject(demo), given, DAY)
    paid = payback(found, given, demo.cost, AGENCY)
    lines = {line.what: line.usd for line in paid.lines}
    assert lines["Training as today falls away"] == Range(2500, 2500, 2500)
    assert lines["Hours that people get back"].typical == pytest.approx(found.saved_hours.typical * 9 * 95 * 0.25)
    assert lines["The environment"].typical == pytest.approx(-(demo.cost.total.floor + 9 * found.best.usd.typical))
    assert lines["The environment"].low == pytest.approx(-demo.cost.high_usd)
    for end in ("low", "typical", "high"):
        assert getattr(paid.monthly, end) == pytest.approx(sum(getattr(usd, end) for usd in lines.values()))
    assert paid.once == Range(75000, 130000, 185000)
    assert math.isinf(paid.months.typical) and not paid.missing, "demo pays for reserved GPUs around the clock"


def test_payback_in_months_where_a_month_saves(small):
    given = answers()
    found = before_after(subject(small), given, DAY)
    paid = payback(found, given, small.cost, AGENCY)
    assert paid.months.typical == pytest.approx(paid.once.typical / paid.monthly.typical)
    assert paid.months.low < paid.months.typical < paid.months.high
    text = proposed(small, given)
    assert f"until it has paid for itself {paid.months.typical:.0f} months" in words_of(text)
    told = sections_of(text)["payback"]
    assert dollars(paid.monthly.typical) in told and "75,000 to 185,000 USD once" in told


@pytest.mark.parametrize(
    ("changes", "agency", "left_out"),
    [
        ({"people__hourlyUsd": None}, AGENCY, "people.hourlyUsd"),
        ({"training__runsAMonth": None}, AGENCY, "training.runsAMonth"),
        ({"today__spendUsd": None}, AGENCY, "today.spendUsd"),
        ({}, AGENCY.model_copy(update={"waiting_percent": None}), "agency.waitingPercent"),
    ],
)
def test_what_nobody_told_is_not_counted_and_is_named(demo, changes, agency, left_out):
    given = answers(**changes)
    paid = payback(before_after(subject(demo), given, DAY), given, demo.cost, agency)
    assert [one for one in paid.missing if left_out in one]
    counted = {line.what for line in paid.lines}
    assert ("Training as today falls away" in counted) == (left_out != "today.spendUsd")
    assert ("Hours that people get back" in counted) == (left_out == "today.spendUsd")
    assert left_out in sections_of(proposed(demo, given, agency))["payback"]


def test_without_prices_there_is_no_payback_and_no_price_of_the_work(demo):
    text = proposed(demo, answers(), Agency(name="N"))
    assert_sound(text)
    assert "payback" not in sections_of(text) and "USD, once" not in words_of(text)
    assert PHASES[0].name in sections_of(text)["work-plan"] and "18 weeks" in cover_of(text)


def test_the_agencys_own_plan_of_work_stands_in_place_of_the_guides(demo):
    own = Agency.model_validate({"name": "N", "phases": [{"name": "Sprint", "weeks": 2, "work": ["all"]}]})
    text = proposed(demo, answers(), own)
    assert "Sprint 1 to 2 all" in sections_of(text)["work-plan"] and "2 weeks" in cover_of(text)
    assert PHASES[0].name not in words_of(text)


def test_sizes_and_options_are_the_recommenders(demo):
    given = answers()
    found = recommend(request_of(given, DAY))
    compared = compare(found, {})
    sections = sections_of(proposed(demo, given))
    for option in found.options[:6]:
        assert f"{option.nodes} × {option.machine.type} " in sections["sizes"]
        assert duration(option.hours) in sections["sizes"]
    for way in compared.ways:
        assert way.name in sections["options"] and dollars(way.monthly_usd.typical) in sections["options"]
    for note in found.assumptions:
        assert note[1:].replace("`", "") in sections["basis-of-it"]


def test_the_money_of_a_proposal_is_the_verdicts(demo):
    text, money = proposed(demo, answers()), demo.verdict.money
    assert_sound(text)
    idle, expected = dollars(money.idle), dollars(money.expected)
    assert f"expected a month; {idle} while nothing runs {expected} USD" in cover_of(text)
    assert dollars(money.at_most) in sections_of(text)["costs"]
    assert "sound" not in cover_of(text).lower(), "nothing exists that could be"


def test_a_training_for_which_nothing_can_be_recommended_is_told(demo):
    text = proposed(demo, answers(training__hoursWanted=0.1))
    assert_sound(text)
    assert "What comes closest" in sections_of(text)["sizes"] and "options" not in sections_of(text)


def test_answers_are_told_with_their_questions_in_both_documents(demo):
    given = answers()
    handover = handed(subject(demo, given), Look(AGENCY))
    for text in (handover, proposed(demo, given)):
        told = sections_of(text)["answers"]
        for question, value in answered(given):
            assert f"{question.text} {value}" in told
    assert "times as fast" in sections_of(handover)["change"]
    assert "change" not in sections_of(handed(subject(demo), Look(AGENCY)))


def test_money_of_a_proposal_is_written_as_a_client_reads_it(demo):
    """No `1.03k (388-6.12k)`, which is the recommender's way in a terminal."""
    text = proposed(demo, answers())
    shortened = re.compile(r"\b\d+(\.\d+)?k\b")
    assert shortened.search("1.03k (388-6.12k)")
    sections = sections_of(text)
    for key in ("change", "sizes", "options", "costs", "have"):
        assert not shortened.search(sections[key]), (key, shortened.search(sections[key]))
    assert "trainyard preflight" not in words_of(text), "a command of the agency's own"
    assert spread(Range(388, 1031, 6120)) == "1,031 (388\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}6,120)"


def test_what_the_client_answered_otherwise_is_told_to_the_agency(demo):
    planned = subject(demo).planned("core", "team_size")
    alike = answers(people__teamSize=planned)
    assert otherwise(subject(demo), alike) == ()
    (told,) = otherwise(subject(demo), answers(people__teamSize=planned + 1))
    assert told == f"people: the client answered {planned + 1}, the stack has {planned}"
    away = answers(people__teamSize=planned, where__region="eu-west-1")
    assert otherwise(subject(demo), away) == ("the region: the client answered eu-west-1, the stack has us-east-1",)


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ((72, 72, 72), (6, 8, 9), "8 to 12 times as fast"),
        ((72, 72, 72), (8, 8, 8), "9 times as fast"),
        ((10, 20, 30), (9, 10, 12), "up to 3.3 times as fast"),
        ((500, 590, 680), (8, 10, 12), "42 to 85 times as fast"),
        ((72, 72, 72), (60, 72, 80), "about as fast"),
        ((7, 7, 7), (60, 72, 80), "slower"),
    ],
)
def test_how_much_faster_is_told_as_far_as_both_figures_are_known(demo, then, now, said):
    found = before_after(subject(demo), answers(today__hoursARun=72), DAY)
    before, (best, *_) = found.before, found.after
    told = replace(found, before=replace(before, hours=Range(*then)), after=(replace(best, hours=Range(*now)),))
    assert said in headline(told)


def test_a_client_s_name_is_written_as_documents_write_it(demo):
    named = replace(subject(demo), called="Globex Robotics & Söhne")
    assert named.title.startswith("Globex Robotics & Söhne · ")
    assert "Globex Robotics & Söhne" in cover_of(as_html(handover(named), named, Look(NOBODY)))
