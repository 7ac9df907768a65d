"""`trainyard check`: the policy pack over stacks, offline."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import write_whole
from trainyard.cli.project import (
    EXIT_PROGRAM,
    EXIT_SETTINGS,
    EXIT_VIOLATED,
    ProjectOption,
    fail,
    find_project,
    find_stack,
    progress,
    settings_of,
    stack_files,
    warn_of,
)
from trainyard.problems import SettingsError
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json

if TYPE_CHECKING:
    from trainyard.review.review import Review


class Format(enum.StrEnum):
    """How the outcome is told."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


def check(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STACK]...", help="Stacks by name, or paths of stack files.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every stack of the project.")] = False,
    form: Annotated[Format, typer.Option("--format", "-f", help="How to tell the outcome.")] = Format.TEXT,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to; '-' is standard output.")
    ] = Path("-"),
    policy_config: Annotated[
        Path | None,
        typer.Option(
            "--policy-config", metavar="FILE", help="Configuration of the pack, as for `pulumi --policy-pack-config`."
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="OLD", help="JSON of an earlier check; the Markdown tells what changed."),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Check stacks against the policies, offline: no account, no Pulumi login, no credentials.

    Exit codes: 0 all is well; 1 a mandatory policy is violated; 2 the settings are wrong; 3 the program is wrong.
    """
    if compare is not None and form is not Format.MARKDOWN:
        fail("--compare tells what changed in Markdown: add --format markdown")
    folder = find_project(project)
    files = _files(folder, stacks or [], every=every)
    before = _document(compare) if compare is not None else None
    from trainyard.review.policy_check.configuration import read_configuration

    with settings_of(str(policy_config)):
        configuration = read_configuration(policy_config) if policy_config is not None else {}
    reviews = [_review(folder, file, configuration) for file in files]
    if form is Format.TEXT and str(output) == "-":
        from trainyard.review.reports import policies

        for review in reviews:
            policies.show(review.judged)
    else:
        write_whole(output, _text(form, reviews, before))
    if any(review.judged.mandatory for review in reviews):
        raise typer.Exit(EXIT_VIOLATED)


def _files(folder: Path, stacks: list[str], *, every: bool) -> list[Path]:
    if every == bool(stacks):
        fail("name the stacks to check, or say --all (not both)" if every else "name the stacks to check, or say --all")
    if not every:
        return [find_stack(folder, stack) for stack in stacks]
    found = stack_files(folder)
    if not found:
        fail(f"there is no stack in {folder}")
    return found


def _review(folder: Path, file: Path, configuration: dict[str, Any]) -> Review:
    """One stack's review; ends the command where there is nothing sound to judge."""
    from trainyard.review.review import review

    stack = file.name.removeprefix("Pulumi.").rsplit(".", 1)[0]
    with settings_of(stack), progress(f"checking {stack}"):
        found = review(folder, file, policy_configuration=configuration)
    warn_of(found.rehearsal)
    if found.policies is None:
        lines = "\n".join(f"  {finding}" for finding in found.rehearsal.errors)
        fail(f"the program of stack {stack} is wrong, so no policy can be judged:\n{lines}", code=EXIT_PROGRAM)
    return found


def _document(path: Path) -> dict[str, Any]:
    """The JSON of an earlier check."""
    try:
        content = read_json(path, f"--compare {path}", LARGEST_OUTCOME_BYTES)
    except SettingsError as error:
        fail(str(error))
    if not isinstance(content, dict) or not isinstance(content.get("stacks"), list):
        fail(f"--compare {path}: is no outcome of `trainyard check --format json`", code=EXIT_SETTINGS)
    return content


def _text(form: Format, reviews: list[Review], before: dict[str, Any] | None) -> str:
    from trainyard.review.formats import document, junit, markdown, sarif
    from trainyard.review.reports import policies

    match form:
        case Format.JSON:
            return document.as_json(reviews)
        case Format.SARIF:
            return sarif.as_sarif(reviews)
        case Format.JUNIT:
            return junit.as_junit(reviews)
        case Format.MARKDOWN:
            return markdown.as_markdown(reviews, before)
    return policies.as_text(review.judged for review in reviews)
