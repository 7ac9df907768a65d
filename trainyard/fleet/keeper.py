"""Runs one command to its end, whatever becomes of who started it, and leaves what it ended with on the disk.

`python -m trainyard.fleet.keeper FOLDER NAME COMMAND…`: output goes to `FOLDER/NAME.log`, the exit code to
`FOLDER/NAME.code`, written whole. It holds the folder's lock, which it was handed, so that nobody runs a second one
beside it even where whoever started it was killed.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

CANNOT_RUN = 127
"""Exit code of a program that is not there, as a shell gives it."""


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """Holds the folder's lock, a file descriptor; waits until whoever has it lets it go."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def outcome(folder: Path, name: str) -> int | None:
    """The exit code of a command that has ended; None where it never did, as after a power cut."""
    path = folder / f"{name}.code"
    return int(path.read_text(encoding="utf-8")) if path.exists() else None


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
) -> int:
    """Runs a command under a keeper, which is handed the folder's lock, and waits for it: its exit code.

    A Ctrl-C is handed on, so that the command can end what it does, and raised when it has; in another thread than the
    main one, which does not hear it, `keepers` hands it on.
    """
    keeper = subprocess.Popen(
        [sys.executable, "-m", "trainyard.fleet.keeper", str(folder), name, *command],
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


def main(folder: Path, name: str, command: Sequence[str]) -> None:
    """What the keeper's process does."""
    signal.signal(signal.SIGINT, lambda *_: None)  # the command's to answer
    with (folder / f"{name}.log").open("wb") as log:
        try:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False
            ).returncode
        except OSError as error:
            log.write(f"{command[0]}: cannot be run: {error.strerror}\n".encode())
            code = CANNOT_RUN
        draft = folder / f".{name}.code"
        draft.write_text(str(code), encoding="utf-8")
        draft.replace(folder / f"{name}.code")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
