"""`trainyard check`: the policy pack over stacks, offline."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import write_whole
from trainyard.cli.project import (
    EXIT_SETTINGS,
    ProjectOption,
    fail,
    fail_settings,
    find_project,
    find_stack,
    progress,
    stack_files,
)
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from rich.console import Console

    from trainyard.review.formats import Checked
    from trainyard.review.policy_check.model import PolicyReport

EXIT_POLICY = 1
EXIT_PROGRAM = 3


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

    try:
        configuration = read_configuration(policy_config) if policy_config is not None else {}
    except SettingsError as error:
        fail_settings(str(policy_config), error)
    checked = [_check(folder, file, configuration) for file in files]
    if form is Format.TEXT and str(output) == "-":
        from rich.console import Console

        _show(Console(highlight=False, soft_wrap=True), checked)
    else:
        write_whole(output, _text(form, checked, before))
    if any(stack.report.mandatory for stack in checked):
        raise typer.Exit(EXIT_POLICY)


def _files(folder: Path, stacks: list[str], *, every: bool) -> list[Path]:
    if every == bool(stacks):
        fail("name the stacks to check, or say --all (not both)" if every else "name the stacks to check, or say --all")
    if not every:
        return [find_stack(folder, stack) for stack in stacks]
    found = stack_files(folder)
    if not found:
        fail(f"there is no stack in {folder}")
    return found


def _check(folder: Path, file: Path, configuration: dict[str, Any]) -> Checked:
    """Rehearses one stack and runs the pack; ends the command where there is nothing sound to judge."""
    from trainyard.rehearsal.rehearse import rehearse
    from trainyard.review.formats import Checked
    from trainyard.review.policy_check.check import check_policies

    stack = file.name.removeprefix("Pulumi.").rsplit(".", 1)[0]
    problem: SettingsError | None = None
    report: PolicyReport | None = None
    with progress(f"checking {stack}"):
        try:
            rehearsal = rehearse(folder, file)
            if not rehearsal.errors:  # a program that does not run to its end makes nothing that could break a rule
                report = check_policies(
                    rehearsal.stack,
                    rehearsal.preview.resources,
                    rehearsal.known.resources,
                    rehearsal.settings,
                    configuration=configuration,
                )
        except SettingsError as error:
            problem = error
    if problem is not None:
        fail_settings(stack, problem)
    if report is None:
        lines = "\n".join(f"  {finding}" for finding in rehearsal.errors)
        fail(f"the program of stack {stack} is wrong, so no policy can be judged:\n{lines}", code=EXIT_PROGRAM)
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    return Checked(file=name, report=report, plan=rehearsal.plan, cost=rehearsal.cost)


def _document(path: Path) -> dict[str, Any]:
    """The JSON of an earlier check."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        fail(f"--compare {path}: cannot be read: {error}", code=EXIT_SETTINGS)
    if not isinstance(content, dict) or not isinstance(content.get("stacks"), list):
        fail(f"--compare {path}: is no outcome of `trainyard check --format json`", code=EXIT_SETTINGS)
    return content


def _text(form: Format, checked: list[Checked], before: dict[str, Any] | None) -> str:
    from trainyard.review import formats
    from trainyard.review.comparison import as_markdown

    if form is Format.JSON:
        return formats.as_json(checked)
    if form is Format.SARIF:
        return formats.as_sarif(checked)
    if form is Format.JUNIT:
        return formats.as_junit(checked)
    if form is Format.MARKDOWN:
        return as_markdown(checked, before)
    import io

    from rich.console import Console

    text = io.StringIO()
    _show(Console(file=text, highlight=False, soft_wrap=True, no_color=True), checked)
    return text.getvalue()


def _show(console: Console, checked: list[Checked]) -> None:
    for stack in checked:
        show_report(console, stack.report)


def show_report(console: Console, report: PolicyReport) -> None:
    """One stack for a person: a line a violation with what to change, then what was accepted and the sum."""
    from rich.markup import escape

    for violation in report.violations:
        colour = "red" if violation.level == "mandatory" else "yellow"
        console.print(
            f"[bold {colour}]{violation.level}[/] {violation.severity} [bold]{violation.policy}[/] "
            f"{escape(f'{violation.component} {violation.name}'.strip() or report.stack)}"
        )
        console.print(f"    {escape(violation.message)}")
        console.print(f"    [dim]{escape(violation.remediation)} ({escape(', '.join(violation.controls))})[/]")
    for accepted in report.accepted:
        console.print(
            f"[dim]accepted {accepted.policy} {escape(accepted.urn.rsplit('::', 1)[-1])} until {accepted.expires}:"
            f" {escape(accepted.reason)} ({escape(accepted.owner)})[/]"
        )
    mandatory = len(report.mandatory)
    console.print(
        f"{escape(report.stack)}: {report.policies} policies, {mandatory} mandatory and"
        f" {len(report.violations) - mandatory} advisory violations, {len(report.accepted)} accepted,"
        f" {report.seconds:.1f} s"
    )
