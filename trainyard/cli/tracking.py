"""`trainyard tracking`: a snapshot of the tracking database on demand, and the proof that one comes back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.project import ProjectOption, StackArgument, fail, read_plan
from trainyard.problems import count

if TYPE_CHECKING:
    from trainyard.account.aws import Account

app = typer.Typer(no_args_is_help=True, help="Snapshots of the tracking database, and the drill.")

EXIT_FAILED = 3
"""The account did not do it, or what came back is not what the snapshot is of."""

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""By hand, by whoever runs it as a job, and as its terminal closes."""

RunOption = Annotated[bool, typer.Option("--run", help="Do it; without, it is told and nothing is made.")]


@app.command("snapshot")
def snapshot(stack: StackArgument, go: RunOption = False, project: ProjectOption = None) -> None:
    """Make a snapshot of the tracking database, as before another MLflow, and wait until it is there.

    Exit codes: 0 it is there, or would be made; 2 the settings are wrong, or there are no credentials; 3 it failed.
    """
    from trainyard.upgrade.aws.tracking import make_snapshot, snapshot_name

    database, account, _ = _database(project, stack)
    name = snapshot_name(database, datetime.now(UTC))
    typer.echo(f"snapshot {name} of database {database}; it stays until somebody deletes it, at the price of a backup")
    if go:
        with _told():
            make_snapshot(account, database, name, _say)
        typer.echo(f"it is there: `mlflow.database.restoreFrom: {name}` makes the database from it")
    else:
        typer.echo("--run makes it")


@app.command("drill")
def drill(
    stack: StackArgument,
    of: Annotated[str, typer.Option("--snapshot", metavar="NAME", help="By default the newest there is.")] = "",
    go: RunOption = False,
    project: ProjectOption = None,
) -> None:
    """Restore a snapshot of the tracking database into an instance of its own, look at it, and delete it again.

    It proves that the snapshot opens under its key and becomes a database that answers, of the same engine and size,
    and how long that takes. What is in it nobody outside of the network can count: docs/runbooks/tracking-database.md.

    Exit codes: 0 it came back, or would be tried; 2 the settings are wrong, or there are no credentials; 3 it did not.
    """
    from trainyard.upgrade.aws.tracking import carry_out_drill, newest_snapshot, scratch_name

    database, account, tags = _database(project, stack)
    with _told():
        _clear_leftovers(account, database, go=go)
        name = of or newest_snapshot(account, database)
        scratch = scratch_name(database, datetime.now(UTC))
        typer.echo(f"restore snapshot {name} into {scratch}, without a standby, look at it, and delete it again")
        if not go:
            typer.echo("--run does it; the instance is paid for by the hour while it is there")
            return
        with _ended_as_by_hand():
            found = carry_out_drill(account, database, name, scratch, tags, _say)
    for line in found.differences:
        typer.echo(f"differs: {line}", err=True)
    typer.echo(f"{name} came back in {count(round(found.seconds / 60), 'minute')}, and {scratch} is deleted")
    if found.differences:
        raise typer.Exit(EXIT_FAILED)


def _clear_leftovers(account: Account, database: str, *, go: bool) -> None:
    """Tells instances that earlier drills left, and deletes them with `--run` where they are certainly left."""
    from trainyard.upgrade.aws.tracking import delete_command, delete_leftover, leftovers

    now = datetime.now(UTC)
    for left in leftovers(account, database):
        if not left.is_left(now):
            why = "of a drill that may still run" if left.ours else "named like one of a drill, without its tag"
            typer.echo(f"{left.name} is {why}; `{delete_command(account, left.name)}` deletes it", err=True)
        elif go:
            typer.echo(f"deleting {left.name}, which an earlier drill left", err=True)
            delete_leftover(account, left)
        else:
            typer.echo(f"an earlier drill left {left.name}, which is paid for: --run deletes it first", err=True)


@contextmanager
def _ended_as_by_hand() -> Iterator[None]:
    """What ends this command from outside is taken as Ctrl-C is, once: the instance is deleted before it ends."""

    def end(*_: object) -> None:
        for each in ENDING_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {each: signal.signal(each, end) for each in ENDING_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _database(project: Path | None, stack: str) -> tuple[str, Account, dict[str, str]]:
    """The database's name, its account and the environment's tags. Ends the command where the stack has none on AWS."""
    from trainyard.account.aws import account_of
    from trainyard.conventions import tracking_database

    plan = read_plan(project, stack)
    if plan.ground.kind != "aws" or not plan.core.mlflow.enabled or not plan.clusters:
        fail(f"stack {stack} has no tracking database on AWS: of Cloud SQL, docs/runbooks/tracking-database.md")
    login = plan.ground.login
    account = account_of(plan.ground.region, login.assume_role, login.profile)
    return tracking_database(plan.core.name), account, dict(plan.core.tags)


@contextmanager
def _told() -> Iterator[None]:
    """Ends the command where the account does not do what it is asked for, and says what was refused."""
    from trainyard.account.aws import CannotAskError, NoCredentialsError
    from trainyard.upgrade.aws.tracking import TrackingError

    try:
        yield
    except NoCredentialsError as error:
        fail(f"{error}: {error.remedy}")
    except CannotAskError as error:
        fail(f"{error}; {error.remedy}", code=EXIT_FAILED)
    except TrackingError as error:
        fail(str(error), code=EXIT_FAILED)


def _say(text: str) -> None:
    typer.echo(text, err=True)
