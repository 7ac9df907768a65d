"""`trainyard drain`: a team or a pool is emptied before it is taken out of the stack file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.fleet_judging import PulumiOption, need_pulumi
from trainyard.cli.on_cluster import on_cluster
from trainyard.cli.project import ProjectOption, StackArgument, fail, find_project, find_stack, read_plan, settings_of
from trainyard.review.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    from trainyard.teardown.freeze import Kubectl
    from trainyard.upgrade.drain import Leaving


def drain(
    stack: StackArgument,
    team: Annotated[
        list[str] | None, typer.Option("--team", metavar="TEAM", help="Hold its queues. May be repeated.")
    ] = None,
    pool: Annotated[
        list[str] | None, typer.Option("--pool", metavar="POOL", help="Send nothing to it. May be repeated.")
    ] = None,
    wait_minutes: Annotated[float, typer.Option(min=0, help="How long jobs that run are waited for.")] = 720,
    evict: Annotated[
        bool, typer.Option("--evict", help="Have jobs that run save and end; those of a pool start again elsewhere.")
    ] = False,
    release: Annotated[bool, typer.Option("--release", help="Let jobs in again, and give up.")] = False,
    pulumi: PulumiOption = "pulumi",
    project: ProjectOption = None,
) -> None:
    """Empty a team or a pool before it is taken out of the stack file: nothing new comes in, and what runs is waited
    for, so that the `pulumi up` which removes it ends nobody's job.

    A team's queues are held; a pool is passed over by all queues. Both stay so until the team or pool is gone, or until
    --release.

    Exit codes: 0 nothing of it runs any more; 2 settings or options are wrong; 3 jobs still run when the time is over,
    or the cluster does not answer: the same command goes on.
    """
    from trainyard.fleet.clients import Entry, read_client
    from trainyard.fleet.pulumi import Pulumi, PulumiError
    from trainyard.plan.parts import NoSuchName
    from trainyard.upgrade.drain import leaving
    from trainyard.upgrade.queues import QueuesError

    if not team and not pool:
        fail("say what is to go: --team TEAM, --pool POOL, or both")
    folder = find_project(project)
    file = find_stack(folder, stack)
    plan = read_plan(project, stack)
    if not plan.clusters:
        fail(f"stack {stack} has no cluster: nothing of it waits in a queue")
    try:
        what = leaving(plan.clusters[0], team or (), pool or ())
    except NoSuchName as error:
        fail(str(error))
    need_pulumi(pulumi)
    with settings_of(stack):
        client = read_client(folder, file, Entry())
    with tempfile.TemporaryDirectory() as scratch:
        asked = Pulumi(pulumi, client, Path(scratch))
        try:
            with on_cluster(asked, "queues are held with it") as kubectl:
                _done(kubectl(), what, Path(scratch), wait_minutes, evict=evict, release=release)
        except (QueuesError, PulumiError) as error:
            fail(str(error), code=EXIT_STOPPED)
    names = [*(f"team {name}" for name in team or ()), *(f"pool {name}" for name in pool or ())]
    if release:
        typer.echo(f"{', '.join(names)}: jobs are let in again")
    else:
        typer.echo(
            f"{', '.join(names)}: nothing runs there any more. Take it out of {file.name}, then "
            f"`trainyard rehearse {client.stack} --from REF` and `pulumi up`; --release lets jobs in again"
        )


def _done(kubectl: Kubectl, what: Leaving, folder: Path, wait_minutes: float, *, evict: bool, release: bool) -> None:
    from trainyard.upgrade import drain as drained
    from trainyard.upgrade.queues import wait_until_none

    if release:
        drained.release(kubectl, what, folder)
        return
    drained.shut(kubectl, what, folder, evict=evict)
    wait_until_none(
        lambda: drained.left(kubectl, what, evict=evict), lambda text: typer.echo(text, err=True), minutes=wait_minutes
    )
