"""`trainyard check`: stacks judged offline, told in as many formats as are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from trainyard.cli.files import check_outputs, write_whole
from trainyard.cli.project import (
    EXIT_SETTINGS,
    FromOption,
    OtherStacksOption,
    ProjectOption,
    debugging,
    error_line,
    fail,
    fail_problems,
    file_option,
    find_project,
    find_since,
    find_stack,
    hint_at_locks,
    other_stacks,
    progress,
    settings_of,
    stack_files,
    warn,
)
from trainyard.output import PLAIN, Look, look, rendered
from trainyard.problems import SettingsError
from trainyard.review.formats.names import Format
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json

if TYPE_CHECKING:
    from trainyard.review.told import Asked, Told
    from trainyard.review.verdict import State

OUTPUT = "Output"
"""A panel of `--help`."""


def check(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(metavar="STACK", help="Stacks by name, or paths of stack files.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every stack of the project.")] = False,
    skip_pinned: Annotated[
        bool,
        typer.Option("--skip-pinned", help="With --all: without those that fleet.yaml pins to another release."),
    ] = False,
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="What --output gets; text by default.", rich_help_panel=OUTPUT),
    ] = None,
    output: Annotated[
        Path | None, file_option("--output", "-o", help="Where to; standard output by default.", panel=OUTPUT)
    ] = None,
    json_file: Annotated[
        Path | None, file_option("--json", help="Also as JSON, to compare with.", panel=OUTPUT)
    ] = None,
    sarif_file: Annotated[
        Path | None, file_option("--sarif", help="Also as SARIF, for code scanning.", panel=OUTPUT)
    ] = None,
    junit_file: Annotated[
        Path | None, file_option("--junit", help="Also as JUnit XML, for test reports.", panel=OUTPUT)
    ] = None,
    markdown_file: Annotated[
        Path | None, file_option("--markdown", help="Also as Markdown, for a pull request.", panel=OUTPUT)
    ] = None,
    policy_config: Annotated[
        Path | None,
        file_option("--policy-config", help="Configuration of the pack, as for `pulumi --policy-pack-config`."),
    ] = None,
    compare: Annotated[
        Path | None,
        file_option("--compare", help="JSON of an earlier check; the Markdown tells what changed.", metavar="OLD"),
    ] = None,
    since: FromOption = None,
    stack_outputs: OtherStacksOption = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes at once; as many as cores, by default."),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Judge stacks offline: settings, program, policies and price. No account, no Pulumi login, no credentials.

    Every stack is judged by the installed release, whatever is wrong with another; `fleet check` judges those that
    fleet.yaml pins by their own. The exit code is that of the worst:
    0 well; 1 a mandatory policy is violated; 3 the program or the change is wrong; 2 the settings are wrong;
    70 Trainyard failed.
    """
    also = {
        Format.JSON: json_file,
        Format.SARIF: sarif_file,
        Format.JUNIT: junit_file,
        Format.MARKDOWN: markdown_file,
    }
    outputs = _outputs(form, output, {name: file for name, file in also.items() if file is not None})
    if compare is not None and Format.MARKDOWN not in outputs:
        fail("--compare tells what changed in Markdown: add --markdown FILE or --format markdown")
    folder = find_project(project)
    if skip_pinned and not every:
        fail("--skip-pinned goes with --all")
    files = _files(folder, stacks or [], every=every)
    before = _document(compare) if compare is not None else None
    if skip_pinned:
        files = _without_pinned(folder, files, before)
    from trainyard.review.told import Asked

    asked = Asked(
        project=folder,
        formats=tuple(outputs),
        look=_look(outputs),
        alone=len(files) == 1,
        policy_configuration=_configuration(policy_config),
        compared=before is not None,
        since=find_since(since, folder),
        stack_outputs=other_stacks(stack_outputs),
        debug=debugging(),
    )
    found = _judged(asked, files, before, jobs)
    _write(found, outputs, before)
    hint_at_locks(files)
    worst = max((told.verdict.state for told in found), key=_weight, default=None)
    if worst is not None and worst.exit_code:
        raise typer.Exit(worst.exit_code)


def _weight(state: State) -> int:
    """The place of a state among all, best first."""
    return list(type(state)).index(state)


def _outputs(form: Format | None, output: Path | None, also: Mapping[Format, Path]) -> dict[Format, Path]:
    """Where each format goes. Text gives standard output up to what was sent there, unless it was asked for."""
    found = dict(also)
    chosen = form is not None or output is not None
    name = form or Format.TEXT
    if name in also:
        fail(f"--format {name} and --{name} {also[name]}: one of them is enough")
    if chosen or "-" not in map(str, also.values()):
        found[name] = output or Path("-")
    check_outputs({f"--{name}" if name in also else f"--format {name} --output": file for name, file in found.items()})
    return found


def _files(folder: Path, stacks: list[str], *, every: bool) -> list[Path]:
    if every == bool(stacks):
        fail("name the stacks to check, or say --all (not both)" if every else "name the stacks to check, or say --all")
    if not every:
        return list(dict.fromkeys(find_stack(folder, stack) for stack in stacks))
    found = stack_files(folder)
    if not found:
        fail(f"there is no stack in {folder}")
    return found


def _without_pinned(folder: Path, files: list[Path], before: dict[str, dict[str, Any]] | None) -> list[Path]:
    """The stacks that the installed release makes; what was said of the others earlier is not compared either."""
    from trainyard.fleet.clients import read_fleet
    from trainyard.rehearsal.engine.project import stack_of

    with settings_of("of the fleet"):
        entries = read_fleet(folder, [stack_of(file) for file in files]).stacks
    pinned = {stack for stack, entry in entries.items() if entry.stays_on_another(version("trainyard"))}
    if pinned:
        warn([f"{', '.join(sorted(pinned))}: pinned to another release, which `trainyard fleet check` asks"])
    for stack in pinned:
        (before or {}).pop(stack, None)
    return [file for file in files if stack_of(file) not in pinned]


def _document(path: Path) -> dict[str, dict[str, Any]]:
    """By stack what the JSON of an earlier check holds, as far as it is compared."""
    try:
        content = read_json(path, f"--compare {path}", LARGEST_OUTCOME_BYTES)
    except SettingsError as error:
        fail(str(error))
    from trainyard.review.formats.markdown import kept_for_comparison

    try:
        return kept_for_comparison(content)
    except (AttributeError, KeyError, TypeError, ValueError):
        fail(f"--compare {path}: is no outcome of `trainyard check --json`", code=EXIT_SETTINGS)


def _configuration(path: Path | None) -> dict[str, Any] | None:
    """The configuration of the policies, which is wrong for all stacks or for none."""
    if path is None:
        return None
    from trainyard.policies.pack import LEVEL, POLICIES
    from trainyard.review.policy_check.configuration import read_configuration, reconcile

    try:
        found = read_configuration(path)
        reconcile(POLICIES, found, LEVEL)
    except SettingsError as error:
        fail_problems(f"in the policies' configuration {escape(str(path))}", error)
    return found


def _judged(asked: Asked, files: Sequence[Path], before: Mapping[str, Any] | None, jobs: int | None) -> list[Told]:
    """Every stack judged and told, in the order of the files."""
    from trainyard.rehearsal.engine.project import stack_of
    from trainyard.review.workers import tell_all, workers, workers_for

    earlier = {file: before[stack_of(file)] for file in files if before and stack_of(file) in before}
    found: list[Told] = []
    doing = f"checking {len(files)} stacks" if len(files) != 1 else f"checking {stack_of(files[0])}"
    with workers(min(jobs or workers_for(len(files)), len(files))) as among, progress(doing) as say:
        for told in tell_all(asked, files, earlier, among=among):
            found.append(told)
            say(f"checked {len(found)} of {len(files)} stacks")
    return found


def _look(outputs: Mapping[Format, Path]) -> Look:
    """How the text is to look: as standard output takes it, or plain in a file."""
    return look() if str(outputs.get(Format.TEXT)) == "-" else PLAIN


def _write(found: Sequence[Told], outputs: Mapping[Format, Path], before: Mapping[str, Any] | None) -> None:
    for name, file in outputs.items():
        write_whole(file, _text(name, found, before, _look(outputs)))
    if str(outputs.get(Format.TEXT, "")) != "-":  # what reads the formats is a machine: a person reads the log
        for told in found:
            warn(f"{told.verdict.stack}: {text}" for text in told.warnings)
            if not told.verdict.state.deployable:
                error_line(f"{told.verdict.headline}; {'; '.join(told.verdict.next_steps)}")


def _text(wanted: Format, found: Sequence[Told], before: Mapping[str, Any] | None, how: Look) -> str:
    from trainyard.review.formats import document, junit, markdown, sarif
    from trainyard.review.reports import terminal

    parts, verdicts = [told.parts[wanted] for told in found], [told.verdict for told in found]
    match wanted:
        case Format.JSON:
            return document.whole(parts)
        case Format.SARIF:
            return sarif.whole(parts, verdicts)
        case Format.JUNIT:
            return junit.whole(parts)
        case Format.MARKDOWN:
            removed = [stack for stack in before or {} if stack not in {told.stack for told in verdicts}]
            return markdown.whole(parts, verdicts, removed)
    overview = rendered(lambda out: out.print(terminal.many(verdicts)), how) if len(found) > 1 else ""
    return overview + "".join(parts)
