"""`trainyard explain`: every number of a plan and where it comes from; what a team can reach; how the stack works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainyard.cli.files import write_json
from trainyard.cli.project import (
    EXIT_PROGRAM,
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
    read_resolved,
    settings_of,
    warn_of,
)
from trainyard.review.works.topics import TOPICS, tables_of

if TYPE_CHECKING:
    from trainyard.rehearsal.rehearse import Rehearsal
    from trainyard.review.works.model import Table

REACH: Final = "reach"
"""Stands where a key does: what is asked for then is a team."""
COSTS: Final = "costs"
"""Stands where a key does: what is asked for then is what the environment costs while no job runs."""


def explain(
    stack: StackArgument,
    key: Annotated[
        str,
        typer.Argument(
            help="Only keys that hold this text, like pools.train or fsx; or one of "
            f"{', '.join(('reach', 'costs', *TOPICS))}."
        ),
    ] = "",
    about: Annotated[
        str, typer.Argument(help="After reach: the team. After another of these words: only rows that hold this text.")
    ] = "",
    json_file: JsonOption = None,
    stack_outputs: OtherStacksOption = None,
    project: ProjectOption = None,
) -> None:
    """Every number of a stack's plan, and the setting, profile entry or rule that gave it.

    `explain STACK reach TEAM`: what the team's pods reach over the network, and what they and its members may do.
    `explain STACK costs`: what is paid while no job runs, and what assurance decides of it.

    Exit codes: 0; 2 the settings are wrong, or there is no such team; 3 the program is wrong.
    """
    if key == REACH:
        _reach(_rehearsed(stack, project, stack_outputs), about, json_file)
    elif key == COSTS:
        _costs(stack, about, json_file, project)
    elif key in TOPICS:
        _topic(_rehearsed(stack, project, stack_outputs), key, about, json_file)
    elif about:
        words = ", ".join((REACH, COSTS, *TOPICS))
        fail(f"{about}: nothing follows {key!r}, which is a key of the plan; something may follow {words}")
    else:
        _numbers(stack, key, json_file, project)


def _numbers(stack: str, key: str, json_file: Path | None, project: Path | None) -> None:
    from rich.table import Table

    from trainyard.output import console

    plan = read_plan(project, stack)
    shared = _shared(project, stack)
    decisions = [
        replace(decision, source=_of_all(decision.source, shared))
        for decision in plan.core.decisions
        if key in decision.key
    ]
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


def _shared(project: Path | None, stack: str) -> frozenset[str]:
    """The keys whose values somebody wrote into Pulumi.yaml, for every stack whose file says nothing of them."""
    from trainyard.rehearsal.engine.project import read_stack
    from trainyard.settings.common import Settings
    from trainyard.settings.declarations import default_text
    from trainyard.settings.mistakes import fields_of
    from trainyard.settings.read import NAMESPACE
    from trainyard.settings.unseen import stand_in

    folder = find_project(project)
    config = read_stack(folder, find_stack(folder, stack), stand_in=stand_in)
    keys = {full.removeprefix(f"{NAMESPACE}:"): config.values[full] for full in config.shared}
    known = fields_of(Settings)
    return frozenset(key for key, text in keys.items() if key in known and text != default_text(key))


def _of_all(source: str, shared: frozenset[str]) -> str:
    """Where a value comes from, with the file where that is not the stack's own."""
    word, _, setting = source.partition(" ")
    key = setting.partition(";")[0].partition(".")[0]
    return f"{source}, in Pulumi.yaml for every stack" if word == "setting" and key in shared else source


def _rehearsed(stack: str, project: Path | None, stack_outputs: Sequence[str] | None) -> Rehearsal:
    """The rehearsal of a stack whose program is sound enough to ask; else ends the command."""
    folder = find_project(project)
    file = find_stack(folder, stack)
    others = other_stacks(stack_outputs)
    with progress(f"rehearsing {stack}"):
        from trainyard.rehearsal.rehearse import rehearse

        with settings_of(stack):
            rehearsal = rehearse(folder, file, stack_outputs=others)
    warn_of(rehearsal)
    return rehearsal


def _topic(rehearsal: Rehearsal, topic: str, about: str, json_file: Path | None) -> None:
    from trainyard.recorded.read import UnreadableInput
    from trainyard.recorded.resources import Resources

    for error in rehearsal.errors:  # the answer is of what there is: who asks may want to know why it does not work
        error_line(str(error))
    try:
        tables = tuple(table.about(about) for table in tables_of(topic, Resources(rehearsal.readable)))
    except UnreadableInput as unreadable:
        fail(f"{rehearsal.stack}: cannot be told: {unreadable}", code=EXIT_PROGRAM)
    _show(rehearsal.stack, tables, json_file)


def _costs(stack: str, about: str, json_file: Path | None, project: Path | None) -> None:
    from trainyard.review.floor import tables

    resolved = read_resolved(project, stack)
    with settings_of(stack):
        told = tables(resolved.settings, resolved.plan)
    _show(resolved.plan.core.stack, tuple(table.about(about) for table in told), json_file)


def _show(stack: str, tables: tuple[Table, ...], json_file: Path | None) -> None:
    from trainyard.output import show
    from trainyard.review.reports import works
    from trainyard.review.works.model import tables_json

    if json_file is not None:
        write_json(json_file, tables_json(stack, tables))
        if str(json_file) == "-":
            return
    show(lambda out: out.print(works.report(tables)))


def _reach(rehearsal: Rehearsal, team: str, json_file: Path | None) -> None:
    from trainyard.recorded.read import UnreadableInput
    from trainyard.recorded.resources import Resources
    from trainyard.review.reach.told import UnknownTeam, reach_of

    if rehearsal.errors:
        fail(f"{rehearsal.stack}: {rehearsal.errors[0]}", code=EXIT_PROGRAM)
    try:
        found = reach_of(rehearsal.stack, Resources(rehearsal.readable), team)
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
