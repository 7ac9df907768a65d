"""What the verbs of `trainyard fleet` have in common: the clients of a project, their verdicts, and some options."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainyard.cli.fleet_changes import FEW
from trainyard.cli.project import debugging, fail, progress, settings_of, stack_files
from trainyard.problems import SettingsError, count
from trainyard.review.formats.names import Format

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.releases import Shelf
    from trainyard.review.change.source import Source
    from trainyard.review.told import Told

PulumiOption = Annotated[str, typer.Option(metavar="PROGRAM", help="The Pulumi command.")]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes at once; as many as cores, by default."),
]


TOLD_EVERY_S: Final = 60
"""How often standard error hears of many stacks where nobody watches, seconds."""


def need_pulumi(pulumi: str) -> None:
    """Ends the command where there is no such program."""
    if shutil.which(pulumi) is None:
        fail(f"--pulumi {pulumi}: there is no such program; https://www.pulumi.com/docs/install tells how to get it")


def need_ways(clients: Sequence[Client]) -> None:
    """Ends the command where a program is missing by which Pulumi reaches the clusters of these clients."""
    from trainyard.plan.resolve import resolve_stack
    from trainyard.preflight.tools import PULUMI, Tool, tools_of

    wanted: dict[Tool, list[str]] = {}
    for client in clients:
        try:
            plan = resolve_stack(client.config.root, client.file).plan
        except SettingsError:
            continue  # its verdict, or its own program, tells what is wrong with it
        for tool in tools_of(plan):
            if tool.needed and tool is not PULUMI and shutil.which(tool.program) is None:
                wanted.setdefault(tool, []).append(client.stack)
    if wanted:
        lost = [f"{tool.program} ({tool.why}; {', '.join(stacks)}): {tool.where}" for tool, stacks in wanted.items()]
        fail(f"not on the path: {'; '.join(lost)}")


def clients_of(folder: Path, *, broken_too: bool = False) -> list[Client]:
    """The clients of a project; ends the command where it has none, or where the fleet's file is wrong. A stack file
    that cannot be read ends it too, but for `broken_too`."""
    from trainyard.fleet.clients import read_clients

    files = stack_files(folder)
    if not files:
        fail(f"there is no stack in {folder}; `trainyard new CLIENT` adds one")
    with settings_of("of the fleet"):
        return read_clients(folder, files, broken_too=broken_too)


def shelf_of(folder: Path) -> Shelf:
    """Where the releases of a project's clients are found."""
    from trainyard.fleet.clients import read_fleet
    from trainyard.fleet.releases import Shelf
    from trainyard.fleet.repository import WHEELS
    from trainyard.rehearsal.engine.project import stack_of

    with settings_of("of the fleet"):
        index = read_fleet(folder, [stack_of(file) for file in stack_files(folder)]).index
    return Shelf(folder / WHEELS, index)


def held_clients(folder: Path, *, broken_too: bool = False) -> list[Client]:
    """The clients of a project, those that are pinned with the release that they stay on.

    Ends the command where that release is not to be had: nothing else may judge them, or bring them up.
    """
    from trainyard.fleet.known import HOMES
    from trainyard.fleet.pinned import held

    clients, found = clients_of(folder, broken_too=broken_too), []
    if all(client.entry.pin is None for client in clients):
        return clients
    shelf, installed = shelf_of(folder), version("trainyard")
    try:
        with progress("looking for pinned releases"):
            found = [held(client, installed, shelf, folder / HOMES) for client in clients]
    except SettingsError as error:
        fail(str(error))
    return found


def worst_of(told: Mapping[str, Told]) -> int:
    """The exit code of the worst of the verdicts."""
    from trainyard.review.verdict import State

    order = list(State)
    return max((each.verdict.state for each in told.values()), key=order.index, default=State.SOUND).exit_code


def judged(
    clients: Sequence[Client], jobs: int | None, since_each: Mapping[str, Source] | None = None
) -> dict[str, Told]:
    """What a check says of each stack, by its name; with a stack's source also what changed since that made it.

    A stack that is pinned is judged by its own release.
    """
    from concurrent.futures import ThreadPoolExecutor

    from trainyard.fleet.pinned import told_by
    from trainyard.review.told import Asked
    from trainyard.review.workers import tell_all, workers_for

    found: dict[str, Told] = {}
    if not clients:
        return found
    sources = since_each or {}
    together: dict[Source | None, list[Path]] = {}  # one question for all that have the same source
    for client in clients:
        if client.python is None:
            together.setdefault(sources.get(client.stack), []).append(client.file)
    pinned = [client for client in clients if client.python is not None]
    many = len(clients) > FEW
    with progress(f"checking {count(len(clients), 'stack')}", told_every_s=TOLD_EVERY_S if many else None) as say:
        for source, files in together.items():
            formats, project, workers = (
                (Format.JSON,) if source else (),
                clients[0].config.root,
                workers_for(len(files)),
            )
            with _made_by(source, project, files, jobs or workers, say) as since:
                asked = Asked(project=project, formats=formats, debug=debugging(), since=since)
                for told in tell_all(asked, files, {}, workers=jobs or workers):
                    found[told.verdict.stack] = _change_alone(told) if source else told
                    say(f"checked {len(found)} of {len(clients)} stacks")
        with ThreadPoolExecutor(jobs or workers_for(max(1, len(pinned)))) as pool:
            asking = [
                pool.submit(told_by, client, client.python, sources.get(client.stack))
                for client in pinned
                if client.python is not None
            ]
            for each in asking:
                found[each.result().verdict.stack] = each.result()
                say(f"checked {len(found)} of {len(clients)} stacks")
    return found


def _change_alone(told: Told) -> Told:
    """What a comparison of releases takes of a stack: the rest of its JSON is the most of it, and there are many."""
    whole = json.loads(told.parts[Format.JSON])
    kept = {key: whole[key] for key in ("change", "violations") if key in whole}
    return replace(told, parts={Format.JSON: json.dumps(kept)})


@contextmanager
def _made_by(
    source: Source | None, project: Path, files: Sequence[Path], workers: int, say: Callable[[str], None]
) -> Iterator[Source | None]:
    """The source, with what its release made of all stacks for as long as the block runs: before ours judges them, so
    that not twice as many processes are there at once. One stack is rehearsed by it while ours does."""
    if source is None or source.interpreter is None or len(files) == 1:
        yield source
        return
    from trainyard.review.change.many import rehearse_many

    with tempfile.TemporaryDirectory(prefix="trainyard-before-") as name:
        made = rehearse_many(source.interpreter, project, files, Path(name), workers)
        for number, _ in enumerate(made, start=1):
            say(f"{source.words} made {number} of {len(files)} stacks")
        yield replace(source, outcomes=Path(name))
