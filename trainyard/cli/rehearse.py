"""`trainyard rehearse`: a stack's whole program, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli.files import write_json, write_whole
from trainyard.cli.project import (
    EXIT_PROGRAM,
    EXIT_VIOLATED,
    JsonOption,
    ProjectOption,
    StackArgument,
    fail,
    find_project,
    find_stack,
    progress,
    settings_of,
)


def rehearse(
    stack: StackArgument,
    json_file: JsonOption = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for the browser; '-' likewise.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Run a stack's whole program offline, twice: what would be refused, what the policies say, what it costs.

    Exit codes: 0 all is well; 1 a mandatory policy is violated; 2 the settings are wrong; 3 the program is wrong.
    """
    if str(json_file) == str(html_file) == "-":
        fail("--json - and --html -: only one of them can have standard output")
    folder = find_project(project)
    file = find_stack(folder, stack)
    with settings_of(stack), progress(f"rehearsing {stack}"):
        from trainyard.review.review import review

        found = review(folder, file)
    from trainyard.output import console
    from trainyard.review.reports import policies, rehearsal

    if json_file is not None:
        write_json(json_file, found.as_json())
    if html_file is not None:
        write_whole(html_file, rehearsal.as_html(found))
    if "-" not in (str(json_file), str(html_file)):
        console().print(rehearsal.report(found))
        if found.policies is not None:
            policies.show(found.policies, title="Policies")
    if found.policies is None:
        raise typer.Exit(EXIT_PROGRAM)
    if found.policies.mandatory:
        raise typer.Exit(EXIT_VIOLATED)
