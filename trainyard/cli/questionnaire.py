"""The assessment at a terminal: each question, again where an answer cannot be, and again where two contradict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import typer

from trainyard.cli.project import fail
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from trainyard.advice.assessment import Assessment, Question


def ask(given: Mapping[str, Any], today: date) -> Assessment:
    """A client's answers; `given` are those that options gave, by the question's path, and are not asked.

    Ends the command where nobody answers any more.
    """
    from trainyard.advice.assessed import check_assessment
    from trainyard.advice.assessment import assessment_of, questions

    asked = {question.path: question for question in questions()}
    answers = dict(given)
    typer.echo("What the client says; Enter leaves out what is not known.", err=True)
    open_ = [question for path, question in asked.items() if path not in given]
    while True:
        for question in open_:
            answers[question.path] = _answer(question)
        try:
            found = assessment_of(_nested(answers))
            check_assessment(found, today)
        except SettingsError as error:
            parts = {problem.key.partition(".")[0] for problem in error.problems}
            open_ = [question for path, question in asked.items() if question.part in parts and path not in given]
            told = "\n".join(f"  {problem}" for problem in error.problems)
            if not open_:
                fail(f"what the options and the answers say cannot be together:\n{told}")
            typer.echo(f"These cannot be together, and are asked again:\n{told}", err=True)
            continue
        return found


def _answer(question: Question) -> Any:
    """An answer that can be by itself; None where there is none."""
    among = f" ({', '.join(question.choices)})" if question.choices else ""
    while True:
        try:
            text = typer.prompt(
                f"{question.text}{among}", default="", show_default=False, prompt_suffix=" ", err=True
            ).strip()
        except typer.Abort:
            fail(f"nobody answers: {question.path} is left open; nothing is written")
        if not text and question.required:
            typer.echo("  it has to be answered", err=True)
            continue
        value = _value(question, text)
        wrong = _wrong_alone(question, value)
        if wrong:
            typer.echo(f"  {wrong}", err=True)
            continue
        return value


def _value(question: Question, text: str) -> Any:
    """An answer as the file would hold it: a list's parts are told apart by commas, and numbers may have them."""
    if not text:
        return None
    if question.is_list:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text.replace(",", "") if question.is_number else text


def _wrong_alone(question: Question, value: Any) -> str:
    """What is wrong with an answer whatever the others are; an empty text where nothing is."""
    from trainyard.advice.assessment import assessment_of

    if value is None:
        return ""
    try:
        assessment_of(_nested({question.path: value}))
    except SettingsError as error:
        return "; ".join(f"{problem.got}: {problem.allowed}" for problem in _of(error, question.path))
    return ""


def _of(error: SettingsError, path: str) -> Iterable[Any]:
    return (problem for problem in error.problems if problem.key.split("[")[0] == path and problem.got != "nothing")


def _nested(answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers by part and key; without those that nobody gave."""
    content: dict[str, Any] = {}
    for path, value in answers.items():
        part, _, key = path.partition(".")
        if value is not None:
            content.setdefault(part, {})[key] = value
    return content
