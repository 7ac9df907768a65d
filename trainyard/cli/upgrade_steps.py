"""What every way of `trainyard upgrade` has: its steps told, Pulumi, and what is said where it stops."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from trainyard.cli.project import fail
from trainyard.problems import SettingsError
from trainyard.review.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.upgrade.ledger import Step


def pulumi_of(program: str, client: Client) -> Pulumi:
    """Pulumi for a client, with its notes in the folder of upgrades. Ends the command where there is none."""
    from trainyard.cli.programs import WHERE
    from trainyard.fleet.pulumi import Pulumi
    from trainyard.upgrade.run import folder_of

    if shutil.which(program) is None:
        fail(f"{program} is not on the path, and it brings the stack up: {WHERE['pulumi']}")
    return Pulumi(program, client, folder_of(client))


def tell_steps(stack: str, steps: Sequence[Step], under_way: bool) -> None:
    """Writes the steps, and how far they are."""
    from trainyard.output import console

    out = console()
    done = sum(step.state == "done" for step in steps)
    head = f"the steps, of which {done} are done" if under_way else "the steps"
    out.print(f"{head}, which `trainyard upgrade {stack} … --run` takes", style="bold", markup=False, soft_wrap=True)
    for number, step in enumerate(steps, 1):
        mark = " (done)" if step.state == "done" else ""
        out.print(f"  {number}. {step.words}{mark}", soft_wrap=True, markup=False, highlight=False)


@contextmanager
def stopping() -> Iterator[None]:
    """Ends the command where a step fails, and says what stays as it is."""
    from trainyard.fleet.pulumi import PulumiError
    from trainyard.upgrade.queues import QueuesError
    from trainyard.upgrade.run import ChangedError, NotBegunError

    try:
        yield
    except (NotBegunError, ChangedError, QueuesError) as error:
        fail(str(error), code=EXIT_STOPPED)
    except PulumiError as error:
        fail(f"{error}\nthe queues stay held; the same command goes on from here", code=EXIT_STOPPED)
    except SettingsError as error:
        fail(str(error))


def say(text: str) -> None:
    """Tells a person what is done now."""
    typer.echo(text, err=True)
