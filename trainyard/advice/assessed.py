"""What follows from a client's answers: the training that the recommender sizes, the first settings, and what cannot be
true together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from trainyard.advice.architectures import architectures
from trainyard.advice.assessment import Assessment, assessment_of
from trainyard.advice.request import Request, check
from trainyard.advice.units import count, gigabytes
from trainyard.catalog.residency import is_served, residency_regions
from trainyard.conventions import HOURS_A_MONTH
from trainyard.problems import Problem, SettingsError, kind_of, nearest
from trainyard.settings.mistakes import fields_of
from trainyard.user_files import read_yaml

_ASKED: Final = {
    "--architecture": "training.model",
    "--params": "training.model",
    "--tokens": "training.data",
    "--images": "training.data",
    "--dataset-size": "training.data",
    "--task": "training.task",
    "--epochs": "training.epochs",
    "--monthly-runs": "training.runsAMonth",
    "--deadline": "training.hoursWanted",
    "--budget": "money.monthlyBudgetUsd",
    "--cloud": "where.cloud",
    "--region": "where.region",
}
"""The question whose answer became an option of the recommender."""


def read_assessment(path: Path, today: date) -> Assessment:
    """The answers of a file.

    Raises:
        SettingsError: it is no such file, or an answer cannot be, by itself or beside another.
    """
    content = read_yaml(path, path.name)
    if not isinstance(content, dict):
        allowed = f"must be a mapping with the keys {', '.join(fields_of(Assessment))}"
        raise SettingsError([Problem(path.name, kind_of(content), allowed)])
    found = assessment_of(content)
    check_assessment(found, today)
    return found


def check_assessment(assessment: Assessment, today: date) -> None:
    """Raises `SettingsError` with every answer that contradicts another, or that the recommender has no use for."""
    problems = list(_contradictions(assessment))
    try:
        check(request_of(assessment, today))
    except SettingsError as error:
        problems += [replace(problem, key=_ASKED.get(problem.key, problem.key)) for problem in error.problems]
    if problems:
        raise SettingsError(problems)


def request_of(assessment: Assessment, today: date) -> Request:
    """The training that the answers tell of, as the recommender asks for it; raises `SettingsError` for a model of
    which neither name nor number is known."""
    training = assessment.training
    named = training.model if training.model in architectures() else None
    tokens = images = size = None
    if training.data is not None:
        amount, _, unit = training.data.strip().partition(" ")
        tokens = count(amount) if unit == "tokens" else None
        images = count(amount) if unit == "images" else None
        size = gigabytes(training.data) if tokens is images is None else None
    return Request(
        today=today,
        task=training.task,
        params=_params(training.model) if training.model is not None and named is None else None,
        architecture=named,
        tokens=tokens,
        images=images,
        dataset_gb=size,
        epochs=training.epochs,
        deadline_hours=training.hours_wanted,
        monthly_runs=training.runs_a_month,
        cloud=assessment.where.cloud,
        region=assessment.where.region,
        budget_usd=assessment.money.monthly_budget_usd if training.runs_a_month is not None else None,
    )


def _params(text: str) -> float:
    try:
        return count(text)
    except ValueError:
        known = tuple(architectures())
        allowed = f"must be a number of parameters, like 7B, or one of {', '.join(known)}"
        raise SettingsError([Problem("training.model", text, allowed, nearest(text, known))]) from None


def first_settings(assessment: Assessment) -> dict[str, Any]:
    """The settings that the answers give by themselves, by their keys in a stack file."""
    days = assessment.compliance.log_days
    given = {
        "cloud": assessment.where.cloud,
        "region": assessment.where.region,
        "teamSize": assessment.people.team_size,
        "monthlyBudgetUsd": assessment.money.monthly_budget_usd,
        "residency": None if assessment.where.residency == "none" else assessment.where.residency,
        "logRetentionDays": days,
    }
    return {key: value for key, value in given.items() if value is not None}


def _contradictions(assessment: Assessment) -> Iterator[Problem]:
    today, training, where = assessment.today, assessment.training, assessment.where
    if not is_served(where.residency, where.cloud):
        yield Problem("where.residency", where.residency, f"{where.cloud} has no region there; ask for another cloud")
    elif where.residency != "none" and where.region not in residency_regions(where.residency, where.cloud):
        allowed = ", ".join(residency_regions(where.residency, where.cloud))
        yield Problem("where.region", where.region, f"data must not leave {where.residency}: must be one of {allowed}")
    if today.gpu is not None and today.gpus is None:
        yield Problem("today.gpus", "nothing", f"say how many {today.gpu} there are")
    if today.gpus is not None and today.hours_a_run is not None and training.runs_a_month is not None:
        needed, there = today.hours_a_run * training.runs_a_month, today.gpus * HOURS_A_MONTH
        if needed > there:
            told = f"{training.runs_a_month:g} runs of {today.hours_a_run:g} h are {needed:,.0f} h of a GPU at least"
            allowed = f"{told}, and {today.gpus} GPUs have {there:,} h a month"
            yield Problem("training.runsAMonth", f"{training.runs_a_month:g}", allowed)
