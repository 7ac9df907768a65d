"""Carries an upgrade out, step by step. Every step may be done once more: a run that was killed is called again.

The order within `pulumi up` is the program's own: what needs the control plane waits for it, node groups wait for the
add-ons without which no node is ready, smoke jobs for the nodes that they prove (`tests/upgrade/test_order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trainyard.fleet.clients import Client
from trainyard.fleet.keeper import alone_in, outcome
from trainyard.fleet.pulumi import Pulumi, PulumiError
from trainyard.plan.lock import lock_path, lock_text, read_lock
from trainyard.plan.relock import relocked
from trainyard.teardown.freeze import Kubectl
from trainyard.teardown.ledger import write_private
from trainyard.upgrade.drain import Leaving, left, switch_on
from trainyard.upgrade.ledger import Ledger, Step, said_by
from trainyard.upgrade.legs import Versions, advanced
from trainyard.upgrade.queues import Say, hold, let_go, open_queues, wait_until_idle, wait_until_none

FOLDER: Final = ".trainyard-upgrade"
"""A folder for each stack, beside Pulumi.yaml: how far its upgrade is, and what Pulumi said."""

UP: Final = ("up", "--yes", "--skip-preview", "--non-interactive")
EVEN: Final = ("preview", "--expect-no-changes", "--non-interactive")


class NotBegunError(Exception):
    """The upgrade does not begin: what is deployed is not what the program says, or EKS does not sell a version."""


class ChangedError(Exception):
    """The stack file is not the one whose change was rehearsed: nobody knows whose jobs another one ends."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an upgrade is to go."""

    wait_minutes: float
    evict: bool = False  # jobs that run save and end, instead of being waited for
    with_changes: bool = False  # though the program would change more than versions


Offered = Callable[[Versions], Sequence[str]]
"""What EKS does not offer of these versions, a line each."""


def folder_of(client: Client) -> Path:
    """Where the upgrade of a stack leaves its notes; made where there is none."""
    folder = client.config.root / FOLDER / client.stack
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def now() -> str:
    """The time, as ledgers have it."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")


def carry_out(
    ledger: Ledger,
    pulumi: Pulumi,
    kubectl: Callable[[], Kubectl],
    not_offered: Offered,
    options: Options,
    say: Say,
) -> None:
    """Does the steps that are left.

    Raises:
        NotBegunError: before anything is done; then no upgrade is under way.
        ChangedError: the stack file was edited on the way; queues that are held stay so.
        QueuesError: the cluster does not answer, or jobs run on.
        PulumiError: Pulumi fails; queues that are held stay so.
        SettingsError: the stack's lock cannot be read.
    """
    with alone_in(pulumi.folder) as lock:
        ledger.tries += 1
        ledger.write()
        for step in ledger.left:
            if ledger.target is None and step.kind != "release":
                _as_rehearsed(ledger, pulumi.client)
            again = step.state == "running"
            say(step.words)
            ledger.mark(step, "running")
            if step.kind in ("ask", "even"):
                with _nothing_begun(ledger):
                    if step.kind == "ask":
                        _ask(ledger, not_offered)
                    elif not options.with_changes:
                        _even(pulumi, ledger, lock)
            elif step.kind == "hold":
                _hold(ledger, kubectl(), options, pulumi.folder)
            elif step.kind == "wait":
                _wait(ledger, step, kubectl(), options, pulumi.folder, say)
            elif step.kind == "lock":
                write_lock(pulumi.client, step)
            elif step.kind == "up":
                _up(pulumi, ledger, step, lock, again=again)
            else:
                _release(ledger, kubectl(), pulumi.folder)
            ledger.mark(step, "done")


def give_up(ledger: Ledger, pulumi: Pulumi, kubectl: Callable[[], Kubectl]) -> None:
    """Lets the queues go and ends the upgrade where it is. Raises `QueuesError`."""
    with alone_in(pulumi.folder):
        if ledger.held:
            _release(ledger, kubectl(), pulumi.folder)
        ledger.path.unlink()


def write_lock(client: Client, step: Step) -> None:
    """Writes the versions of a step into the stack's lock. Raises `SettingsError`."""
    path = lock_path(client.file)
    found = read_lock(path)
    if found is None or step.to is None:
        raise ValueError("an upgrade begins with a lock")
    after = relocked(client.config, advanced(found, step.to), ())
    mode = path.stat().st_mode
    write_private(path, lock_text(after, client.stack))
    path.chmod(mode)  # it is in the repository


@contextmanager
def _nothing_begun(ledger: Ledger) -> Iterator[None]:
    """Takes the ledger away where an upgrade does not begin at all."""
    try:
        yield
    except BaseException:
        ledger.path.unlink(missing_ok=True)
        raise


def _as_rehearsed(ledger: Ledger, client: Client) -> None:
    """Looks before each step: a person may edit for hours, while jobs are waited for, and between two calls."""
    if ledger.said != said_by(client.file):
        raise ChangedError(
            f"{client.file.name} or its lock is not what it was when this change was rehearsed, and nobody waits for"
            " the jobs that another one ends: put it back and call again, or let the queues go with --release and begin"
            " anew; they stay held until then"
        )


def _ask(ledger: Ledger, not_offered: Offered) -> None:
    through = [step.to for step in ledger.steps if step.kind == "lock" and step.to is not None]
    lacking = [line for versions in through for line in not_offered(versions)]
    if lacking:
        raise NotBegunError("EKS does not offer what would be installed:\n" + "\n".join(lacking))


def _even(pulumi: Pulumi, ledger: Ledger, lock: int) -> None:
    try:
        pulumi.run(f"even-{ledger.begun}-{ledger.tries}", EVEN, lock)
    except PulumiError as error:
        raise NotBegunError(
            f"what is deployed is not what the program says, or could not be asked: {error}\n"
            "`pulumi up` first, or --with-changes to bring it all along"
        ) from None


def _hold(ledger: Ledger, kubectl: Kubectl, options: Options, folder: Path) -> None:
    """Notes the queues before it holds the first: one that was held here is let go after a kill too."""
    known = {str(queue) for queue in ledger.held}
    ledger.held += [queue for queue in open_queues(kubectl) if str(queue) not in known]
    ledger.write()
    everybody = options.evict and not _flavors(ledger)
    hold(kubectl, ledger.held, "HoldAndDrain" if everybody else "Hold", folder)


def _flavors(ledger: Ledger) -> tuple[str, ...]:
    """The flavors whose nodes change; none: all nodes do."""
    return tuple(name for step in ledger.steps for name in step.flavors)


def _release(ledger: Ledger, kubectl: Kubectl, folder: Path) -> None:
    if _flavors(ledger):
        switch_on(kubectl)
    let_go(kubectl, lambda queue: queue in ledger.held, folder)


def _wait(ledger: Ledger, step: Step, kubectl: Kubectl, options: Options, folder: Path, say: Say) -> None:
    if step.flavors:
        there = Leaving((), step.flavors)
        wait_until_none(lambda: left(kubectl, there, evict=options.evict), say, minutes=options.wait_minutes)
        return
    if options.evict:
        hold(kubectl, ledger.held, "HoldAndDrain", folder)
    wait_until_idle(kubectl, ledger.held, say, minutes=options.wait_minutes)


def _up(pulumi: Pulumi, ledger: Ledger, step: Step, lock: int, *, again: bool) -> None:
    """Brings the stack up; what a command that was killed left under way has ended by now, and counts if well."""
    version = step.to.kubernetes if step.to is not None else ""
    name = f"up-{ledger.begun}-{version}"
    if again and outcome(pulumi.folder, name) == 0:
        return
    (pulumi.folder / f"{name}.code").unlink(missing_ok=True)
    pulumi.run(name, UP, lock)
