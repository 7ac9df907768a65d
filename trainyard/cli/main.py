"""The `trainyard` command: thin, one module a verb. What a verb needs is imported when it is called."""

from __future__ import annotations

import atexit
import gc
from importlib.metadata import version
from typing import Annotated

import typer

from trainyard.cli import catalog, check, cost, estimate, explain, init, recommend, rehearse, schema, smoke

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Machine-learning training infrastructure: sized from a team, rehearsed offline, proven to train.",
)
app.command("rehearse")(rehearse.rehearse)
app.command("check")(check.check)
app.command("cost")(cost.cost)
app.command("estimate")(estimate.estimate)
app.command("explain")(explain.explain)
app.command("init")(init.init)
app.command("recommend")(recommend.recommend)
app.command("schema")(schema.schema)
app.command("smoke")(smoke.smoke)
app.add_typer(catalog.app, name="catalog")


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
    """Entry point of the distribution.

    A command makes a million objects that live as long as it does, most of them in the provider SDKs. Looking for
    garbage among them, while they are made and once more when the interpreter ends, would be a third of its time.
    """
    gc.set_threshold(2_000_000, 5, 20)  # loop.RARE, which would import the SDK
    atexit.register(gc.freeze)
    app()
