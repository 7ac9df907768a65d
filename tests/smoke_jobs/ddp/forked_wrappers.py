"""Wrappers of smoke jobs as forks of one process that has torch: to import it is most of what a small job costs."""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("without_compiler") / "preloaded.py"
ROOM = "ROOM_FOR_THE_ENVIRONMENT_OF_A_FORK"
"""As the environment of a process, `/proc` shows what it was started with: a fork writes its own over it.
Some do the same with the command line, which has an argument for that."""
_STARTS = inspect.signature(subprocess.Popen._execute_child)
_FILES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_ADOPTS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


class Preloaded:
    """The process with torch, or what else `program` imports, which is there when the first fork of it is asked for."""

    def __init__(self, env: Mapping[str, str], program: Path = PROGRAM) -> None:
        self._env, self._program = env, program
        self._process: subprocess.Popen[bytes] | None = None

    def _begin(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(120)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(self._program), str(theirs.fileno()), "." * 98_304],
                # One thread: those that OpenBLAS has from its import end and begin anew with every fork.
                env={**self._env, ROOM: "." * 98_304, "OMP_NUM_THREADS": "1"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, command: list[str], env: Mapping[str, str], folder: str, files: list[int]) -> int:
        """The process id of a new child of ours, which is a fork of the one with torch."""
        if self._process is None:
            self._begin()
        request = json.dumps({"command": command, "env": dict(env), "folder": folder}).encode()
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        assert prctl(_ADOPTS, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
        try:
            socket.send_fds(self._ours, [request], files)
            pid = int(self._ours.recv(32))
            assert self._ours.recv(1) == b"."  # it is ours now
        finally:
            prctl(_ADOPTS, 0, 0, 0, 0)
        return pid

    def end(self) -> None:
        """It ends when nobody can ask any more."""
        if self._process is None:
            return
        self._ours.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            raise


def started(preloaded: Preloaded, command: list[str], env: Mapping[str, str]) -> subprocess.Popen[str]:
    """`python PROGRAM ...` in the folder `/`, with what it writes in `stdout`, as `subprocess` would start it."""

    class Started(subprocess.Popen[str]):
        def _execute_child(self, *given: Any) -> None:
            asked = _STARTS.bind(self, *given).arguments
            self.pid = preloaded.start(command, env, "/", [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]])
            self._child_created = True
            self._close_pipe_fds(*(asked[name] for name in _FILES))

    return Started(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
