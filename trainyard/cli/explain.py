"""`trainyard explain`: every number of a plan and where it comes from; what a team can reach; how the stack works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainyard.cli.files import write_json
from trainyard.cli.project import (
    EXIT_PROGRAM,
    JsonOption,
    ProjectOption,
    StackArgument,
    error_line,
    fail,
    find_project,
    find_stack,
    progress,
    read_plan,
    settings_of,
    warn_of,
)
from trainyard.review.works.topics import TOPICS, tables_of

if TYPE_CHECKING:
    from trainyard.rehearsal.rehearse import Rehearsal

REACH: Final = "reach"
"""Stands where a key does: what is asked for then is a team."""


def explain(
    stack: StackArgument,
    key: Annotated[
        str,
        typer.Argument(
            help=f"Only keys that hold this text, like pools.train or fsx; or one of {', '.join(('reach', *TOPICS))}."
        ),
    ] = "",
    about: Annotated[
        str, typer.Argument(help="After reach: the team. After another of these words: only rows that hold this text.")
    ] = "",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """Every number of a stack's plan, and the setting, profile entry or rule that gave it.

    `explain STACK reach TEAM`: what the team's pods reach over the network, and what they and its members may do.

    Exit codes: 0; 2 the settings are wrong, or there is no such team; 3 the program is wrong.
    """
    if key == REACH:
        _reach(stack, about, json_file, project)
    elif key in TOPICS:
        _topic(stack, key, about, json_file, project)
    elif about:
        words = ", ".join((REACH, *TOPICS))
        fail(f"{about}: nothing follows {key!r}, which is a key of the plan; something may follow {words}")
    else:
        _numbers(stack, key, json_file, project)


def _numbers(stack: str, key: str, json_file: Path | None, project: Path | None) -> None:
    from rich.table import Table

    from trainyard.output import console

    plan = read_plan(project, stack)
    decisions = [decision for decision in plan.core.decisions if key in decision.key]
    if json_file is not None:
        write_json(json_file, [{"key": row.key, "value": row.value, "source": row.source} for row in decisions])
        if str(json_file) == "-":
            return
    if not decisions:
        console().print(f"nothing in the plan of {plan.core.stack} has a key with {key!r} in it")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("key", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("source", overflow="fold", style="dim")
    for decision in decisions:
        table.add_row(decision.key, str(decision.value), decision.source)
    console().print(table)


def _rehearsed(stack: str, project: Path | None) -> Rehearsal:
    """The rehearsal of a stack whose program is sound enough to ask; else ends the command."""
    folder = find_project(project)
    file = find_stack(folder, stack)
    with progress(f"rehearsing {stack}"):
        from trainyard.rehearsal.rehearse import rehearse

        with settings_of(stack):
            rehearsal = rehearse(folder, file)
    warn_of(rehearsal)
    return rehearsal


def _topic(stack: str, topic: str, about: str, json_file: Path | None, project: Path | None) -> None:
    rehearsal = _rehearsed(stack, project)
    from trainyard.output import show
    from trainyard.recorded.read import UnreadableInput
    from trainyard.recorded.resources import Resources
    from trainyard.review.reports import works
    from trainyard.review.works.model import tables_json

    for error in rehearsal.errors:  # the answer is of what there is: who asks may want to know why it does not work
        error_line(str(error))
    try:
        tables = tuple(table.about(about) for table in tables_of(topic, Resources(rehearsal.resources)))
    except UnreadableInput as unreadable:
        fail(f"{rehearsal.stack}: cannot be told: {unreadable}", code=EXIT_PROGRAM)
    if json_file is not None:
        write_json(json_file, tables_json(rehearsal.stack, tables))
        if str(json_file) == "-":
            return
    show(lambda out: out.print(works.report(tables)))


def _reach(stack: str, team: str, json_file: Path | None, project: Path | None) -> None:
    rehearsal = _rehearsed(stack, project)
    from trainyard.recorded.read import UnreadableInput
    from trainyard.recorded.resources import Resources
    from trainyard.review.reach.told import UnknownTeam, reach_of

    if rehearsal.errors:
        fail(f"{rehearsal.stack}: {rehearsal.errors[0]}", code=EXIT_PROGRAM)
    try:
        found = reach_of(rehearsal.stack, Resources(rehearsal.resources), team)
    except UnknownTeam as unknown:
        fail(str(unknown))
    except UnreadableInput as unreadable:
        fail(f"{rehearsal.stack}: cannot be told: {unreadable}", code=EXIT_PROGRAM)
    if json_file is not None:
        write_json(json_file, found.as_json())
        if str(json_file) == "-":
            return
    from trainyard.output import show
    from trainyard.review.reports import reach

    show(lambda out: out.print(reach.report(found)))
