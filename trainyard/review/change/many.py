"""Many stacks rehearsed by another release in a few processes of it, before this one judges what changes.

A process of its own for each stack would import the SDKs again for each, which takes longer than the stack. A release
that cannot do many (`serve`), and a stack on which its process ends, have no outcome here: `Source.read` has such a
stack rehearsed for itself, and tells what goes wrong then.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Final

from trainyard.review.change.serve import READY
from trainyard.review.change.source import SECONDS, environment_of, outcome_in, without_ours

_SERVE: Final = "from trainyard.review.change.serve import main; main()"
_ENDS_IN: Final = 10.0
"""Seconds in which a process ends that is asked nothing more."""


def rehearse_many(python: Path, project: Path, files: Sequence[Path], folder: Path, workers: int) -> Iterator[Path]:
    """Writes what a release, by its Python, makes of each stack into a folder; gives the stacks that it is done with.

    The outcomes are named as `outcome_in` tells. Where one is missing then, the release did not say.
    """
    servers = [_Server(python, project) for _ in range(workers)]
    idle: queue.SimpleQueue[_Server] = queue.SimpleQueue()
    for server in servers:
        idle.put(server)

    def ask(file: Path) -> Path:
        server = idle.get()
        try:
            server.rehearse(file, outcome_in(folder, file))
        finally:
            idle.put(server)
        return file

    pool = ThreadPoolExecutor(workers)
    try:
        for asking in as_completed([pool.submit(ask, file) for file in files]):
            yield asking.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for server in servers:
            server.kill()
        raise
    finally:
        pool.shutdown()
        for server in servers:
            server.close()


class _Server:
    """A process of another release. One that ends is begun again for the next stack, if it has ever been ready."""

    def __init__(self, python: Path, project: Path) -> None:
        self._python, self._project = python, project
        self._process: subprocess.Popen[str] | None = None
        self._given_up = False
        self._starting = threading.Lock()  # nothing is started once all is over

    def rehearse(self, file: Path, outcome: Path) -> None:
        """Asks for one stack and waits until that is done, or the process has ended."""
        process = self._running()
        if process is None:
            return
        request = {"stack": str(file), "project": str(self._project), "outcome": str(outcome)}
        if _asked(process, json.dumps(request)) is None:
            process.kill()
            self.close()

    def _running(self) -> subprocess.Popen[str] | None:
        with self._starting:
            if self._process is not None or self._given_up:
                return self._process
            try:
                self._process = process = subprocess.Popen(
                    [str(self._python), "-c", _SERVE],
                    cwd=self._project,
                    env=environment_of(without_ours(os.environ), self._project),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    encoding="utf-8",
                    errors="replace",
                )
            except OSError:
                self._given_up = True
                return None
        ready = _asked(process)
        if ready is None or ready.rstrip() != json.dumps(READY):
            self.kill()
            self.close()
        return self._process

    def kill(self) -> None:
        """Ends the process whatever it does, and begins none."""
        with self._starting:
            self._given_up = True
            process = self._process
            if process is not None:
                process.kill()

    def close(self) -> None:
        """Ends the process, which is asked nothing more."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(_ENDS_IN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _asked(process: subprocess.Popen[str], request: str | None = None) -> str | None:
    """The next line that a process says, after a request; None where it ended, or took too long and was ended."""
    assert process.stdin is not None and process.stdout is not None
    too_long = threading.Timer(SECONDS, process.kill)
    too_long.daemon = True
    too_long.start()
    try:
        if request is not None:
            process.stdin.write(request + "\n")
            process.stdin.flush()
        return process.stdout.readline() or None
    except BrokenPipeError:
        return None
    finally:
        too_long.cancel()
