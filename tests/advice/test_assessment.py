"""A client's answers: read as they were written, refused where they contradict, and what follows from them."""

from __future__ import annotations

import copy
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.shared import ROOT
from trainyard.advice import recommend
from trainyard.advice.assessed import check_assessment, first_settings, read_assessment, request_of
from trainyard.advice.assessment import answered, assessment_of, assessment_path, assessment_text, questions
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import stack_files

DAY = date(2026, 11, 1)
ANSWERS: dict[str, Any] = {
    "people": {"teamSize": 8, "hourlyUsd": 100},
    "today": {"gpu": "A10G", "gpus": 4, "hoursARun": 72, "waitHoursARun": 5.5},
    "training": {
        "task": "fine-tune", "model": "llama-3-8b", "data": "300M tokens", "runsAMonth": 30, "hoursWanted": 6,
    },
    "where": {"cloud": "aws", "region": "eu-west-1", "residency": "eu"},
    "money": {"monthlyBudgetUsd": 20000},
    "compliance": {"rules": ["ISO 27001", "GDPR"], "logDays": 400},
}  # fmt: skip


def changed(path: str, value: Any) -> dict[str, Any]:
    """The answers with another one; None takes it away."""
    content = copy.deepcopy(ANSWERS)
    part, _, key = path.partition(".")
    if value is None:
        del content[part][key]
    else:
        content[part][key] = value
    return content


def written(folder: Path, content: object) -> Path:
    path = folder / "Pulumi.acme-prod.answers.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_what_is_written_is_read_again_with_every_question(tmp_path: Path) -> None:
    given = read_assessment(written(tmp_path, ANSWERS), DAY)
    path = assessment_path(tmp_path / "Pulumi.acme-prod.yaml")
    text = assessment_text(given, "acme-prod")
    path.write_text(text)
    assert read_assessment(path, DAY) == given
    assert "  # How many people train models?\n  teamSize: 8\n" in text
    assert stack_files(tmp_path) == [], "answers are no stack"


def test_an_answer_that_was_not_given_is_not_there() -> None:
    least = {
        "people": {"teamSize": 3},
        "training": {"task": "tabular"},
        "where": {"cloud": "aws", "region": "us-east-1"},
    }
    given = assessment_of(least)
    check_assessment(given, DAY)
    assert yaml.safe_load(assessment_text(given, "s")) == {
        "people": {"teamSize": 3},
        "training": {"task": "tabular", "epochs": 1},
        "where": {"cloud": "aws", "region": "us-east-1", "residency": "none"},
    }
    assert [question.path for question, _ in answered(given)] == [
        "people.teamSize", "training.task", "training.epochs", "where.cloud", "where.region",
    ]  # fmt: skip


def test_a_report_tells_each_answer_with_its_question() -> None:
    told = {question.path: answer for question, answer in answered(assessment_of(ANSWERS))}
    assert told["compliance.rules"] == "ISO 27001, GDPR"
    assert told["money.monthlyBudgetUsd"] == "20,000"
    assert told["today.waitHoursARun"] == "5.5"
    assert all(question.text.endswith("?") for question in questions())


@pytest.mark.parametrize(
    ("path", "value", "key", "said"),
    [
        ("people.teamSize", 0, "people.teamSize", "must be at least 1"),
        ("people.teamsize", 8, "people.teamsize", "did you mean teamSize?"),
        ("where.cloud", "awss", "where.cloud", "did you mean aws?"),
        ("where.region", "eu-west-9", "where.region", "must be one of"),
        ("where.region", "us-east-1", "where.region", "data must not leave eu"),
        ("where.residency", "uae", "where.region", "data must not leave uae: must be one of me-central-1"),
        ("training.model", "lama-3-8b", "training.model", "did you mean llama-3-8b?"),
        ("training.model", None, "training.model", "give"),
        ("training.data", "300M tokns", "training.data", "like 200GB, 300B tokens or 1.28M images"),
        ("training.data", "5M images", "training.data", "counts --tokens"),
        ("training.data", None, "training.data", "give either"),
        ("training.task", "vision", "training.task", "is an architecture for language"),
        ("training.runsAMonth", 60, "training.runsAMonth", "60 runs of 72 h are 4,320 h of a GPU at least"),
        ("today.gpus", None, "today.gpus", "say how many A10G there are"),
        ("today.hoursARun", "long", "today.hoursARun", "must be a number"),
    ],
)
def test_what_cannot_be_is_refused_by_the_question(tmp_path: Path, path: str, value: Any, key: str, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_assessment(written(tmp_path, changed(path, value)), DAY)
    found = [str(problem) for problem in refused.value.problems if problem.key == key]
    assert any(said in text for text in found), refused.value.problems


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("training.runsAMonth", 40),  # 2,880 of the 2,920 hours that four GPUs have
        ("training.model", "8B"),
        ("training.data", "2GB"),
        ("where.residency", "none"),
        ("where.residency", None),
        ("today.hoursARun", None),
        ("money.monthlyBudgetUsd", None),
    ],
)
def test_what_can_be_is_taken(tmp_path: Path, path: str, value: Any) -> None:
    read_assessment(written(tmp_path, changed(path, value)), DAY)


@pytest.mark.parametrize("content", [[], "text", None])
def test_what_is_no_mapping_is_told(tmp_path: Path, content: object) -> None:
    with pytest.raises(SettingsError, match="must be a mapping with the keys people, today"):
        read_assessment(written(tmp_path, content), DAY)


def test_what_follows_for_the_recommender_and_for_the_stack() -> None:
    given = assessment_of(ANSWERS)
    request = request_of(given, DAY)
    assert (request.architecture, request.params, request.tokens) == ("llama-3-8b", None, 300e6)
    assert (request.deadline_hours, request.monthly_runs, request.budget_usd) == (6, 30, 20000)
    best = recommend(request).best
    assert best is not None and best.meets_deadline and best.in_budget
    assert request_of(assessment_of(changed("training.runsAMonth", None)), DAY).budget_usd is None, "of a month"
    assert first_settings(given) == {
        "cloud": "aws", "region": "eu-west-1", "teamSize": 8, "monthlyBudgetUsd": 20000, "residency": "eu",
        "logRetentionDays": 400,
    }  # fmt: skip


def test_the_answers_of_the_guide_can_be() -> None:
    text = (ROOT / "docs" / "how-to" / "serve-many-clients.md").read_text()
    [block] = re.findall(r"^```yaml\n(people:.*?)^```", text, flags=re.M | re.S)
    check_assessment(assessment_of(yaml.safe_load(block)), DAY)
