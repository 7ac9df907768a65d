"""What `trainyard fleet` finds out about clients' clouds, and keeps for the next `fleet list`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli.project import progress, warn
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.known import Smoke, Spend


def keep(folder: Path, stack: str, *, smoke: Smoke | None = None, spend: Spend | None = None) -> None:
    """Keeps what was found out; says so where it cannot be written, since what was asked for is done by then."""
    from trainyard.fleet.known import HOMES, note

    try:
        note(stack, folder / HOMES, smoke=smoke, spend=spend)
    except (OSError, SettingsError) as error:
        warn([f"{stack}: `fleet list` will not know it: {error}"])


def keep_smoke_of_target(folder: Path, stack: str, verdict: str, target: str) -> None:
    """Keeps what `trainyard smoke` found where a stack's jobs run."""
    from trainyard.fleet.known import Smoke, now

    keep(folder, stack, smoke=Smoke(verdict, now(), target))


def ask_all(folder: Path, clients: Sequence[Client], program: str) -> None:
    """Asks every stack's state and account, and keeps the answers; says what cannot be told, and why."""
    for client in clients:
        with progress(f"asking {client.stack}"):
            ask_smoke(folder, client, program)
            with _told(client.stack, "spend"):
                keep(folder, client.stack, spend=_spend(client))


def ask_smoke(folder: Path, client: Client, program: str) -> None:
    """Asks a stack's state for its smoke verdict, and keeps it; says where it cannot be told, and why."""
    from trainyard.fleet.known import HOMES
    from trainyard.fleet.live import smoke_of
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.fleet.upgrade import home_of

    with _told(client.stack, "smoke verdict"):
        home = home_of(client, folder / HOMES)
        state = Pulumi(program, client, home, home).state()
        keep(folder, client.stack, smoke=smoke_of(state))


def _spend(client: Client) -> Spend:
    """What the month has cost. Raises `UnknownError`, `SettingsError`."""
    from trainyard.account.aws import account_of
    from trainyard.fleet.live import UnknownError, spend_of
    from trainyard.plan.resolve import resolve_stack

    plan = resolve_stack(client.config.root, client.file).plan
    ground = plan.ground
    if ground.kind != "aws":
        gpus = f"`trainyard chargeback {client.stack}` tells what its GPUs cost, and " if plan.clusters else ""
        raise UnknownError(
            f"nothing on {ground.kind} tells it by itself: its budgets alert and tell no spend; {gpus}the billing "
            "console all of it"
        )
    return spend_of(account_of(ground.region, ground.login.assume_role, ground.login.profile), plan.core.name)


@contextmanager
def _told(stack: str, what: str) -> Iterator[None]:
    from trainyard.fleet.live import UnknownError
    from trainyard.fleet.pulumi import PulumiError

    try:
        yield
    except (UnknownError, PulumiError, SettingsError) as error:
        warn([f"{stack}: {what} unknown: {error}"])
