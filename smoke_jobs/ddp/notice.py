"""SIGTERM with a notice: heard at once, even while the main thread sits in a collective.

Python runs signal handlers between bytecodes of the main thread, so a rank that is blocked in C++ would not hear
the notice until it is too late. The interpreter's C-level handler however writes the signal's number to a wake-up
descriptor immediately; a thread reads it there.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn


class Notice:
    """Listens for SIGTERM and SIGUSR1 (Slurm's `--signal`). Make it in the main thread.

    `given` is set on the first signal, `at` its time (seconds since the epoch); `on_notice` then runs in the
    listening thread.
    """

    def __init__(self, on_notice: Callable[[], None] | None = None) -> None:
        self.given = threading.Event()
        self.at = 0.0
        self._on_notice = on_notice
        self._read, write = socket.socketpair()
        write.setblocking(False)
        self._write = write
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, lambda *_: None)  # a Python handler must exist for the descriptor to be written
        signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="notice", daemon=True).start()

    def _listen(self) -> None:
        watched = {int(signal.SIGTERM), int(signal.SIGUSR1)}
        while data := self._read.recv(64):
            if watched & set(data) and not self.given.is_set():
                self.at = time.time()
                self.given.set()
                if self._on_notice is not None:
                    self._on_notice()


def leave_at_once(code: int) -> NoReturn:
    """Ends the process without the interpreter's teardown.

    A rank whose peer died sits on half-closed process groups. Their destructors were seen to hang when torchrun's
    SIGTERM came during the teardown, where no Python thread runs any more; torchrun then waits for its whole
    shutdown time-out before it restarts.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def ignore_in_loader_worker(_worker: int) -> None:
    """For DataLoader(worker_init_fn=…): the rank decides when to stop, a loader that dies first looks like a fault."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
