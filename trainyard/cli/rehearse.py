"""`trainyard rehearse`: a stack's whole program, offline."""

from __future__ import annotations

from typing import Annotated

import typer

from trainyard.cli.files import check_outputs, write_json, write_whole
from trainyard.cli.project import (
    FromOption,
    HtmlOption,
    JsonOption,
    OtherStacksOption,
    ProjectOption,
    StackArgument,
    fail_settings,
    find_project,
    find_since,
    find_stack,
    hint_at_locks,
    other_stacks,
    progress,
)
from trainyard.problems import SettingsError


def rehearse(
    stack: StackArgument,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the components, totals and the critical path too.")
    ] = False,
    json_file: JsonOption = None,
    html_file: HtmlOption = None,
    since: FromOption = None,
    stack_outputs: OtherStacksOption = None,
    project: ProjectOption = None,
) -> None:
    """Run a stack's whole program offline: what would be refused, what the policies say, what it costs.

    With --from, the way there too: what of that which stands is changed, replaced or deleted, and what stops meanwhile.

    Exit codes: 0 all is well; 1 a mandatory policy is violated; 2 the settings are wrong; 3 the program, or the change,
    is wrong.
    """
    check_outputs({"--json": json_file, "--html": html_file})
    folder = find_project(project)
    file = find_stack(folder, stack)
    found_since = find_since(since, folder)
    others = other_stacks(stack_outputs)
    with progress(f"rehearsing {stack}"):
        from trainyard.review.review import Unjudged, judge

        found = judge(folder, file, since=found_since, stack_outputs=others, alone=True, meanwhile=_report_ready)
    if json_file is not None:
        write_json(json_file, found.as_json())
    if html_file is not None:
        from trainyard.review.reports.page import as_html

        write_whole(html_file, as_html(found))
    if isinstance(found, Unjudged):
        fail_settings(stack, SettingsError(mistake.problem for mistake in found.mistakes))
    if "-" not in (str(json_file), str(html_file)):
        from trainyard.output import show
        from trainyard.review.reports import terminal

        show(lambda out: out.print(terminal.report(found, tree=tree)))
    hint_at_locks([file])
    if found.verdict.exit_code:
        raise typer.Exit(found.verdict.exit_code)


def _report_ready() -> None:
    import trainyard.review.reports.terminal  # noqa: F401 - so that what is found is told at once
