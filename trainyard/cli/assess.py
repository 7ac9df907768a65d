"""`trainyard assess`: what a client is asked before anything is made, as a file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli.files import write_new
from trainyard.cli.project import fail, fail_problems, path_given
from trainyard.problems import SettingsError


def assess(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=path_given, help="The answers; a new file.")],
    blank: Annotated[bool, typer.Option("--blank", help="Write the questions, for the client to fill in.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Read a file that is there, and write nothing.")] = False,
) -> None:
    """Ask at the terminal what a client has, needs and may spend, and write it down; no project is needed.

    How long runs take and wait, how many people train what on which data, where the data may be, under which rules, for
    how much. `report --proposal --answers FILE` makes a proposal of it, `new --answers FILE` begins a stack with it.
    Exit codes: 0; 2 the file is there already, or what it says cannot be.
    """
    from trainyard.advice.assessed import read_assessment
    from trainyard.advice.assessment import assessment_text, blank_text
    from trainyard.cli.questionnaire import ask

    if check:
        if blank:
            fail("--check and --blank: one reads a file, the other writes one")
        if not file.is_file():
            fail(f"{file}: there is no such file")
        try:
            read_assessment(file, date.today())
        except SettingsError as error:
            fail_problems("with the answers", error)
        typer.echo(f"{file}: the answers can be.")
        return
    if file.exists() or file.is_symlink():
        fail(f"{file} is there already; nothing is written")
    text = blank_text() if blank else assessment_text(ask({}, date.today()), "the client")
    write_new(file.parent, {file.name: text})
    typer.echo(f"Wrote {file}.")
