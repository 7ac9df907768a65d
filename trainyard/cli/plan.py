"""`trainyard plan`: what was decided once for a stack and stays, and deciding it again on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.files import check_outputs, write_json, write_whole
from trainyard.cli.project import (
    JsonOption,
    ProjectOption,
    StackArgument,
    fail,
    fail_options,
    find_project,
    find_stack,
    settings_of,
)
from trainyard.problems import SettingsError
from trainyard.review.exit_codes import EXIT_VIOLATED

if TYPE_CHECKING:
    from trainyard.plan.lock import Lock
    from trainyard.plan.relock import Difference


def plan(
    stack: StackArgument,
    lock: Annotated[
        bool, typer.Option("--lock", help="Write the lock: what it has stays, what it lacks is added.")
    ] = False,
    relock: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY", help="Decide a key again, like zones, lustre.zone or pools.train; may be repeated."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="End with 1 where the lock is not whole.")] = False,
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """What a stack's lock keeps, and what it would say today.

    Zones with their addresses, instance types, the file system's place and size are decided once: the lock beside the
    stack's file keeps them, whatever else changes. `--relock KEY` decides again and says what that would replace;
    nothing is replaced before `pulumi up`.
    Exit codes: 0; 1 with --check, the lock is not whole; 2 the settings or the lock are wrong.
    """
    check_outputs({"--json": json_file})
    if check and (lock or relock):
        fail("--check reads the lock; --lock and --relock write it")
    file = find_stack(folder := find_project(project), stack)
    from trainyard.plan.lock import NOTHING, lock_path, lock_text, read_lock
    from trainyard.plan.relock import check_keys, differences, relocked
    from trainyard.rehearsal.engine.project import read_stack
    from trainyard.settings.unseen import stand_in

    path = lock_path(file)
    with settings_of(stack):
        config = read_stack(folder, file, stand_in=stand_in)
        found = read_lock(path)
    before = found or NOTHING
    if relock and found is None:
        fail(f"{path.name}: there is none yet; `trainyard plan {stack} --lock` writes it")
    if relock:
        try:
            check_keys(before, relock)
        except SettingsError as error:
            fail_options(error)
    with settings_of(stack):
        after = relocked(config, before, relock or ())
    changes = differences(before, after)
    if lock or relock:
        write_whole(path, lock_text(after, config.stack))
    if json_file is not None:
        document = {
            "stack": config.stack,
            "lock": before.as_json() if found else None,
            "differences": [
                {"key": each.key, "was": each.was, "now": each.now, "replaces": each.replaces} for each in changes
            ],
        }
        write_json(json_file, document)
    if str(json_file) != "-":
        _tell(path.name, config.stack, after if lock or relock else before, changes, written=bool(lock or relock))
    if check and changes:
        raise typer.Exit(EXIT_VIOLATED)


def _tell(file: str, stack: str, lock: Lock, changes: list[Difference], *, written: bool) -> None:
    from rich.table import Table

    from trainyard.output import console
    from trainyard.plan.lock import NOTHING, entries

    out = console()
    if changes:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("key", "the lock" if not written else "before", "now", "replaces"):
            table.add_column(title, overflow="fold")
        for each in changes:
            table.add_row(each.key, each.was, each.now, each.replaces)
        out.print(table)
    if written:
        out.print(f"Wrote {file}; nothing is replaced before `pulumi up`." if changes else f"{file} is whole already.")
    elif lock == NOTHING:
        out.print(f"There is no {file}: every `up` decides all of this anew; `trainyard plan {stack} --lock` keeps it.")
    elif changes:
        out.print(f"{file} is not whole: `trainyard plan {stack} --lock` adds what is new and drops what is gone.")
    else:
        out.print(f"{file} keeps {len(entries(lock))} decisions; all that the plan says is in it.")
