"""`trainyard upgrade`: the cluster and its nodes brought to another version while people work with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import check_outputs, write_json
from trainyard.cli.on_cluster import on_cluster
from trainyard.cli.project import (
    JsonOption,
    ProjectOption,
    StackArgument,
    fail,
    fail_options,
    find_project,
    find_stack,
    progress,
    settings_of,
)
from trainyard.cli.upgrade_change import change
from trainyard.cli.upgrade_steps import pulumi_of, say, stopping, tell_steps
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.plan.lock import Lock
    from trainyard.upgrade.ledger import Ledger, Step
    from trainyard.upgrade.legs import Leg, Versions
    from trainyard.upgrade.run import Offered


def upgrade(
    stack: StackArgument,
    kubernetes: Annotated[
        str | None, typer.Option(metavar="VERSION", help="The minor version to reach, as 1.36; one step at a time.")
    ] = None,
    node_image: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="The nodes' image, as 1.35.7-20260903; `pinned`: the one pinned here."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="REF",
            help="Instead of a version: bring what the stack file says since REF, behind held queues where it changes"
            " machines, images or disks of pools. A git reference, or what `pulumi stack export` wrote.",
        ),
    ] = None,
    go: Annotated[
        bool, typer.Option("--run", help="Carry it out; without, it is told and nothing is changed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what it would do, and in which order: what happens without --run.")
    ] = False,
    wait_minutes: Annotated[float, typer.Option(min=0, help="How long jobs that run are waited for.")] = 720,
    evict: Annotated[
        bool, typer.Option("--evict", help="Have jobs that run save and end, to start again afterwards.")
    ] = False,
    with_changes: Annotated[
        bool, typer.Option("--with-changes", help="Also where the program would change more than versions.")
    ] = False,
    release: Annotated[
        bool, typer.Option("--release", help="Let the held queues go, and end the upgrade under way where it is.")
    ] = False,
    json_file: JsonOption = None,
    pulumi: Annotated[str, typer.Option(metavar="PROGRAM", help="The Pulumi command.")] = "pulumi",
    project: ProjectOption = None,
) -> None:
    """Bring a stack to another version of Kubernetes, image or machine of its nodes: tell what that does, or --run it.

    Each minor version is a step of its own, with its pins of control plane, add-ons, nodes and autoscaler, rehearsed
    as a change of the one before. With --run, people's queues are held, jobs waited for, `pulumi up` brings each step
    with its smoke jobs, and the queues are let go. A run that failed or was killed is called again.

    With --from, a change of the stack file: whose jobs run on the nodes that go or become others is told, and with
    --run the queues are held, only those jobs are waited for, `pulumi up` brings the change, and the queues are let go.

    Exit codes: 0 it is done, or may be; 1 a mandatory policy is violated; 2 settings or options are wrong; 3 the
    program or a change is wrong, or it stopped on the way.
    """
    if dry_run and (go or release):
        fail(f"--dry-run changes nothing, and {'--run' if go else '--release'} does: one of them")
    check_outputs({"--json": json_file})
    folder = find_project(project)
    file = find_stack(folder, stack)
    from trainyard.plan.lock import lock_path, read_lock
    from trainyard.upgrade.ledger import read_ledger
    from trainyard.upgrade.run import folder_of

    with settings_of(stack):
        client = _client(folder, file)
        lock = read_lock(lock_path(file))
        under_way = read_ledger(folder_of(client))
    if release:
        _release(under_way, pulumi_of(pulumi, client))
        return
    if since is not None or (under_way is not None and under_way.target is None):
        if kubernetes is not None or node_image is not None:
            fail("--from brings what the stack file says, and a version is the lock's: one of them at a time")
        if with_changes:
            fail("--with-changes is of an upgrade to another version; --from brings all that the stack file says")
        if since is not None and under_way is not None:
            fail("an upgrade is under way: finish it (`--run`), or end it where it is with --release")
        change(client, since, under_way, json_file, wait_minutes, go=go, evict=evict, program=pulumi)
        return
    if lock is None:
        fail(f"{lock_path(file).name}: there is none; `trainyard plan {client.stack} --lock` writes it first")
    through = _through(client, lock, kubernetes, node_image, under_way)
    if not through and under_way is None:
        typer.echo(f"{client.stack} is there already: nothing to upgrade")
        return
    legs = _rehearsed(folder, client, lock, through)
    steps = under_way.steps if under_way is not None else _steps(through)
    if str(json_file) != "-":
        _tell(client.stack, legs, steps, under_way)
    worst = max((leg.verdict.state.exit_code for leg in legs), default=0)
    try:
        if go and not worst:
            _run(under_way or _begun(client, steps), pulumi_of(pulumi, client), wait_minutes, evict, with_changes)
    finally:  # how far each step came, wherever it stopped
        if json_file is not None:
            write_json(json_file, _document(client.stack, legs, steps))
    if worst:
        raise typer.Exit(worst)


def _client(folder: Path, file: Path) -> Client:
    from trainyard.fleet.clients import Entry, read_client

    return read_client(folder, file, Entry())


def _through(
    client: Client, lock: Lock, kubernetes: str | None, node_image: str | None, under_way: Ledger | None
) -> list[Versions]:
    """The versions to go through from what the lock has; what is under way goes where it was going."""
    from trainyard.plan.resolve import resolve_config
    from trainyard.upgrade.legs import contradictions, versions_of, way

    if kubernetes is None and node_image is None and under_way is None:
        fail("say where to: --kubernetes VERSION, --node-image RELEASE, or both")
    with settings_of(client.stack):
        resolved = resolve_config(client.config, lock)
        problems = list(contradictions(resolved.settings, client.file.name))
        if problems:
            raise SettingsError(problems)
        was = versions_of(resolved.plan)
    target = under_way.target if under_way is not None else None
    try:
        if target is None:
            return way(was, kubernetes, node_image)
        if kubernetes not in (None, target.kubernetes) or node_image not in (None, target.node_release, "pinned"):
            fail(
                f"an upgrade to Kubernetes {target.kubernetes}, nodes {target.node_release} is under way: finish it"
                " (the same command without a version), or end it where it is with --release"
            )
        return way(was, target.kubernetes, target.node_release)
    except SettingsError as error:
        fail_options(error)


def _rehearsed(folder: Path, client: Client, lock: Lock, through: Sequence[Versions]) -> list[Leg]:
    from trainyard.upgrade.legs import legs

    found = []
    with progress(f"rehearsing {client.stack}") as say, settings_of(client.stack):
        for leg in legs(folder, client.config, lock, through):
            found.append(leg)
            say(f"rehearsed Kubernetes {leg.now.kubernetes}")
    return found


def _steps(through: Sequence[Versions]) -> list[Step]:
    from trainyard.upgrade.ledger import steps_of

    return steps_of(through)


def _begun(client: Client, steps: list[Step]) -> Ledger:
    from trainyard.upgrade.ledger import FILE, Ledger
    from trainyard.upgrade.run import folder_of, now

    return Ledger(folder_of(client) / FILE, now(), steps)


def _document(stack: str, legs: Sequence[Leg], steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "stack": stack,
        "legs": [leg.as_json() for leg in legs],
        "steps": [{"kind": step.kind, "words": step.words, "state": step.state} for step in steps],
    }


def _tell(stack: str, legs: Sequence[Leg], steps: Sequence[Step], under_way: Ledger | None) -> None:
    from trainyard.output import console
    from trainyard.upgrade.words import lines, standing_lines

    out = console()
    told = [*(standing_lines(legs[0].before) if legs else ()), *(line for leg in legs for line in lines(leg))]
    for style, line in told:
        out.print(line, style=style, soft_wrap=True, markup=False, highlight=False)
    tell_steps(stack, steps, under_way is not None)


def _run(ledger: Ledger, pulumi: Pulumi, wait_minutes: float, evict: bool, with_changes: bool) -> None:
    from trainyard.plan.lock import lock_path
    from trainyard.upgrade.run import Options, carry_out

    options = Options(wait_minutes, evict, with_changes)
    ledger.write()
    with stopping(), on_cluster(pulumi, "queues are held with it") as kubectl:
        carry_out(ledger, pulumi, kubectl, _offered(pulumi.client), options, say)
    say(f"{pulumi.client.stack} is upgraded; commit {lock_path(pulumi.client.file).name}, which has the new versions")


def _offered(client: Client) -> Offered:
    """Asks the stack's account what it is not sold."""
    from trainyard.account.aws import CannotAskError, NoCredentialsError, account_of
    from trainyard.plan.lock import lock_path, read_lock
    from trainyard.plan.resolve import resolve_config
    from trainyard.upgrade.aws.offered import not_offered
    from trainyard.upgrade.legs import advanced

    def ask(versions: Versions) -> list[str]:
        lock = read_lock(lock_path(client.file))
        assert lock is not None, "an upgrade begins with a lock"
        plan = resolve_config(client.config, advanced(lock, versions)).plan
        ground = plan.ground
        assert ground.kind == "aws", "looked at before"
        try:
            return not_offered(plan, account_of(ground.region, ground.login.assume_role, ground.login.profile))
        except NoCredentialsError as error:
            fail(f"{error}: {error.remedy}")
        except CannotAskError as error:
            say(f"not asked: {error}; {error.remedy}")
            return []

    return ask


def _release(under_way: Ledger | None, pulumi: Pulumi) -> None:
    from trainyard.plan.lock import lock_path
    from trainyard.upgrade.run import give_up

    if under_way is None:
        fail(f"no upgrade of {pulumi.client.stack} is under way")
    begun = any(step.kind == "lock" and step.state != "waiting" for step in under_way.steps)
    with stopping(), on_cluster(pulumi, "queues are held with it") as kubectl:
        give_up(under_way, pulumi, kubectl)
    typer.echo(f"{len(under_way.held)} queues were let go; the upgrade has ended where it was")
    if begun:
        name = lock_path(pulumi.client.file).name
        typer.echo(f"{name} has versions already that the next `pulumi up` brings: put it back if they are not wanted")
