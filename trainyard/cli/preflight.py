"""`trainyard preflight`: what the account says to a stack, before anything is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainyard.cli.files import check_outputs, write_json
from trainyard.cli.project import (
    JsonOption,
    OtherStacksOption,
    ProjectOption,
    StackArgument,
    error_line,
    fail,
    find_project,
    find_stack,
    other_stacks,
    progress,
    read_plan,
    settings_of,
)
from trainyard.problems import some_of
from trainyard.review.exit_codes import EXIT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trainyard.preflight.model import Line, Preflight, Subject

EXIT_FAILS = 1

_NAMED: Final = 5
"""So many of the things of which the same is not known are named: nobody asks for each of them."""


def preflight(
    stack: StackArgument,
    every: Annotated[bool, typer.Option("--all", help="Show what is fine too.")] = False,
    json_file: JsonOption = None,
    stack_outputs: OtherStacksOption = None,
    project: ProjectOption = None,
) -> None:
    """Ask the account what `pulumi up` would meet: quotas, capacity, rights, addresses, versions. Nothing is changed.

    Every line is fine, will fail, or cannot be known from here, with what to do about it; a quota that is too small
    comes with the request, ready to be run.

    Exit codes: 0 nothing that was looked at will fail; 1 something will; 2 the settings are wrong, or there are no
    credentials to ask with.
    """
    check_outputs({"--json": json_file})
    from trainyard.preflight.look import look_ahead

    with progress(f"asking for {stack}"):
        found = look_ahead(_subject(project, stack, stack_outputs))
    if json_file is not None:
        write_json(json_file, found.as_json())
    if str(json_file) != "-":
        _print(found, every)
    from trainyard.preflight.model import Answer

    if not found.has_credentials:
        how = next(line.remedy for line in found.of(Answer.FAILS) if line.check == "identity")
        error_line(f"the account could not be asked, for want of credentials: {how}")
        raise typer.Exit(EXIT_SETTINGS)
    if found.of(Answer.FAILS):
        raise typer.Exit(EXIT_FAILS)


def _subject(project: Path | None, stack: str, stack_outputs: Sequence[str] | None) -> Subject:
    """The stack's plan and what its program makes; ends the command where either is wrong."""
    from trainyard.preflight.model import Subject
    from trainyard.recorded.resources import Resources
    from trainyard.rehearsal.rehearse import rehearse
    from trainyard.settings.unseen import stand_in

    plan, folder, others = read_plan(project, stack), find_project(project), other_stacks(stack_outputs)
    with settings_of(stack):
        rehearsal = rehearse(folder, find_stack(folder, stack), stack_outputs=others, stand_in=stand_in)
    if rehearsal.errors:
        first = rehearsal.errors[0]
        fail(f"the program of {stack} is wrong, so there is nothing to ask for: {first.message}; `trainyard rehearse`")
    return Subject(rehearsal.stack, plan, Resources(rehearsal.resources))


def _print(found: Preflight, every: bool) -> None:
    from rich.text import Text

    from trainyard.output import console
    from trainyard.preflight.model import Answer

    styles = {Answer.FINE: "green", Answer.FAILS: "bold red", Answer.UNKNOWN: "yellow"}
    out = console()
    for answer in (Answer.FAILS, Answer.UNKNOWN, Answer.FINE):
        lines = found.of(answer)
        if answer is Answer.FINE and not every:
            continue
        for same in _alike(lines):
            line, checks = same[0], list(dict.fromkeys(each.check for each in same))
            most = _NAMED if answer is Answer.UNKNOWN else len(same)
            what = f"{line.check}: {some_of([each.what for each in same], most)}"
            out.print(
                Text.assemble(
                    (f"{answer.value:<11} ", styles[answer]), (what if len(checks) == 1 else ", ".join(checks), "bold")
                ),
                soft_wrap=True,
            )
            out.print(Text(f"            {line.told}"), soft_wrap=True)
            if line.remedy:
                out.print(Text(f"            {line.remedy}", style="dim"), soft_wrap=True)
            if line.command:
                out.print(Text(f"            {line.command}", style="cyan"), soft_wrap=True)
    counts = ", ".join(f"{len(found.of(answer))} {answer.value}" for answer in Answer)
    out.print(Text(f"{found.stack}: {counts}", style="bold"))


def _alike(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines, those of which the same is told together: without credentials that is most of them."""
    from trainyard.preflight.model import Answer

    together: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        there_is_nothing_to_do = line.answer is Answer.UNKNOWN and not line.remedy and not line.command
        check = "" if there_is_nothing_to_do else line.check
        together.setdefault((check, line.told, line.remedy, line.command), []).append(line)
    return list(together.values())
