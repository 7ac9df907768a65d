"""`trainyard destroy`: the end of an environment, and the proof of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    read_plan,
    settings_of,
)
from trainyard.problems import Problem, SettingsError, count, nearest
from trainyard.review.exit_codes import EXIT_SETTINGS, EXIT_STOPPED

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.plan.parts import Plan
    from trainyard.teardown.cloud import Cloud
    from trainyard.teardown.destroy import Options
    from trainyard.teardown.kinds import Group
    from trainyard.teardown.model import Kept, Left, Proof
    from trainyard.teardown.state import Ending, State

EXIT_LEFT = 1
"""Something that is paid for is left, or could not be looked for."""


NOTHING = "none"
"""What `--keep` is given where nothing is to stay."""


def destroy(
    stack: StackArgument,
    keep: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What stays: of data, artifacts, tracking, homes, with commas; or none. All by default.",
        ),
    ] = "data,artifacts,tracking,homes",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the stack's name.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would become of what, and in which order.")
    ] = False,
    prove_only: Annotated[bool, typer.Option("--prove-only", help="Look for what is left; change nothing.")] = False,
    drain_minutes: Annotated[float, typer.Option(min=0, help="How long jobs may take to end.")] = 15,
    skip_freeze: Annotated[
        bool, typer.Option("--skip-freeze", help="Do not stop jobs first, as where the cluster is gone.")
    ] = False,
    json_file: JsonOption = None,
    pulumi: Annotated[str, typer.Option(metavar="PROGRAM", help="The Pulumi command.")] = "pulumi",
    project: ProjectOption = None,
) -> None:
    """Take an environment down, and prove that nothing of it is left that is paid for.

    Queues are held and drained and people's pods stopped; what stays is let go of, the rest unprotected; then `pulumi
    destroy`; then the account is asked, kind by kind, for what is left. A run that was killed is called again.

    Exit codes: 0 nothing that is paid for is left but what was to stay; 1 something is, or could not be looked for;
    2 the settings are wrong, or there are no credentials; 3 it was stopped, and the stack is not gone.
    """
    check_outputs({"--json": json_file})
    wanted = _groups(keep)
    plan, client = _stack(project, stack)
    with _told():
        if dry_run:
            _tell(*_looked(_pulumi(pulumi, client), wanted), client.stack)
            return
        cloud = _cloud(plan)
        cloud.check()
        if prove_only:
            from trainyard.teardown.destroy import folder_of
            from trainyard.teardown.ledger import read_kept

            kept = read_kept(folder_of(client))
        else:
            kept = _ended(_pulumi(pulumi, client), cloud, wanted, drain_minutes, yes, not skip_freeze)
        proof = _proof(plan, kept)
    _end(proof, client.stack, json_file)


def _end(proof: Proof, stack: str, json_file: Path | None) -> None:
    """Tells what is proven, and ends with the code that says so."""
    if json_file is not None:
        write_json(json_file, {"stack": stack, **proof.as_json()})
    if str(json_file) != "-":
        _print(proof, stack)
    if not proof.holds:
        raise typer.Exit(EXIT_LEFT)


def _proof(plan: Plan, kept: tuple[Kept, ...]) -> Proof:
    """Looks with credentials of its own: those that a long `pulumi destroy` began with may be over."""
    from trainyard.account.aws import NoCredentialsError
    from trainyard.account.gcp import NobodyError
    from trainyard.teardown.aws.end import account_of_plan
    from trainyard.teardown.aws.prove import prove
    from trainyard.teardown.gcp.prove import prove as prove_on_gcp

    try:
        if plan.ground.kind == "gcp":
            return prove_on_gcp(plan, kept)
        return prove(plan, account_of_plan(plan), kept)
    except (NoCredentialsError, NobodyError) as error:
        fail(f"nothing is proven: {error}; {error.remedy}, then --prove-only", code=EXIT_LEFT)


def _groups(keep: str) -> tuple[Group, ...]:
    from trainyard.teardown.kinds import GROUPS

    if keep == NOTHING:
        return ()
    words = [word.strip() for word in keep.split(",")]
    wrong = [word for word in words if word not in GROUPS]
    if wrong:
        allowed = f"must be of {', '.join(GROUPS)}, with commas, or {NOTHING}"
        fail_options(SettingsError([Problem("--keep", word, allowed, nearest(word, GROUPS)) for word in wrong]))
    return tuple(group for group in GROUPS if group in words)


def _stack(project: Path | None, stack: str) -> tuple[Plan, Client]:
    from trainyard.fleet.clients import Entry, read_client

    folder = find_project(project)
    file = find_stack(folder, stack)
    plan = read_plan(project, stack)
    with settings_of(stack):
        return plan, read_client(folder, file, Entry())


def _cloud(plan: Plan) -> Cloud:
    from trainyard.teardown.aws.end import AwsEnd, account_of_plan
    from trainyard.teardown.gcp.end import GcpEnd

    return GcpEnd(plan.ground.project) if plan.ground.kind == "gcp" else AwsEnd(account_of_plan(plan))


def _pulumi(program: str, client: Client) -> Pulumi:
    from trainyard.cli.programs import WHERE
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.teardown.destroy import folder_of

    if shutil.which(program) is None:
        fail(f"{program} is not on the path, and it deletes the stack: {WHERE['pulumi']}")
    return Pulumi(program, client, folder_of(client))


@contextmanager
def _told() -> Iterator[None]:
    """Ends the command, with the code that says how far it came, where a step fails."""
    from trainyard.account import gcp
    from trainyard.account.aws import CannotAskError, NoCredentialsError
    from trainyard.fleet.pulumi import PulumiError
    from trainyard.teardown.cloud import LiftError
    from trainyard.teardown.freeze import FreezeError

    try:
        yield
    except (NoCredentialsError, gcp.NobodyError) as error:
        fail(f"{error}: {error.remedy}", code=EXIT_SETTINGS)
    except (CannotAskError, gcp.CannotAskError) as error:
        fail(f"{error}: {error.remedy}", code=EXIT_STOPPED)
    except (FreezeError, LiftError, PulumiError) as error:
        fail(str(error), code=EXIT_STOPPED)
    except SettingsError as error:
        fail(str(error))


def _looked(pulumi: Pulumi, keep: Sequence[Group]) -> tuple[State, Ending]:
    from trainyard.teardown.destroy import look

    return look(pulumi, keep)


def _ended(
    pulumi: Pulumi,
    cloud: Cloud,
    keep: tuple[Group, ...],
    drain_minutes: float,
    yes: bool,
    freeze: bool,
) -> tuple[Kept, ...]:
    """Asks, then ends the stack."""
    from trainyard.teardown.destroy import Options, destroy

    stack = pulumi.client.stack
    if not yes:
        if not is_asked():
            fail("there is nobody to ask: --yes ends the stack without")
        _tell(*_looked(pulumi, keep), stack)
        if typer.prompt(f"type {stack} to delete it", default="", show_default=False) != stack:
            fail("nothing is deleted")
    options: Options = Options(keep, drain_minutes, freeze)
    with on_cluster(pulumi, "jobs are stopped with it; --skip-freeze goes without") as kubectl:
        return destroy(pulumi, cloud, kubectl, options, _say)


def is_asked() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _tell(state: State, end: Ending, stack: str) -> None:
    """What would become of what, and in which order."""
    from trainyard.output import console
    from trainyard.teardown.freeze import running_in
    from trainyard.teardown.state import waves

    out = console()
    running = running_in(state)

    def block(title: str, lines: Sequence[str]) -> None:
        if lines:
            out.print(f"[bold]{title}[/]")
            for line in lines:
                out.print(f"  {line}", soft_wrap=True, markup=False)

    block(
        "stopped first",
        [f"queue {name}" for name in running.queues] + [f"pods in {name}" for name in running.namespaces],
    )
    block("stays", [f"{each.kind} {each.names[0] if each.names else ''}: {each.why}" for each in end.kept])
    block("lost with what it holds", end.lost)
    kept = {name for each in end.kept for name in each.names}
    order = []
    for number, wave in enumerate(waves(state), 1):
        kinds: dict[str, int] = {}
        for each in wave:
            if each.get("id") not in kept:
                word = each["type"].rpartition(":")[2]
                kinds[word] = kinds.get(word, 0) + 1
        told = ", ".join(f"{many} {word}" if many > 1 else word for word, many in sorted(kinds.items()))
        if told:
            order.append(f"{number}. {told}")
    block("deleted, in this order", order)
    out.print(f"{stack}: {count(len(state.made), 'resource')}, {len(end.kept)} stay", markup=False)


def _print(proof: Proof, stack: str) -> None:
    from rich.table import Table

    from trainyard.output import console
    from trainyard.teardown.model import usd_of

    out = console()

    def table(title: str, rows: Sequence[Left], *, commands: bool) -> None:
        if not rows:
            return
        found = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for name in ("kind", "id", "found by", "state"):
            found.add_column(name, overflow="fold")
        found.add_column("USD a month", justify="right")
        for each in rows:
            price = "?" if each.usd is None else f"{each.usd:,.2f}"
            found.add_row(each.kind, each.id, each.found_by, each.told, price)
        out.print(found)
        for each in rows if commands else ():
            if each.command:
                out.print(f"  {each.command}", style="cyan", soft_wrap=True, markup=False)

    table("left, and paid for", proof.owed, commands=True)
    table("left, and free", proof.free, commands=True)
    table("kept", proof.kept, commands=False)
    for each in proof.unseen:
        out.print(
            f"not looked for: {each.kind}: {each.why}; {each.remedy}", style="yellow", markup=False, soft_wrap=True
        )
    if proof.holds:
        kept = f"; what was kept costs USD {usd_of(proof.kept):,.2f}" if proof.kept else ""
        out.print(f"[bold green]{stack}: nothing is left that is paid for[/]{kept}")
    else:
        unknown = sum(each.usd is None for each in proof.owed)
        more = f" and what {unknown} cost that have no price here" if unknown else ""
        many = len(proof.unseen)
        blind = f"; {many} kind{'s' if many > 1 else ''} could not be looked for" if many else ""
        out.print(f"[bold red]{stack}: {len(proof.owed)} left, USD {usd_of(proof.owed):,.2f} a month{more}[/]{blind}")
