"""Bringing clients' stacks forward in waves, through the Pulumi command: one after the other, until one fails.

Each stack has its own folder for Pulumi's files (`PULUMI_HOME`), its own backend and, by its settings, its own role:
two clients' credentials and plug-ins never meet in one process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trainyard.fleet.clients import WAVES, Client, Wave
from trainyard.fleet.keeper import alone_in, kept, outcome
from trainyard.fleet.ledger import Ledger, Turn

Say = Callable[[str], None]
LAST_LINES = 12
"""Lines of Pulumi's output that are told where it fails."""


def turns(clients: Sequence[Client], release: str, *, again: bool = False) -> list[Turn]:
    """A turn for each stack that is neither frozen nor of that release already, in the order of the waves."""
    return [
        Turn(client.stack, client.entry.wave)
        for client in clients
        if client.entry.frozen is None and (again or client.entry.version != release)
    ]


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
) -> Turn | None:
    """Runs `pulumi up` for the turns that are due; the one that failed, None where none did.

    `done` is told each stack that is. What a command that was killed left under way is waited for, and not begun again
    where it ended well.
    """
    for turn in due(ledger, wave):
        client = clients[turn.stack]
        say(f"{turn.wave}: {turn.stack}")
        folder = home_of(client, homes)
        with alone_in(folder) as lock:
            code = outcome(folder, _name(ledger, turn)) if turn.step == "running" else None
            if code is None:
                ledger.mark(turn, "running")
                command = [program, "up", "--yes", "--skip-preview", "--non-interactive"]
                code = run(client, command, folder, _name(ledger, turn), lock)
        if code:
            ledger.mark(turn, "failed", last_lines(folder, _name(ledger, turn)))
            return turn
        done(turn.stack)
        ledger.mark(turn, "done")
    return None


def _name(ledger: Ledger, turn: Turn) -> str:
    return f"up-{ledger.begun}-{turn.tries}"


def home_of(client: Client, homes: Path) -> Path:
    """The folder of Pulumi's own files for a stack; made where there is none."""
    folder = homes / client.stack
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(client: Client, command: Sequence[str], folder: Path, name: str, lock: int) -> int:
    """Runs Pulumi for one stack to its end: its exit code. What it says goes to `NAME.log` in the folder."""
    environment = {
        **os.environ,
        "PULUMI_HOME": str(folder),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        **({"PULUMI_BACKEND_URL": client.backend} if client.backend else {}),
    }
    whole = [*command, "--stack", client.stack, "--cwd", str(client.config.root)]
    return kept(folder, name, whole, environment, lock)


def last_lines(folder: Path, name: str) -> str:
    """The last of what Pulumi said."""
    path = folder / f"{name}.log"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    return "\n".join(lines[-LAST_LINES:])
