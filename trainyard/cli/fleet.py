"""`trainyard fleet`: all clients of a project at once."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import check_outputs, write_json, write_whole
from trainyard.cli.fleet_live import ask_all, ask_smoke
from trainyard.cli.fleet_tables import print_changes, print_known, print_shared, print_stacks, row
from trainyard.cli.project import (
    JsonOption,
    ProjectOption,
    debugging,
    error_line,
    fail,
    find_project,
    progress,
    settings_of,
    stack_files,
    wave_given,
)
from trainyard.fleet.known import HOMES, known_of
from trainyard.problems import SettingsError
from trainyard.review.exit_codes import EXIT_VIOLATED
from trainyard.review.formats.names import Format

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client, Wave
    from trainyard.fleet.ledger import Ledger
    from trainyard.review.change.source import Source
    from trainyard.review.told import Told

app = typer.Typer(no_args_is_help=True, help="All clients of a project at once: listed, checked, brought forward.")

LEDGER = ".trainyard-upgrade.json"
"""What became of each stack of the upgrade under way, beside Pulumi.yaml."""

EXIT_FAILED = 1
EXIT_DRIFT = 1

_A_RELEASE = "a version, a wheel, or the python that has one"
BeforeOption = Annotated[
    str | None,
    typer.Option("--before", metavar="RELEASE", help=f"The release that the stacks run now: {_A_RELEASE}."),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="RELEASE", help=f"The release to compare with the installed one: {_A_RELEASE}."),
]
PulumiOption = Annotated[str, typer.Option(metavar="PROGRAM", help="The Pulumi command.")]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes at once; as many as cores, by default."),
]


@app.command("list")
def list_(
    live: Annotated[
        bool, typer.Option("--live", help="Ask every stack's state and account first; nothing is changed.")
    ] = False,
    pulumi: PulumiOption = "pulumi",
    json_file: JsonOption = None,
    jobs: JobsOption = None,
    project: ProjectOption = None,
) -> None:
    """Every client's stack: cloud, profile, wave, verdict, and a month's expected cost beside its budget; then
    policies, last smoke verdict, drift, and what the month has cost so far, each with when it was asked.

    No cloud is asked without --live: what `fleet drift`, `fleet upgrade`, `trainyard smoke` and --live found out is
    kept beside the stack files. What nobody asked is `unknown`.
    Exit codes: 0, whatever the verdicts; 2 fleet.yaml, a stack file or what was kept cannot be read.
    """
    from trainyard.fleet.drift import last

    check_outputs({"--json": json_file})
    folder = find_project(project)
    clients = _clients(folder)
    if live:
        _need(pulumi)
        ask_all(folder, clients, pulumi)
    try:
        known = {client.stack: known_of(client.stack, folder / HOMES) for client in clients}
    except SettingsError as error:
        fail(str(error))
    told = _judged(clients, jobs)
    drifts = {client.stack: last(client, folder / HOMES) for client in clients}
    if json_file is not None:
        rows = [
            {
                **row(client, told[client.stack]),
                "drift": drift.as_json() if drift else None,
                **known[client.stack].as_json(),
            }
            for client, drift in ((client, drifts[client.stack]) for client in clients)
        ]
        write_json(json_file, {"stacks": rows})
    if str(json_file) != "-":
        print_stacks(clients, told)
        print_known(clients, told, drifts, known)


@app.command()
def check(json_file: JsonOption = None, jobs: JobsOption = None, project: ProjectOption = None) -> None:
    """Judge every stack, and what no two clients may share: owners, addresses, reservations, backends, keys, roles.

    Exit codes: 0; 1 a mandatory policy is violated, or two clients share what is one's; 2 settings are wrong; 3 a
    program is wrong; 70 Trainyard failed.
    """
    from trainyard.fleet.apart import shared_between

    check_outputs({"--json": json_file})
    clients = _clients(find_project(project))
    shared = shared_between(clients)
    told = _judged(clients, jobs)
    if json_file is not None:
        stacks = [row(client, told[client.stack]) for client in clients]
        write_json(json_file, {"stacks": stacks, "shared": [each.as_json() for each in shared]})
    if str(json_file) != "-":
        print_stacks(clients, told)
        print_shared(shared)
    code = _worst(told) or (EXIT_VIOLATED if shared else 0)
    if code:
        raise typer.Exit(code)


@app.command()
def diff(
    to: ToOption = None,
    before: BeforeOption = None,
    wave: Annotated[str, typer.Option(help="Up to this wave.")] = "rest",
    json_file: JsonOption = None,
    jobs: JobsOption = None,
    project: ProjectOption = None,
) -> None:
    """What another release changes in every stack: --to a newer one, or the installed one after --before an older one.

    Each stack is rehearsed by both, and compared as the engine would: what is made, changed, replaced, deleted. What
    would lose data, or be refused, is told, and stops an upgrade. Nothing is deployed. A version or a wheel is
    installed with pip into an environment of its own, which is kept.
    Exit codes: 0; 1 a mandatory policy is violated; 2 settings are wrong; 3 a change loses what holds data, or would be
    refused.
    """
    check_outputs({"--json": json_file})
    chosen = wave_given(wave)
    if (to is None) == (before is None):
        fail("name one release to compare the installed one with: --to a newer one, or --before an older one")
    folder = find_project(project)
    if to is not None:
        raise typer.Exit(_asked_of(_python_of(to, "--to"), chosen, json_file, jobs, folder))
    clients = _up_to(_clients(folder), chosen)
    told = _judged(clients, jobs, _release_of(before))
    changes = {stack: _change(each) for stack, each in told.items()}
    if json_file is not None:
        rows = [{**row(client, told[client.stack]), "change": changes[client.stack]} for client in clients]
        write_json(json_file, {"stacks": rows})
    if str(json_file) != "-":
        print_changes(clients, told, changes)
    code = _worst(told)
    if code:
        raise typer.Exit(code)


@app.command()
def upgrade(
    wave: Annotated[str, typer.Option(help="canary, early or rest: those before it come first.")] = "canary",
    before: BeforeOption = None,
    again: Annotated[bool, typer.Option("--again", help="Also the stacks that this release brought up.")] = False,
    at_once: Annotated[
        int | None,
        typer.Option("--at-once", min=1, metavar="N", help="Stacks at once; as many as memory holds, by default."),
    ] = None,
    pulumi: PulumiOption = "pulumi",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """Bring the clients' stacks to the installed release, wave by wave; stop where one fails.

    Stacks of one wave are brought up beside each other, by default one for each 2.5 GiB of free memory and 8 at most.
    Where one fails no other is begun, and what runs goes to its end.

    Every stack is checked before the first one is touched; with --before, what the upgrade would change as well, and a
    change that loses data stops the wave. What became of each is kept in a ledger beside Pulumi.yaml:
    after a failure or a kill the same command goes on where it ended, and no stack is done twice.
    Exit codes: 0 the wave is done; 1 a stack failed, or must not be deployed; 2 an option or a file is wrong.
    """
    from trainyard.fleet import memory
    from trainyard.fleet.apart import shared_between
    from trainyard.fleet.upgrade import due
    from trainyard.fleet.upgrade import upgrade as bring_forward

    check_outputs({"--json": json_file})
    chosen = wave_given(wave)
    _need(pulumi)
    folder = find_project(project)
    clients = {client.stack: client for client in _clients(folder)}
    ledger = _ledger(folder, list(clients.values()), again=again)
    waiting = [clients[turn.stack] for turn in due(ledger, chosen)]
    told = _judged(waiting, None, _release_of(before))
    bad = [each.verdict.headline for each in told.values() if not each.verdict.state.deployable]
    bad += [str(each) for each in shared_between(list(clients.values()))]
    if bad:
        fail(f"no stack is touched: {'; '.join(bad)}", code=EXIT_FAILED)
    ledger.write()

    def done_with(stack: str) -> None:
        _note(folder, stack, ledger.release)
        ask_smoke(folder, clients[stack], pulumi)

    failed = bring_forward(
        ledger,
        clients,
        chosen,
        pulumi,
        folder / HOMES,
        typer.echo,
        done_with,
        at_once or memory.at_once(memory.free_mib()),
    )
    if json_file is not None:
        write_json(json_file, ledger.as_json())
    done = sum(turn.step == "done" for turn in ledger.turns)
    for turn in failed:
        error_line(f"{turn.stack} failed; no other stack is begun. The last of what Pulumi said:")
        typer.echo(turn.told, err=True)
    if failed:
        names = ", ".join(turn.stack for turn in failed)
        typer.echo(f"{done} of {len(ledger.turns)} stacks are done; the same command goes on with {names}.")
        raise typer.Exit(EXIT_FAILED)
    frozen = [client.stack for client in clients.values() if client.entry.frozen is not None]
    left = f"; {len(ledger.left)} in later waves" if ledger.left else ""
    alone = f"; left alone: {', '.join(frozen)}" if frozen else ""
    typer.echo(f"{done} of {len(ledger.turns)} stacks were brought to {ledger.release}{left}{alone}.")


def _note(folder: Path, stack: str, release: str) -> None:
    """Writes into fleet.yaml which release brought a stack up."""
    from trainyard.fleet.clients import FILE, Entry, fleet_text, read_fleet
    from trainyard.rehearsal.engine.project import stack_of

    fleet = read_fleet(folder, [stack_of(file) for file in stack_files(folder)])
    entry = fleet.stacks.get(stack, Entry()).model_copy(update={"version": release})
    write_whole(folder / FILE, fleet_text(fleet.model_copy(update={"stacks": {**fleet.stacks, stack: entry}})))


@app.command()
def drift(
    pulumi: PulumiOption = "pulumi",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """Ask every stack whether its cloud is still what its program says; nothing is changed.

    Runs `pulumi preview --refresh --expect-no-changes`, for which a role that only reads is enough.
    Exit codes: 0 no drift; 1 a stack has drifted, or could not be asked; 2 an option or a file is wrong.
    """
    from trainyard.fleet.drift import ask

    check_outputs({"--json": json_file})
    _need(pulumi)
    folder = find_project(project)
    found = []
    for client in _clients(folder):
        with progress(f"asking {client.stack}"):
            answer = ask(client, pulumi, folder / HOMES)
        found.append({"stack": client.stack, "drifted": answer.drifted, "told": answer.told})
    if json_file is not None:
        write_json(json_file, {"stacks": found})
    if str(json_file) != "-":
        for each in found:
            typer.echo(
                f"{each['stack']}: {'drifted, or could not be asked' if each['drifted'] else 'as its program says'}"
            )
            if each["told"]:
                typer.echo("\n".join(f"  {line}" for line in str(each["told"]).splitlines()))
    if any(each["drifted"] for each in found):
        raise typer.Exit(EXIT_DRIFT)


def _need(pulumi: str) -> None:
    """Ends the command where there is no such program."""
    if shutil.which(pulumi) is None:
        fail(f"--pulumi {pulumi}: there is no such program; https://www.pulumi.com/docs/install tells how to get it")


def _clients(folder: Path) -> list[Client]:
    from trainyard.fleet.clients import read_clients

    files = stack_files(folder)
    if not files:
        fail(f"there is no stack in {folder}; `trainyard new CLIENT` adds one")
    with settings_of("of the fleet"):
        return read_clients(folder, files)


def _ledger(folder: Path, clients: Sequence[Client], *, again: bool) -> Ledger:
    """The upgrade under way, or a new one."""
    from trainyard.fleet.ledger import Ledger
    from trainyard.fleet.upgrade import turns

    path, release = folder / LEDGER, version("trainyard")
    try:
        found = Ledger.read(path)
    except SettingsError as error:
        fail(str(error))
    if found is None or not found.left:
        begun = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        return Ledger(path, release, turns(clients, release, again=again), begun)
    if found.release != release:
        fail(
            f"{LEDGER}: the upgrade to {found.release} is not done ({len(found.left)} stacks left); {release} is "
            "installed: finish it with that release, or take the ledger away"
        )
    gone = [turn.stack for turn in found.left if turn.stack not in {client.stack for client in clients}]
    if gone:
        fail(f"{LEDGER}: {', '.join(gone)} is in the upgrade under way and no stack any more; take the ledger away")
    return found


def _up_to(clients: Sequence[Client], wave: Wave) -> list[Client]:
    from trainyard.fleet.clients import WAVES

    return [client for client in clients if WAVES.index(client.entry.wave) <= WAVES.index(wave)]


def _release_of(before: str | None) -> Source | None:
    """The release that made the stacks, where one is named."""
    from trainyard.review.change.source import Source

    return None if before is None else Source(before, interpreter=_python_of(before, "--before"))


def _python_of(release: str, option: str) -> Path:
    from trainyard.fleet.releases import python_of

    try:
        with progress(f"looking for {release}"):
            return python_of(release, option)
    except SettingsError as error:
        fail(str(error))


def _asked_of(python: Path, wave: Wave, json_file: Path | None, jobs: int | None, folder: Path) -> int:
    """What a newer release says of itself after the installed one: its rules judge what it makes. Its exit code."""
    from trainyard.fleet.releases import ask

    options = ["--before", sys.executable, "--wave", wave, "--project", str(folder)]
    options += ["--json", str(json_file)] if json_file is not None else []
    options += ["--jobs", str(jobs)] if jobs is not None else []
    return ask(python, "fleet", "diff", *options)


def _change(told: Told) -> dict[str, Any] | None:
    """The change of a stack as its JSON has it, with what it does to price and policies; None where it could not be
    judged."""
    document = json.loads(told.parts[Format.JSON])
    found: dict[str, Any] | None = document.get("change")
    before = found.get("before") if found is not None else None
    if found is None or before is None:
        return found
    money, judged = told.verdict.money, document.get("violations", [])
    after = {(each["policy"], each["name"]) for each in judged}
    earlier = {(each["policy"], each["name"]) for each in before["violations"]}
    return found | {
        "price": {"before": before["expected_usd"], "after": money.expected if money is not None else None},
        "policies": {"new": _named(after - earlier), "gone": _named(earlier - after)},
    }


def _named(violations: set[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"policy": policy, "name": name} for policy, name in sorted(violations)]


def _worst(told: Mapping[str, Told]) -> int:
    """The exit code of the worst of the verdicts."""
    from trainyard.review.verdict import State

    order = list(State)
    return max((each.verdict.state for each in told.values()), key=order.index, default=State.SOUND).exit_code


def _judged(clients: Sequence[Client], jobs: int | None, since: Source | None = None) -> dict[str, Told]:
    from trainyard.review.told import Asked
    from trainyard.review.workers import tell_all, workers_for

    found: dict[str, Told] = {}
    if not clients:
        return found
    asked = Asked(
        project=clients[0].config.root, formats=(Format.JSON,) if since else (), debug=debugging(), since=since
    )
    files = [client.file for client in clients]
    with progress(f"checking {len(files)} stacks") as say:
        for told in tell_all(asked, files, {}, workers=jobs or workers_for(len(files))):
            found[told.verdict.stack] = told
            say(f"checked {len(found)} of {len(files)} stacks")
    return found
