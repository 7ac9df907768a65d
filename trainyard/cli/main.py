"""The `trainyard` command: thin, one module a verb. What a verb needs is imported when it is called."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trainyard.cli import (
    assess,
    catalog,
    chargeback,
    check,
    cost,
    destroy,
    drain,
    estimate,
    explain,
    fleet,
    images,
    init,
    new,
    plan,
    preflight,
    recommend,
    rehearse,
    report,
    schema,
    smoke,
    tracking,
    upgrade,
    way_in,
)
from trainyard.cli.project import DEBUG, debugging, error_line
from trainyard.output import write_anything
from trainyard.problems import in_one_line
from trainyard.review.exit_codes import EXIT_BROKEN, EXIT_CLOSED_PIPE, EXIT_INTERRUPTED


class _Group(TyperGroup):
    """Ends every verb quietly where a person or what reads its output ends it."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Reads the command line. `click` would end with 1 at a Ctrl-C meanwhile, which is a verdict here."""
        try:
            return super().make_context(*arguments, **options)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None

    def invoke(self, ctx: Any) -> object:
        """Runs the verb. Whatever it wrote is on its way when this returns, so that a closed pipe shows here."""
        try:
            found: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
            raise typer.Exit(EXIT_CLOSED_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        return found


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Machine-learning training infrastructure: sized from a team, rehearsed offline, proven to train.",
)
app.command("assess")(assess.assess)
app.command("rehearse")(rehearse.rehearse)
app.command("check")(check.check)
app.command("cost")(cost.cost)
app.command("chargeback")(chargeback.chargeback)
app.command("destroy")(destroy.destroy)
app.command("estimate")(estimate.estimate)
app.command("explain")(explain.explain)
app.command("init")(init.init)
app.command("new")(new.new)
app.command("plan")(plan.plan)
app.command("preflight")(preflight.preflight)
app.command("recommend")(recommend.recommend)
app.command("report")(report.report)
app.command("schema")(schema.schema)
app.command("smoke")(smoke.smoke)
app.command("upgrade")(upgrade.upgrade)
app.command("drain")(drain.drain)
app.command("kubeconfig")(way_in.kubeconfig)
app.command("open")(way_in.open_)
app.command("tunnel")(way_in.tunnel)
app.add_typer(catalog.app, name="catalog")
app.add_typer(images.app, name="images")
app.add_typer(tracking.app, name="tracking")
app.add_typer(fleet.app, name="fleet")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("trainyard"))
        raise typer.Exit


def _no_color(wanted: bool) -> None:
    if wanted:
        os.environ["NO_COLOR"] = "1"


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG] = "1"


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    _plain: Annotated[
        bool, typer.Option("--no-color", callback=_no_color, help="No colours; as NO_COLOR=1 does.")
    ] = False,
    _traceback: Annotated[
        bool, typer.Option("--debug", callback=_debug, help=f"Show where Trainyard itself fails; as {DEBUG}=1 does.")
    ] = False,
) -> None:
    write_anything()


def main() -> None:
    """Runs the command line.

    A command makes a million objects that live as long as it does, most of them in the provider SDKs. Looking for
    garbage among them, while they are made and once more when the interpreter ends, would be a third of its time.
    """
    gc.set_threshold(2_000_000, 5, 20)  # loop.RARE, which would import the SDK
    atexit.register(gc.freeze)
    try:
        app()
    except Exception as error:
        _told(error)
        sys.exit(EXIT_BROKEN)


def _told(error: Exception) -> None:
    """Says that Trainyard failed: with what, where, and how to see more."""
    if debugging():
        traceback.print_exc()
    more = "" if debugging() else f" `{DEBUG}=1` before the command shows the traceback to report it with."
    error_line(
        f"Trainyard failed: {in_one_line(error)}. This is a bug of Trainyard's own and says nothing"
        f" of your stack.{more}"
    )


if __name__ == "__main__":  # `python -m trainyard.cli.main` would else do nothing, and look as if all were well
    main()
