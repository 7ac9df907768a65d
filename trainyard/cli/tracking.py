"""`trainyard tracking`: a snapshot of the tracking database on demand, and the proof that one comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli.project import ProjectOption, StackArgument, fail, read_plan

if TYPE_CHECKING:
    from trainyard.account.aws import Account

app = typer.Typer(no_args_is_help=True, help="Snapshots of the tracking database, and the drill.")

EXIT_FAILED = 3
"""The account did not do it, or what came back is not what the snapshot is of."""

RunOption = Annotated[bool, typer.Option("--run", help="Do it; without, it is told and nothing is made.")]


@app.command("snapshot")
def snapshot(stack: StackArgument, go: RunOption = False, project: ProjectOption = None) -> None:
    """Make a snapshot of the tracking database, as before another MLflow, and wait until it is there.

    Exit codes: 0 it is there, or would be made; 2 the settings are wrong, or there are no credentials; 3 it failed.
    """
    from trainyard.upgrade.aws.tracking import make_snapshot, snapshot_name

    database, account = _database(project, stack)
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

    database, account = _database(project, stack)
    with _told():
        name = of or newest_snapshot(account, database)
        scratch = scratch_name(database, datetime.now(UTC))
        typer.echo(f"restore snapshot {name} into {scratch}, without a standby, look at it, and delete it again")
        if not go:
            typer.echo("--run does it; the instance is paid for by the hour while it is there")
            return
        found = carry_out_drill(account, database, name, scratch, _say)
    for line in found.differences:
        typer.echo(f"differs: {line}", err=True)
    typer.echo(f"{name} came back in {found.seconds / 60:.0f} minutes, and {scratch} is deleted")
    if found.differences:
        raise typer.Exit(EXIT_FAILED)


def _database(project: Path | None, stack: str) -> tuple[str, Account]:
    """The database's name and its account. Ends the command where the stack has none on AWS."""
    from trainyard.account.aws import account_of
    from trainyard.conventions import tracking_database

    plan = read_plan(project, stack)
    if plan.ground.kind != "aws" or not plan.core.mlflow.enabled or not plan.clusters:
        fail(f"stack {stack} has no tracking database on AWS: of Cloud SQL, docs/runbooks/tracking-database.md")
    login = plan.ground.login
    return tracking_database(plan.core.name), account_of(plan.ground.region, login.assume_role, login.profile)


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
