"""Finding the project and its stacks, and telling a person what is wrong with them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from trainyard.problems import Problem, SettingsError, nearest, some_of
from trainyard.review.exit_codes import EXIT_PROGRAM, EXIT_SETTINGS, EXIT_VIOLATED

if TYPE_CHECKING:
    from rich.console import Console

    from trainyard.fleet.clients import Wave
    from trainyard.plan.parts import Plan
    from trainyard.plan.resolve import Resolved
    from trainyard.rehearsal.rehearse import Rehearsal
    from trainyard.review.change.source import Source

__all__ = ["EXIT_PROGRAM", "EXIT_SETTINGS", "EXIT_VIOLATED"]


def path_given(text: str | Path) -> Path:
    """The path that an option was given; refuses the next option, which is what stands there when a path is forgotten.

    A file whose name begins with `-` can be given as `./-name`.
    """
    if str(text).startswith("-") and str(text) != "-":  # typer hands an option's default over too
        raise typer.BadParameter(f"{text} is an option, not a file")
    return Path(text)


def file_option(*names: str, help: str, metavar: str = "FILE", panel: str | None = None) -> Any:
    """An option whose value is a path, in every verb the same."""
    return typer.Option(*names, metavar=metavar, help=help, parser=path_given, rich_help_panel=panel)


DEBUG = "TRAINYARD_DEBUG"
"""Environment variable: whether a failure of Trainyard's own shows its traceback. Worker processes inherit it."""

StackArgument = Annotated[
    str, typer.Argument(metavar="STACK", help="A stack's name (Pulumi.STACK.yaml) or the path of its file.")
]
JsonOption = Annotated[Path | None, file_option("--json", help="Write everything as JSON; '-' is standard output.")]
HtmlOption = Annotated[Path | None, file_option("--html", help="Write a page for the browser; '-' likewise.")]
ProjectOption = Annotated[
    Path | None,
    file_option(
        "--project", "-C", help="The project's folder. By default the nearest Pulumi.yaml above.", metavar="DIR"
    ),
]

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="REF",
        help="Judge the change from there too: a git reference, a `rehearse --json`, or a `pulumi stack export`.",
        show_default=False,
    ),
]

OtherStacksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stack-outputs",
        metavar="STACK=FILE",
        help="What another stack hands on to this one's StackReference: the file that"
        " `pulumi stack output --json --stack STACK` writes. May be given several times.",
        show_default=False,
    ),
]


def other_stacks(given: Sequence[str] | None) -> dict[str, Mapping[str, Any]]:
    """The outputs of other stacks, by the names that `--stack-outputs` gives them.

    Ends the command where one is not given so, or is in no such file.
    """
    if not given:
        return {}
    from trainyard.rehearsal.engine.other_stacks import outputs_in

    told: dict[str, Mapping[str, Any]] = {}
    for each in given:
        name, equals, file = each.partition("=")
        if not (name and equals and file):
            raise typer.BadParameter(f"{each} is not STACK=FILE", param_hint="--stack-outputs")
        try:
            told[name] = outputs_in(path_given(file), f"--stack-outputs {name}")
        except SettingsError as error:
            fail_problems(f"in what is told of stack {_escaped(name)}", error)
    return told


def debugging() -> bool:
    """Whether a failure of Trainyard's own shows its traceback."""
    return os.environ.get(DEBUG, "") not in ("", "0")


def _on_stderr() -> Console:
    from rich.console import Console  # most commands have nothing to say there, or say it at their end

    return Console(stderr=True, highlight=False)


def _escaped(text: str) -> str:
    """A text that is no markup of Rich's."""
    from rich.markup import escape as escaped

    return escaped(text)


def error_line(message: str) -> None:
    """Says on standard error what is wrong."""
    _on_stderr().print(f"[bold red]error[/]: {_escaped(message)}", soft_wrap=True)


def fail(message: str, *, code: int = EXIT_SETTINGS) -> NoReturn:
    """Says what is wrong on standard error and ends the command."""
    error_line(message)
    raise typer.Exit(code)


def fail_settings(stack: str, error: SettingsError) -> NoReturn:
    """Lists every problem of a stack's settings and ends the command."""
    fail_problems(f"in the settings of stack {_escaped(stack)}", error)


@contextmanager
def settings_of(stack: str) -> Iterator[None]:
    """Ends the command with every problem of a stack's settings that the block meets."""
    try:
        yield
    except SettingsError as error:
        fail_settings(stack, error)


def read_plan(project: Path | None, stack: str) -> Plan:
    """A stack's plan, without its program; ends the command where the settings are wrong, and passes on warnings."""
    return read_resolved(project, stack).plan


def read_resolved(project: Path | None, stack: str) -> Resolved:
    """As `read_plan`, with the settings."""
    from trainyard.plan.resolve import resolve_stack

    folder = find_project(project)
    file = find_stack(folder, stack)
    with settings_of(stack):
        resolved = resolve_stack(folder, file)
    warn(resolved.warnings)
    return resolved


def warn(texts: Iterable[str]) -> None:
    """Says on standard error what works and should be changed."""
    for text in texts:
        _on_stderr().print(f"[yellow]warning[/]: {_escaped(text)}", soft_wrap=True)


def warn_of(rehearsal: Rehearsal) -> None:
    """Passes on what the program logged as a warning, such as keys of the settings at their old place."""
    warn(rehearsal.logged_warnings)


def hint_at_locks(files: Sequence[Path]) -> None:
    """Says on standard error which stacks have no lock, so that a later change may move what lives; nothing if none."""
    from trainyard.plan.lock import lock_path
    from trainyard.rehearsal.engine.project import stack_of

    without = [stack_of(file) for file in files if not lock_path(file).is_file()]
    if without:
        told = f"no lock for {some_of(without)}: a later change may move what lives; `trainyard plan STACK --lock`"
        _on_stderr().print(f"[dim]hint: {_escaped(told)}[/]", soft_wrap=True)


def fail_options(error: SettingsError) -> NoReturn:
    """Lists every problem of the options and ends the command."""
    fail_problems("with the options", error)


def fail_problems(where: str, error: SettingsError) -> NoReturn:
    """Lists every problem, `where` they are in words that may hold markup, and ends the command."""
    console = _on_stderr()
    count = len(error.problems)
    console.print(f"[bold red]error[/]: {count} problem{'s' if count > 1 else ''} {where}")
    for problem in error.problems:
        hint = f" [dim]({_escaped(problem.hint)})[/]" if problem.hint else ""
        console.print(
            f"  [bold]{_escaped(problem.key)}[/]: got {_escaped(problem.got)}; {_escaped(problem.allowed)}{hint}",
            soft_wrap=True,
        )
    raise typer.Exit(EXIT_SETTINGS)


@contextmanager
def progress(text: str, *, told_every_s: float | None = None) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while the block runs, whose text it may change; nothing where nobody watches, or,
    with `told_every_s`, a line after so many seconds at the soonest: a CI ends a job that is silent for long."""
    if not sys.stderr.isatty():
        yield _now_and_then(told_every_s) if told_every_s is not None else lambda _: None
        return
    from trainyard.review.beside import OF_A_SPINNER

    before = threading.enumerate()
    drawing: list[threading.Thread] = []
    try:
        with _on_stderr().status(text) as status:
            begun = (thread for thread in threading.enumerate() if thread not in before)
            drawing = [thread for thread in begun if type(thread).__module__ == OF_A_SPINNER]
            yield status.update
    finally:
        for thread in drawing:  # Rich tells it to end and goes on; no process is forked of one that has two threads
            thread.join()


def _now_and_then(every_s: float) -> Callable[[str], None]:
    last = time.monotonic()

    def say(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= every_s:
            last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return say


def find_project(given: Path | None) -> Path:
    """The folder of Pulumi.yaml: the one given, else the nearest at or above the working directory."""
    if given is not None:
        if not (given / "Pulumi.yaml").is_file():
            fail(f"--project {given}: there is no Pulumi.yaml in it")
        return given.resolve()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "Pulumi.yaml").is_file():
            return folder
    fail(f"no Pulumi.yaml in {here} or above it; go to the project or name it with --project DIR")


def find_stack(project: Path, stack: str) -> Path:
    """The stack's file, by its name or its path."""
    path = Path(stack)
    if path.suffix in {".yaml", ".yml"}:
        if not path.is_file():
            fail(f"{stack}: no such file")
        if path.name.endswith(".lock.yaml"):
            fail(f"{stack} is a stack's lock; the stack's file is {path.name.removesuffix('.lock.yaml')}.yaml")
        if path.name.endswith(".answers.yaml"):
            fail(f"{stack} holds answers; the stack's file is {path.name.removesuffix('.answers.yaml')}.yaml")
        if path.stem == "Pulumi":
            fail(f"{stack} is the project's file; a stack's is Pulumi.STACK.yaml")
        return path.resolve()
    from trainyard.rehearsal.engine.project import stack_of

    known = {stack_of(file): file for file in stack_files(project)}
    if stack not in known:
        hint = nearest(stack, known)
        there = f"there is {', '.join(known) or 'none'} in {stack_folder(project)}"
        fail(f"no stack {stack!r}; {there}{'; ' + hint if hint else ''}")
    return known[stack]


def find_since(given: str | None, project: Path) -> Source | None:
    """What `--from` names; None where it was not given. Ends the command where there is no such thing."""
    if given is None:
        return None
    from trainyard.review.change.source import find_source

    try:
        return find_source(given, project)
    except SettingsError as error:
        fail(str(error))


def stack_files(project: Path) -> list[Path]:
    """The project's stack files, by name."""
    from trainyard.rehearsal.engine.project import stack_files

    return stack_files(stack_folder(project))


def stack_folder(project: Path) -> Path:
    """Where the project keeps its stack files; ends the command where Pulumi.yaml is no such file."""
    from trainyard.rehearsal.engine.project import stack_folder as folder_of

    try:
        return folder_of(project)
    except SettingsError as error:
        fail_problems(f"with the project in {_escaped(str(project))}", error)


def wave_given(text: str) -> Wave:
    """The wave that `--wave` names; ends the command where there is none of the name."""
    from trainyard.fleet.clients import WAVES

    for wave in WAVES:
        if wave == text:
            return wave
    fail_options(SettingsError([Problem("--wave", text, f"must be one of {', '.join(WAVES)}", nearest(text, WAVES))]))
