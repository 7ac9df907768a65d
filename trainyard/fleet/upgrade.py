"""Bringing clients' stacks forward in waves, through the Pulumi command: some at once, until one fails.

Each stack has its own folder for Pulumi's files (`PULUMI_HOME`), its own backend and, by its settings, its own role:
two clients' credentials never meet in one process. The plug-ins, a few hundred megabytes, are everybody's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

from trainyard.fleet import events
from trainyard.fleet.clients import WAVES, Client, Wave
from trainyard.fleet.keeper import Keepers, alone_in, kept, outcome
from trainyard.fleet.ledger import Ledger, Turn
from trainyard.fleet.tunnel import Way, ways_of
from trainyard.plan.resolve import resolve_stack
from trainyard.problems import SettingsError

Say = Callable[[str], None]
LAST_LINES = 12
"""Lines of Pulumi's output that are told where it fails."""

SHARED_PLUGINS = ".plugins"
"""The folder of the plug-ins that all clients share, beside their own folders."""


def turns(clients: Sequence[Client], release: str, *, again: bool = False) -> list[Turn]:
    """A turn for each stack that is neither frozen nor of its release already, in the order of the waves.

    Its release is the one that it is pinned to, else `release`, the installed one.
    """
    return [
        Turn(client.stack, client.entry.wave)
        for client in clients
        if client.entry.frozen is None and (again or client.entry.version != (client.entry.pin or release))
    ]


def brought_up_to_date(ledger: Ledger, clients: Sequence[Client]) -> None:
    """Makes an upgrade under way what fleet.yaml says today: without stacks that were frozen since it began, with those
    that were added or thawed, each in the wave that it is in now. What is done stays done."""
    by_name = {client.stack: client for client in clients}
    kept = [
        turn
        for turn in ledger.turns
        if turn.step == "done" or turn.stack not in by_name or by_name[turn.stack].entry.frozen is None
    ]
    for turn in kept:
        if turn.step != "done" and turn.stack in by_name:
            turn.wave = by_name[turn.stack].entry.wave
    there = {turn.stack for turn in ledger.turns}
    kept += [turn for turn in turns(clients, ledger.release) if turn.stack not in there]
    ledger.turns = sorted(kept, key=lambda turn: (WAVES.index(turn.wave), turn.stack))


def due(ledger: Ledger, wave: Wave) -> list[Turn]:
    """The turns that are left up to a wave: a later one waits for every stack of those before it."""
    return [turn for turn in ledger.left if WAVES.index(turn.wave) <= WAVES.index(wave)]


def upgrade(
    ledger: Ledger,
    clients: Mapping[str, Client],
    wave: Wave,
    program: str,
    homes: Path,
    say: Say,
    done: Callable[[str], None],
    held_back: Callable[[Wave], bool],
    at_once: int = 1,
) -> list[Turn]:
    """Runs `pulumi up` for the turns that are due, so many at once; those that failed, none where all are done.

    Where one fails no other is begun; what runs beside it goes to its end. A wave begins when the one before it is
    done, and where `held_back`, which is asked just before, lets it. `done` is told each stack that is, one after the
    other. What a command that was killed left under way is waited for, and not begun again where it ended well.
    """
    up = _Up(ledger, clients, program, homes, say, done)
    for name in WAVES:
        now = [turn for turn in due(ledger, wave) if turn.wave == name]
        if now and held_back(name):
            break
        if now:
            up.take(now, at_once)
        if up.failed:
            break
    return up.failed


class _Up:
    """An upgrade under way, whose turns are taken in several threads."""

    def __init__(
        self,
        ledger: Ledger,
        clients: Mapping[str, Client],
        program: str,
        homes: Path,
        say: Say,
        done: Callable[[str], None],
    ) -> None:
        self.failed: list[Turn] = []
        self._ledger, self._clients, self._program, self._homes = ledger, clients, program, homes
        self._say, self._done = say, done
        self._telling, self._stopped, self._keepers = threading.Lock(), threading.Event(), Keepers()

    def take(self, waiting: Sequence[Turn], at_once: int) -> None:
        """Takes the turns, until one fails. A Ctrl-C ends what runs, is waited for, and raised then."""
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            taken = [pool.submit(self._take, turn) for turn in waiting]
            try:
                wait(taken)
            except KeyboardInterrupt:
                self._stopped.set()
                self._keepers.interrupt()
                raise
        for each in taken:
            each.result()

    def _take(self, turn: Turn) -> None:
        try:
            if not self._stopped.is_set():
                self._bring(turn)
        except BaseException:
            self._stopped.set()
            raise

    def _bring(self, turn: Turn) -> None:
        ledger, client = self._ledger, self._clients[turn.stack]
        folder = home_of(client, self._homes)
        with self._telling:
            self._say(f"{turn.wave}: {turn.stack}")
        with alone_in(folder) as lock:
            code = outcome(folder, _name(ledger, turn)) if turn.step == "running" else None
            if code is None:
                if self._stopped.is_set():  # another failed while this one waited for the folder
                    return
                # A turn that was frozen and thawed counts its tries anew: what ended then is not what ends now.
                (folder / f"{_name(ledger, turn, more=1)}.code").unlink(missing_ok=True)
                ledger.mark(turn, "running")
                stream = _stream(folder, ledger, turn)
                stream.touch(mode=0o600)
                options = ["--yes", "--skip-preview", "--non-interactive", "--event-log", str(stream)]
                code = run(client, [self._program, "up", *options], folder, _name(ledger, turn), lock, self._keepers)
        told = events.read(_stream(folder, ledger, turn))
        if code:
            self._stopped.set()
            ledger.mark(turn, "failed", "\n".join([told.ended_badly, last_lines(folder, _name(ledger, turn))]).strip())
            with self._telling:
                self.failed.append(turn)
        else:
            with self._telling:
                self._say(
                    f"{turn.wave}: {turn.stack} is done" + (f": {told.words}" if told.seconds is not None else "")
                )
                self._done(turn.stack)
            ledger.mark(turn, "done")
        _stream(folder, ledger, turn).unlink(missing_ok=True)  # it has every resource's inputs


def _name(ledger: Ledger, turn: Turn, more: int = 0) -> str:
    """What the files of a turn's last try are called; of a later one, with so many more."""
    return f"up-{ledger.begun}-{turn.tries + more}"


def _stream(folder: Path, ledger: Ledger, turn: Turn) -> Path:
    """Where Pulumi writes what its engine tells; it is called in another folder."""
    return folder.absolute() / f"{_name(ledger, turn)}.events"


def home_of(client: Client, homes: Path) -> Path:
    """The folder of Pulumi's own files for a stack, with the plug-ins that all share; made where there is none.

    Pulumi looks for plug-ins in `plugins` of its folder and nowhere else, and locks each that it fetches (its source,
    `sdk/go/common/workspace`): so one download is everybody's.
    """
    folder, shared = homes / client.stack, homes / SHARED_PLUGINS
    folder.mkdir(parents=True, exist_ok=True)
    shared.mkdir(exist_ok=True)
    if not (folder / "plugins").exists():
        with suppress(FileExistsError):  # another command made it just now
            (folder / "plugins").symlink_to(shared.resolve(), target_is_directory=True)
    return folder


def environment_of(client: Client, home: Path | None = None) -> dict[str, str]:
    """What Pulumi is told by its environment: where the state is, and, where one is named, its own folder."""
    return {
        **os.environ,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        **events.ENVIRONMENT,
        **({"PULUMI_HOME": str(home)} if home is not None else {}),
        **({"PULUMI_BACKEND_URL": client.backend} if client.backend else {}),
    }


def run(
    client: Client, command: Sequence[str], folder: Path, name: str, lock: int, keepers: Keepers | None = None
) -> int:
    """Runs Pulumi for one stack to its end: its exit code. What it says goes to `NAME.log` in the folder.

    The ways to the stack's private clusters are open meanwhile, and closed whatever happens.
    """
    whole = [*command, "--stack", client.stack, "--cwd", str(client.folder)]
    return kept(folder, name, whole, environment_of(client, folder), lock, keepers, ways_to(client))


def ways_to(client: Client) -> tuple[Way, ...]:
    """The ways to a client's private clusters; none where its settings are wrong, which its own program tells."""
    try:
        return ways_of(resolve_stack(client.config.root, client.file).plan)
    except SettingsError:
        return ()


def last_lines(folder: Path, name: str) -> str:
    """The last of what Pulumi said."""
    path = folder / f"{name}.log"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    return "\n".join(lines[-LAST_LINES:])
