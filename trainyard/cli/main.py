"""The `trainyard` command: thin, one module a verb. A verb, and what it needs, is imported when it is called."""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from trainyard.cli.project import DEBUG, debugging, error_line
from trainyard.output import write_anything
from trainyard.problems import in_one_line
from trainyard.review.exit_codes import EXIT_BROKEN, EXIT_CLOSED_PIPE, EXIT_INTERRUPTED, EXIT_SETTINGS


class _Group(TyperGroup):
    """Ends every verb quietly where a person or what reads its output ends it. Help names no type of a switch, which
    takes no value, and is wrapped to the terminal's width, not to that of the source."""

    def get_params(self, ctx: Any) -> Any:
        """The group's own options."""
        return _switches(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, or nothing."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            _switches(found.get_params(ctx))
            found.help = _paragraphs(found.help or "")
        return found

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


def _paragraphs(text: str) -> str:
    """Each paragraph in one line; what is told of exit codes is one of its own."""
    whole = inspect.cleandoc(text).replace("\nExit codes:", "\n\nExit codes:")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in whole.split("\n\n"))


def _switches(parameters: Any) -> Any:
    """Typer would write `<bool>` after each, as if a value came there."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


VERBS: Final = {
    "assess": "assess.assess",
    "rehearse": "rehearse.rehearse",
    "check": "check.check",
    "cost": "cost.cost",
    "chargeback": "chargeback.chargeback",
    "destroy": "destroy.destroy",
    "estimate": "estimate.estimate",
    "explain": "explain.explain",
    "init": "init.init",
    "new": "new.new",
    "plan": "plan.plan",
    "preflight": "preflight.preflight",
    "recommend": "recommend.recommend",
    "report": "report.report",
    "schema": "schema.schema",
    "smoke": "smoke.smoke",
    "upgrade": "upgrade.upgrade",
    "drain": "drain.drain",
    "kubeconfig": "way_in.kubeconfig",
    "open": "way_in.open_",
    "tunnel": "way_in.tunnel",
    "catalog": "catalog.app",
    "images": "images.app",
    "tracking": "tracking.app",
    "fleet": "fleet.app",
}
"""Where each verb is defined: a function, or an application with verbs of its own. Help tells them in this order."""


_NO_COLOR: Final = "--no-color"
_DEBUG: Final = "--debug"
_SWITCHES: Final = (_NO_COLOR, _DEBUG)
"""Options before a verb that leave it the verb that is asked for."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("trainyard"))
        raise typer.Exit


def _no_color(wanted: bool) -> None:
    if wanted:
        os.environ["NO_COLOR"] = "1"


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG] = "1"


def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    _plain: Annotated[
        bool, typer.Option(_NO_COLOR, callback=_no_color, help="No colours; as NO_COLOR=1 does.")
    ] = False,
    _traceback: Annotated[
        bool, typer.Option(_DEBUG, callback=_debug, help=f"Show where Trainyard itself fails; as {DEBUG}=1 does.")
    ] = False,
) -> None:
    write_anything()


def application(verbs: Iterable[str] = tuple(VERBS)) -> typer.Typer:
    """The command line with these verbs."""
    made = typer.Typer(
        cls=_Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Machine-learning training infrastructure: sized from a team, rehearsed offline, proven to train.",
        callback=_options,
    )
    for verb in verbs:
        module, _, name = VERBS[verb].partition(".")
        found = getattr(importlib.import_module(f"trainyard.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=verb, cls=_Group)
        else:
            made.command(verb)(found)
    return made


def __getattr__(name: str) -> typer.Typer:
    """`app`, the whole command line, where somebody asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    whole = globals()["app"] = application()
    return whole


def _asked(arguments: Sequence[str]) -> typer.Typer:
    """The command line with the verb that is asked for alone; the whole one where that is not plain."""
    words = [word for word in arguments if word not in _SWITCHES]
    return application(words[:1] if words and words[0] in VERBS else VERBS)


def main() -> None:
    """Runs the command line. What it made is not looked through for garbage once more when the interpreter ends."""
    atexit.register(gc.freeze)
    try:
        _asked(sys.argv[1:])()
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_BUG:
            _told_of_place(error)
            sys.exit(EXIT_SETTINGS)
        _told(error)
        sys.exit(EXIT_BROKEN)


_NO_BUG: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""What a folder that may not be written, or a disk that is full, answers."""


def _told_of_place(error: OSError) -> None:
    """Says which file the machine refuses, and why."""
    if debugging():
        traceback.print_exc()
    place = f"{error.filename}: " if error.filename else ""
    error_line(f"{place}cannot be read or written: {error.strerror}. Mend that, and call the command again.")


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
