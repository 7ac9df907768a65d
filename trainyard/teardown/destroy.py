"""The end of a stack, step by step: freeze, write back, let go, `pulumi destroy`. Every step may be done once more.

Each run begins with the state as it is, so a run that was killed is simply called again. The Pulumi command itself runs
under a keeper, to its end whatever becomes of who started it; the next run waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from trainyard.fleet.clients import Client
from trainyard.fleet.keeper import alone_in
from trainyard.fleet.pulumi import Pulumi, PulumiError
from trainyard.problems import SettingsError
from trainyard.teardown.cloud import Cloud, Say
from trainyard.teardown.freeze import Kubectl, freeze, running_in
from trainyard.teardown.kinds import Group
from trainyard.teardown.ledger import note_kept, write_private
from trainyard.teardown.model import Kept
from trainyard.teardown.state import Ending, State, ending
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json

FOLDER: Final = ".trainyard-destroy"
"""A folder for each stack, beside Pulumi.yaml: the states before, what Pulumi said, and what was kept."""


ONE_END: Final = timedelta(days=1)
"""Runs that begin within it of each other end the same environment. What is made of its names later, somebody made."""

DESTROY: Final = ("destroy", "--yes", "--skip-preview", "--non-interactive")


@dataclass(frozen=True, slots=True)
class Options:
    """How a stack is to end."""

    keep: tuple[Group, ...]
    drain_minutes: float
    freeze: bool = True


def folder_of(client: Client) -> Path:
    """Where the end of a stack leaves its notes; made where there is none."""
    folder = client.config.root / FOLDER / client.stack
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _state(pulumi: Pulumi, name: str) -> State:
    return State(pulumi.exported(name))


def look(pulumi: Pulumi, keep: Sequence[Group]) -> tuple[State, Ending]:
    """The state, and what would become of it: nothing is changed."""
    with alone_in(pulumi.folder):
        state = _state(pulumi, f"look-{_now()}")
    return state, ending(state, keep)


def destroy(
    pulumi: Pulumi, cloud: Cloud, kubectl: Callable[[], Kubectl], options: Options, say: Say
) -> tuple[Kept, ...]:
    """Ends the stack; what was kept.

    Raises:
        PulumiError: Pulumi fails; what it deleted until then is gone, and the next run goes on.
        FreezeError, LiftError: before anything is deleted.
        CannotAskError: the cloud does not answer, before anything is deleted.
    """
    begun = _now()
    with alone_in(pulumi.folder) as lock:
        say("reading the state")
        state = _state(pulumi, f"before-{begun}")
        if not state.made:
            say("the state is empty: nothing is left to delete")
            _afterwards(pulumi.folder, begun, cloud, say)
            return note_kept(pulumi.folder, ())
        running = running_in(state)
        if options.freeze and (running.queues or running.namespaces):
            freeze(running, kubectl(), say, minutes=options.drain_minutes)
        cloud.before(state, options.keep, say)
        # Read again: what people and controllers did meanwhile is in it.
        state = _state(pulumi, f"frozen-{begun}")
        end = ending(state, options.keep)
        found = note_kept(pulumi.folder, end.kept)
        cloud.unprotect(state, options.keep, say)
        say("lifting the protection in the state")
        edited = pulumi.folder / f"edited-{begun}.json"
        write_private(edited, json.dumps(end.state))
        pulumi.run(f"import-{begun}", ["stack", "import", "--file", str(edited)], lock)
        say("pulumi destroy")
        try:
            pulumi.run(f"destroy-{begun}", DESTROY, lock)
        except PulumiError:
            if not cloud.sweep(state, say):
                raise
            say("pulumi destroy, once more")
            pulumi.run(f"destroy-{begun}-again", DESTROY, lock)
        cloud.sweep(state, say)
        _afterwards(pulumi.folder, begun, cloud, say)
    return found


def _afterwards(folder: Path, begun: str, cloud: Cloud, say: Say) -> None:
    """Looks after all that any run of this end found: one that was killed has deleted what this state lacks by now."""
    since = at = _time(begun)
    stood: list[State] = []
    for run, state in sorted(_stood(folder), key=lambda each: each[0], reverse=True):
        if at - run > ONE_END:
            break
        stood.append(state)
        since = at = run
    if stood:
        cloud.afterwards(stood, since, say)


def _stood(folder: Path) -> Iterator[tuple[datetime, State]]:
    """When each run began that found something, and what."""
    for path in folder.glob("before-*.json"):
        try:
            found = State(read_json(path, path.name, LARGEST_OUTCOME_BYTES))
        except SettingsError:
            continue  # the run was killed while Pulumi wrote it, and has deleted nothing
        if found.made:
            yield _time(path.stem.removeprefix("before-")), found


_TIME: Final = "%Y%m%dT%H%M%S%fZ"


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)


def _now() -> str:
    return datetime.now(UTC).strftime(_TIME)
