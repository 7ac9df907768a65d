"""What `trainyard new` begins with: what options, a client's answers and Pulumi.yaml say, and who said it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from trainyard.cli.project import fail, fail_options, fail_problems, settings_of
from trainyard.problems import Problem, SettingsError

if TYPE_CHECKING:
    from trainyard.advice.assessment import Assessment

OPTIONS = {
    "client": "CLIENT",
    "environment": "--environment",
    "cloud": "--cloud",
    "region": "--region",
    "teamSize": "--team-size",
    "alertEmails": "--alert-email",
    "owner": "--owner",
    "costCentre": "--cost-centre",
    "monthlyBudgetUsd": "--monthly-budget",
    "residency": "--residency",
    "stateBackend": "--state-backend",
    "aws.accountId": "--account",
    "aws.assumeRole": "--assume-role",
    "gcp.project": "--gcp-project",
    "gcp.projectNumber": "--gcp-project-number",
    "gcp.billingAccount": "--gcp-billing-account",
    "stateRegion": "--state-region",
}
"""The option that gives each setting, by the setting's key."""

ASKED = {
    "people.teamSize": "teamSize",
    "where.cloud": "cloud",
    "where.region": "region",
    "where.residency": "residency",
    "money.monthlyBudgetUsd": "monthlyBudgetUsd",
}
"""The settings that the assessment asks for, by the question; each is an option too."""


def at_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty()


def what_is_said(folder: Path, told: Mapping[str, Any], answers: Path | None, *, asked: bool) -> Assessment | None:
    """What the client says: of a file, or of whoever is asked; None where options say it all."""
    from trainyard.advice.assessed import read_assessment
    from trainyard.advice.assessment import answer_at

    if answers is None and not asked:
        if "people.teamSize" in told or given_to_all(folder, "teamSize", "profile", "teams"):
            return None
        if not at_terminal():
            allowed = "must be given; or --answers FILE, or --ask at a terminal"
            fail_options(SettingsError([Problem("--team-size", "nothing", allowed)]))
    if answers is not None and asked:
        fail("--answers and --ask: a client's answers are of a file, or asked for")
    if answers is None:
        from trainyard.cli.questionnaire import ask

        return ask(told, date.today())
    if not answers.is_file():
        fail(f"--answers {answers}: there is no such file")
    try:
        found = read_assessment(answers, date.today())
    except SettingsError as error:
        fail_problems(f"in the answers of {escape(str(answers))}", error)
    options = {path: option for path, option in ASKED.items() if path in told and told[path] != answer_at(found, path)}
    if options:
        problems = [
            Problem(OPTIONS[key], str(told[path]), f"{answers.name} says {answer_at(found, path)}: say it once")
            for path, key in options.items()
        ]
        fail_options(SettingsError(problems))
    return found


def first_values(folder: Path, told: Mapping[str, Any], said: Assessment | None) -> dict[str, Any]:
    """What options or answers say of size, place and money; what nobody says and Pulumi.yaml does not give either."""
    from trainyard.advice.assessed import first_settings
    from trainyard.advice.hardware import HOME_REGIONS

    if said is not None:
        return first_settings(said)
    given = {key: told[path] for path, key in ASKED.items() if path in told}
    if not given["cloud"] and not given_to_all(folder, "cloud"):
        given["cloud"] = "aws"
    if not given["region"] and not given_to_all(folder, "region"):
        given["region"] = HOME_REGIONS.get(given["cloud"] or "", HOME_REGIONS["aws"])
    return given


def given_to_all(folder: Path, *keys: str) -> bool:
    """Whether Pulumi.yaml gives one of these to every stack."""
    from trainyard.rehearsal.engine.project import project_defaults
    from trainyard.settings.declarations import default_text

    with settings_of("of the project"):
        found = project_defaults(folder)
    return any(found.get(key, "") not in ("", default_text(key)) for key in keys)


def of_options(problems: Sequence[Problem], answered: bool) -> list[Problem]:
    """Problems of the settings, by the option or the question that gave the value."""
    asked = {key: path for path, key in ASKED.items()} | {"logRetentionDays": "compliance.logDays"}
    names = {**OPTIONS, **(asked if answered else {})}
    return [
        replace(problem, key=names.get(problem.key, names.get(problem.key.split("[")[0], problem.key)))
        for problem in problems
    ]
