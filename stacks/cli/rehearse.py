"""`trainyard rehearse`: a stack's whole program, offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from stacks.cli.files import write_whole
from stacks.cli.project import ProjectOption, StackArgument, fail_settings, find_project, find_stack, progress
from stacks.problems import SettingsError

EXIT_POLICY = 1
EXIT_PROGRAM = 3


def rehearse(
    stack: StackArgument,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; '-' is standard output.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for the browser.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Run a stack's whole program offline, twice, and say what an engine or a cloud would refuse.

    Exit codes: 0 all is well; 1 a mandatory policy is violated; 2 the settings are wrong; 3 the program is wrong.
    """
    folder = find_project(project)
    file = find_stack(folder, stack)
    try:
        with progress(f"rehearsing {stack}"):
            from stacks.rehearsal.rehearse import rehearse as run

            rehearsal = run(folder, file)
    except SettingsError as error:
        fail_settings(stack, error)
    from stacks.rehearsal import report

    if json_file is not None:
        write_whole(json_file, json.dumps(rehearsal.as_json(), indent=2, ensure_ascii=False) + "\n")
    if html_file is not None:
        write_whole(html_file, report.as_html(rehearsal))
    if str(json_file) != "-":
        report.print_report(rehearsal)
    if rehearsal.errors:
        raise typer.Exit(EXIT_PROGRAM)
    if rehearsal.violations:
        raise typer.Exit(EXIT_POLICY)
