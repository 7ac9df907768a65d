"""`trainyard assess`: asked at a terminal, written for a client to fill in, read again."""

from __future__ import annotations

from pathlib import Path

import yaml
from typer.testing import CliRunner, Result

from tests.advice.test_assessment import ANSWERS
from tests.cli.test_new import typed
from trainyard.advice.assessment import questions
from trainyard.cli.main import app


def assess(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["assess", *arguments], input=said)


def test_what_was_asked_is_written_and_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    done = assess(str(file), said=typed())
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(file.read_text())["training"]["model"] == "resnet-50"
    assert assess(str(file), "--check").exit_code == 0
    again = assess(str(file), said=typed())
    assert (again.exit_code, "is there already" in again.output) == (2, True)


def test_a_blank_file_asks_every_question_and_is_read_when_it_is_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    assert assess(str(file), "--blank").exit_code == 0
    text = file.read_text()
    for question in questions():
        assert f"  # {question.text}" in text
    told = assess(str(file), "--check")
    assert told.exit_code == 2
    for path in ("people.teamSize", "training.task", "where.cloud", "where.region"):
        assert path in told.output
    content = yaml.safe_load(text)
    for part, answers in ANSWERS.items():
        assert set(answers) <= set(content[part])
        content[part].update(answers)
    file.write_text(yaml.safe_dump(content))
    done = assess(str(file), "--check")
    assert done.exit_code == 0, done.output


def test_what_cannot_be_is_told(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(yaml.safe_dump({**ANSWERS, "where": {"cloud": "aws", "region": "us-east-1", "residency": "eu"}}))
    told = assess(str(file), "--check")
    assert (told.exit_code, "data must not leave eu" in told.output) == (2, True)
    assert assess(str(tmp_path / "none.yaml"), "--check").exit_code == 2
    assert assess(str(file), "--check", "--blank").exit_code == 2
    assert assess(str(tmp_path / "none" / "acme.yaml"), "--blank").exit_code == 0, "the folder is made"


def test_whoever_goes_away_leaves_nothing(tmp_path: Path) -> None:
    done = assess(str(tmp_path / "acme.yaml"), said="3\n")
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []
