"""`trainyard explain`: every number of a plan, and where it comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from trainyard.cli.project import ProjectOption, StackArgument, read_plan


def explain(
    stack: StackArgument,
    key: Annotated[str, typer.Argument(help="Only keys that hold this text, like pools.train or fsx.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    project: ProjectOption = None,
) -> None:
    """Every number of a stack's plan, and the setting, profile entry or rule that gave it."""
    from rich.console import Console
    from rich.table import Table

    plan = read_plan(project, stack)
    decisions = [decision for decision in plan.core.decisions if key in decision.key]
    if as_json:
        rows = [{"key": row.key, "value": row.value, "source": row.source} for row in decisions]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    if not decisions:
        console.print(f"nothing in the plan of {plan.core.stack} has a key with {key!r} in it")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("key", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("source", overflow="fold", style="dim")
    for decision in decisions:
        table.add_row(decision.key, str(decision.value), decision.source)
    console.print(table)
