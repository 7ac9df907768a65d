"""`trainyard explain`: every number of a plan, and where it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from trainyard.cli.files import write_json
from trainyard.cli.project import JsonOption, ProjectOption, StackArgument, read_plan


def explain(
    stack: StackArgument,
    key: Annotated[str, typer.Argument(help="Only keys that hold this text, like pools.train or fsx.")] = "",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """Every number of a stack's plan, and the setting, profile entry or rule that gave it."""
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
