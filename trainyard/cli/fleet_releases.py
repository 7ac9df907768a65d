"""`trainyard fleet diff` and `upgrade`: what another release changes in every stack, and bringing them forward."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli import fleet_judging
from trainyard.cli.files import check_outputs, note_stack, write_json, write_whole
from trainyard.cli.fleet_changes import as_markdown, compared, print_changes
from trainyard.cli.fleet_judging import JobsOption, PulumiOption
from trainyard.cli.fleet_live import ask_smoke
from trainyard.cli.fleet_tables import row
from trainyard.cli.project import (
    JsonOption,
    ProjectOption,
    error_line,
    fail,
    file_option,
    find_project,
    progress,
    wave_given,
)
from trainyard.fleet.known import HOMES
from trainyard.problems import SettingsError, count, some_of
from trainyard.review.formats.names import Format

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client, Wave
    from trainyard.fleet.ledger import Ledger
    from trainyard.review.change.source import Source
    from trainyard.review.told import Told

LEDGER = ".trainyard-upgrade.json"
"""What became of each stack of the upgrade under way, beside Pulumi.yaml."""

EXIT_FAILED = 1

_A_RELEASE = "a version, a wheel, or the python that has one"
BeforeOption = Annotated[
    str | None,
    typer.Option("--before", metavar="RELEASE", help=f"The release that the stacks run now: {_A_RELEASE}."),
]
RecordedOption = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="RELEASE",
        help=f"The release that all run now, {_A_RELEASE}; by default the one that fleet.yaml notes of each.",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="RELEASE", help=f"The release to compare with the installed one: {_A_RELEASE}."),
]


def diff(
    to: ToOption = None,
    before: BeforeOption = None,
    wave: Annotated[str, typer.Option(help="Up to this wave.")] = "rest",
    json_file: JsonOption = None,
    markdown_file: Annotated[
        Path | None, file_option("--markdown", help="Also as Markdown, for a pull request; '-' is standard output.")
    ] = None,
    jobs: JobsOption = None,
    project: ProjectOption = None,
) -> None:
    """What another release changes in every stack: --to a newer one, or the installed one after --before an older one.

    Each stack is rehearsed by both, and compared as the engine would: what is made, changed, replaced, deleted. What
    would lose data, or be refused, is told, and stops an upgrade. Nothing is deployed. A version is the wheel of it in
    wheels/, or in the index that fleet.yaml names; it is installed with pip into an environment of its own, which is
    kept. A stack that is pinned to another release is left out: no upgrade touches it. Of more than twenty stacks those
    to which the same happens share a line; --json has each.
    Exit codes: 0; 1 a mandatory policy is violated; 2 settings are wrong; 3 a change loses what holds data, or would be
    refused.
    """
    check_outputs({"--json": json_file, "--markdown": markdown_file})
    chosen = wave_given(wave)
    if (to is None) == (before is None):
        fail("name one release to compare the installed one with: --to a newer one, or --before an older one")
    folder = find_project(project)
    if to is not None:
        python = _python_of(to, "--to", folder)
        try:
            outputs = {"--json": json_file, "--markdown": markdown_file}
            raise typer.Exit(_asked_of(python, chosen, outputs, jobs, folder))
        except SettingsError as error:
            fail(str(error))
    pinned, clients = _pinned_elsewhere(_up_to(fleet_judging.clients_of(folder), chosen))
    source = _release_of(str(before), folder)
    told = fleet_judging.judged(clients, jobs, {client.stack: source for client in clients})
    changes = {stack: _change(each) for stack, each in told.items()}
    if json_file is not None:
        rows = [{**row(client, told[client.stack]), "change": changes[client.stack]} for client in clients]
        write_json(json_file, {"stacks": rows})
    found = compared(clients, told, changes)
    if markdown_file is not None:
        write_whole(markdown_file, as_markdown(found))
    if "-" not in (str(json_file), str(markdown_file)):
        print_changes(found)
        for client in pinned:
            typer.echo(f"{client.stack} is pinned to {client.entry.pin}: no other release touches it.")
    code = fleet_judging.worst_of(told)
    if code:
        raise typer.Exit(code)


def upgrade(
    wave: Annotated[str, typer.Option(help="canary, early or rest: those before it come first.")] = "canary",
    before: RecordedOption = None,
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
    Where one fails no other is begun, and what runs goes to its end. A tunnel to a cluster behind a bastion is open for
    as long as its stack is brought up.

    Every stack is checked before the first one is touched, and what the upgrade would change of what stands: by the
    release that fleet.yaml notes of it, or, where none is noted, by its state. A change that loses data stops the wave,
    and so does a release that is not to be had. A stack that is pinned is brought to its pin. What became of each is
    kept in a ledger beside Pulumi.yaml: after a failure or a kill the same command goes on where it ended, and no stack
    is done twice. What fleet.yaml says by then counts: a stack that was frozen meanwhile is left alone, one that was
    added takes its turn. A later wave waits where a smoke job failed since on a stack of an earlier one that is not
    frozen.
    Exit codes: 0 the wave is done; 1 a stack failed, or must not be deployed; 2 an option or a file is wrong.
    """
    from trainyard.fleet import memory
    from trainyard.fleet.apart import shared_between
    from trainyard.fleet.clients import WAVES
    from trainyard.fleet.upgrade import due
    from trainyard.fleet.upgrade import upgrade as bring_forward

    check_outputs({"--json": json_file})
    chosen = wave_given(wave)
    fleet_judging.need_pulumi(pulumi)
    folder = find_project(project)
    clients = {client.stack: client for client in fleet_judging.held_clients(folder)}
    ledger = _ledger(folder, list(clients.values()), again=again)
    last = max((turn.wave for turn in due(ledger, chosen)), key=WAVES.index, default=WAVES[0])
    failed_before = _failed_proofs(ledger, last, clients, folder / HOMES)
    if failed_before:
        fail(f"no stack is touched: {'; '.join(failed_before)}", code=EXIT_FAILED)
    waiting = [clients[turn.stack] for turn in due(ledger, chosen)]
    fleet_judging.need_ways(waiting)
    with _what_stands(folder, waiting, before, pulumi) as sources:
        told = fleet_judging.judged(waiting, None, sources)
    bad = _not_deployable(told)
    bad += [str(each) for each in shared_between(list(clients.values()))]
    if bad:
        fail(f"no stack is touched: {'; '.join(bad)}", code=EXIT_FAILED)
    ledger.write()

    def done_with(stack: str) -> None:
        _note(folder, stack, clients[stack].entry.pin or ledger.release)
        ask_smoke(folder, clients[stack], pulumi)

    failed_since: list[str] = []

    def held_back(wave: Wave) -> bool:
        failed_since[:] = _failed_proofs(ledger, wave, clients, folder / HOMES)
        return bool(failed_since)

    failed = bring_forward(
        ledger,
        clients,
        chosen,
        pulumi,
        folder / HOMES,
        typer.echo,
        done_with,
        held_back,
        at_once or memory.at_once(memory.free_mib()),
    )
    if json_file is not None:
        write_json(json_file, ledger.as_json())
    done = sum(turn.step == "done" for turn in ledger.turns)
    for turn in failed:
        error_line(f"{turn.stack} failed; no other stack is begun. Where it failed, and the last of what Pulumi said:")
        typer.echo(turn.told, err=True)
    if failed:
        names = ", ".join(turn.stack for turn in failed)
        typer.echo(f"{done} of {len(ledger.turns)} stacks are done; the same command goes on with {names}.")
        raise typer.Exit(EXIT_FAILED)
    if failed_since:
        fail(
            f"{'; '.join(failed_since)}; {done} of {len(ledger.turns)} stacks are done, and the same command goes on",
            code=EXIT_FAILED,
        )
    frozen = [
        f"{client.stack} ({client.entry.frozen})" for client in clients.values() if client.entry.frozen is not None
    ]
    left = f"; {len(ledger.left)} in later waves" if ledger.left else ""
    alone = f"; left alone: {', '.join(frozen)}" if frozen else ""
    typer.echo(f"{done} of {len(ledger.turns)} stacks were brought to {ledger.release}{left}{alone}.")


def _not_deployable(told: Mapping[str, Told]) -> list[str]:
    """Why stacks must not be deployed, once for all of which the same is said: `globex must not be deployed: …`."""
    alike: dict[str, list[str]] = {}
    for stack, each in told.items():
        if not each.verdict.state.deployable:
            alike.setdefault(each.verdict.headline.removeprefix(stack), []).append(stack)
    return [f"{some_of(stacks)}{why}" for why, stacks in alike.items()]


def _note(folder: Path, stack: str, release: str) -> None:
    """Writes into fleet.yaml which release brought a stack up."""
    note_stack(folder, stack, lambda entry: entry.model_copy(update={"version": release}))


def _ledger(folder: Path, clients: Sequence[Client], *, again: bool) -> Ledger:
    """The upgrade under way, or a new one."""
    from trainyard.fleet.ledger import BEGUN, Ledger
    from trainyard.fleet.upgrade import brought_up_to_date, turns

    path, release = folder / LEDGER, version("trainyard")
    try:
        found = Ledger.read(path)
    except SettingsError as error:
        fail(str(error))
    if found is None or not found.left:
        begun = datetime.now(UTC).strftime(BEGUN)
        return Ledger(path, release, turns(clients, release, again=again), begun)
    if found.release != release:
        fail(
            f"{LEDGER}: the upgrade to {found.release} is not done ({count(len(found.left), 'stack')} "
            f"left); {release} is "
            "installed: finish it with that release, or take the ledger away"
        )
    gone = [turn.stack for turn in found.left if turn.stack not in {client.stack for client in clients}]
    if gone:
        fail(f"{LEDGER}: {', '.join(gone)} is in the upgrade under way and no stack any more; take the ledger away")
    brought_up_to_date(found, clients)
    return found


def _failed_proofs(ledger: Ledger, wave: Wave, clients: Mapping[str, Client], homes: Path) -> list[str]:
    """What keeps a wave back: smoke jobs that failed since, on stacks of earlier ones that this upgrade has brought up
    and that nobody has frozen or taken away since."""
    from trainyard.fleet.clients import WAVES
    from trainyard.fleet.known import known_of
    from trainyard.fleet.ledger import BEGUN
    from trainyard.fleet.live import FAILED

    begun, found = datetime.strptime(ledger.begun, BEGUN).replace(tzinfo=UTC), []
    for turn in ledger.turns:
        client = clients.get(turn.stack)
        if turn.step != "done" or client is None or client.entry.frozen is not None:
            continue
        if WAVES.index(turn.wave) >= WAVES.index(wave):
            continue
        try:
            smoke = known_of(turn.stack, homes).smoke
        except SettingsError as error:
            fail(str(error))
        if smoke is not None and smoke.verdict == FAILED and datetime.fromisoformat(smoke.at) >= begun:
            found.append(
                f"the smoke job of {turn.stack} failed on {smoke.at[:10]} ({smoke.by}), and a later wave waits until "
                f"one passes: trainyard smoke {turn.stack}"
            )
    return found


def _up_to(clients: Sequence[Client], wave: Wave) -> list[Client]:
    from trainyard.fleet.clients import WAVES

    return [client for client in clients if WAVES.index(client.entry.wave) <= WAVES.index(wave)]


def _pinned_elsewhere(clients: Sequence[Client]) -> tuple[list[Client], list[Client]]:
    """The stacks that stay on another release than the installed one, and the others."""
    installed = version("trainyard")
    pinned = [client for client in clients if client.entry.stays_on_another(installed)]
    return pinned, [client for client in clients if client not in pinned]


def _release_of(release: str, folder: Path, option: str = "--before", hint: str = "") -> Source:
    """A release that made stacks, by its Python."""
    from trainyard.review.change.source import Source

    return Source(release, interpreter=_python_of(release, option, folder, hint))


def _python_of(release: str, option: str, folder: Path, hint: str = "") -> Path:
    from trainyard.fleet.releases import python_of

    try:
        with progress(f"looking for {release}"):
            return python_of(release, option, fleet_judging.shelf_of(folder))
    except SettingsError as error:
        fail(f"{error}{hint}")


@contextmanager
def _what_stands(
    folder: Path, clients: Sequence[Client], before: str | None, pulumi: str
) -> Iterator[dict[str, Source]]:
    """What each stack is compared with before it is touched; nothing for one of which nothing is there yet.

    It is the release that is named, else the one that fleet.yaml notes, else the stack's state, of which no copy stays.
    """
    found: dict[str, Source] = {}
    with ExitStack() as until_judged:
        for client in clients:
            noted = client.entry.version
            if before is not None:
                found[client.stack] = _release_of(before, folder)
            elif noted == (client.entry.pin or version("trainyard")):
                continue  # the same release: nothing but its settings may have changed
            elif noted is not None:
                where = f"fleet.yaml: stacks.{client.stack}.version"
                found[client.stack] = _release_of(noted, folder, where, "; or name what it runs: --before RELEASE")
            else:
                state = until_judged.enter_context(_state_of(folder, client, pulumi))
                found |= {client.stack: state} if state is not None else {}
        yield found


@contextmanager
def _state_of(folder: Path, client: Client, pulumi: str) -> Iterator[Source | None]:
    """A stack's state, for as long as the block runs; None where there is no such stack, or nothing in it."""
    from trainyard.fleet.pulumi import Pulumi, PulumiError
    from trainyard.fleet.upgrade import home_of
    from trainyard.review.change.source import Source

    home, name = home_of(client, folder / HOMES), f"before-{os.getpid()}"
    copy, state = home / f"{name}.json", None
    try:
        try:
            with progress(f"asking the state of {client.stack}"):
                state = Pulumi(pulumi, client, home, home).exported(name)
        except (PulumiError, SettingsError) as error:
            if "no stack named" not in str(error):
                fail(
                    f"fleet.yaml does not note which release brought {client.stack} up, and its state cannot be read, "
                    f"so that nobody knows what an upgrade would lose: {error}; name what it runs: --before RELEASE"
                )
        stands = (state or {}).get("deployment") or {}
        yield Source(f"the state of {client.stack}", file=copy) if stands.get("resources") else None
    finally:
        copy.unlink(missing_ok=True)


def _asked_of(python: Path, wave: Wave, files: Mapping[str, Path | None], jobs: int | None, folder: Path) -> int:
    """What a newer release says of itself after the installed one: its rules judge what it makes. Its exit code."""
    from trainyard.fleet.releases import ask

    options = ["--before", sys.executable, "--wave", wave, "--project", str(folder)]
    for option, file in files.items():
        options += [option, str(file)] if file is not None else []
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
