"""The `trainyard` command: thin, one module a verb. What a verb needs is imported when it is called."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from stacks.cli import explain, rehearse, smoke

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Machine-learning training infrastructure: sized from a team, rehearsed offline, proven to train.",
)
app.command("rehearse")(rehearse.rehearse)
app.command("explain")(explain.explain)
app.command("smoke")(smoke.smoke)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("trainyard"))
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the distribution."""
    app()
