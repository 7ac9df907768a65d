"""Runs one command to its end, whatever becomes of who started it, and leaves what it ended with on the disk.

`python -m trainyard.fleet.keeper FOLDER NAME WAYS COMMAND…`: output goes to `FOLDER/NAME.log`, the exit code to
`FOLDER/NAME.code`, written whole. The ways to private clusters (`tunnel.py`) are open while the command runs, and what
their sessions say goes to `FOLDER/NAME.tunnel.log`; where one cannot be opened the command is not begun. It holds the
folder's lock, which it was handed, so that nobody runs a second one beside it even where whoever started it was killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from trainyard.fleet.tunnel import TunnelError, Way, opened

CANNOT_RUN = 127
"""Exit code of a program that is not there, as a shell gives it."""

NO_WAY = 126
"""Exit code where no way leads to a private cluster: the command was not begun."""

INTERRUPTED = 130
"""Exit code where a Ctrl-C came before the command was begun, as a shell gives it."""


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """Holds the folder's lock, a file descriptor; waits until whoever has it lets it go."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def outcome(folder: Path, name: str) -> int | None:
    """The exit code of a command that has ended; None where it never did, or nobody wrote it, as after a power cut."""
    path = folder / f"{name}.code"
    text = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    return int(text) if text.lstrip("-").isdecimal() else None


class Keepers:
    """The keepers of commands that run beside each other, so that a Ctrl-C, which the main thread alone hears, reaches
    all of them."""

    def __init__(self) -> None:
        """None yet."""
        self._lock, self._running, self._interrupted = threading.Lock(), set[subprocess.Popen[bytes]](), False

    def begun(self, keeper: subprocess.Popen[bytes]) -> None:
        """Takes a keeper in; one that comes after the Ctrl-C hears it at once."""
        with self._lock:
            self._running.add(keeper)
            if self._interrupted:
                _interrupt(keeper)

    def ended(self, keeper: subprocess.Popen[bytes]) -> None:
        """Forgets a keeper."""
        with self._lock:
            self._running.discard(keeper)

    def interrupt(self) -> None:
        """Hands the Ctrl-C on, so that every command can end what it does."""
        with self._lock:
            self._interrupted = True
            for keeper in self._running:
                _interrupt(keeper)


def _interrupt(keeper: subprocess.Popen[bytes]) -> None:
    """Hands a Ctrl-C to the keeper's command; nothing where both have ended."""
    if keeper.poll() is None:
        with suppress(ProcessLookupError):  # it ended just now
            os.killpg(keeper.pid, signal.SIGINT)


def kept(
    folder: Path,
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    lock: int,
    keepers: Keepers | None = None,
    ways: Sequence[Way] = (),
) -> int:
    """Runs a command under a keeper, which is handed the folder's lock, and waits for it: its exit code.

    The ways to private clusters are the keeper's to open and to close, so that they stand for as long as the command
    runs, and no longer.

    A Ctrl-C is handed on, so that the command can end what it does, and raised when it has; in another thread than the
    main one, which does not hear it, `keepers` hands it on.
    """
    keeper = subprocess.Popen(
        [sys.executable, "-m", "trainyard.fleet.keeper", str(folder), name, _text(ways), *command],
        env=dict(environment),
        start_new_session=True,
        pass_fds=[lock],
    )
    if keepers is not None:
        keepers.begun(keeper)
    try:
        keeper.wait()
    except KeyboardInterrupt:
        _interrupt(keeper)
        keeper.wait()
        raise
    finally:
        if keepers is not None:
            keepers.ended(keeper)
    found = outcome(folder, name)
    return keeper.returncode if found is None else found


def _text(ways: Sequence[Way]) -> str:
    return json.dumps([asdict(way) for way in ways])


def main(folder: Path, name: str, ways: Sequence[Way], command: Sequence[str]) -> None:
    """What the keeper's process does."""
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())  # the command's to answer, once it runs
    with (folder / f"{name}.log").open("wb") as log:
        try:
            with opened(ways, folder / f"{name}.tunnel.log"):
                code = INTERRUPTED
                if not interrupted.is_set():
                    code = subprocess.run(
                        command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False
                    ).returncode
        except TunnelError as error:
            log.write(f"no way to the cluster's API, so nothing was begun: {error}\n".encode())
            code = NO_WAY
        except OSError as error:
            log.write(f"{command[0]}: cannot be run: {error.strerror}\n".encode())
            code = CANNOT_RUN
        draft = folder / f".{name}.code"
        draft.write_text(str(code), encoding="utf-8")
        draft.replace(folder / f"{name}.code")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Way(**each) for each in json.loads(sys.argv[3])], sys.argv[4:])
