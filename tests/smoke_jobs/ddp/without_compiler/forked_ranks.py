"""Ranks as forks of their agent, which has torch already: a rank of a test is there in hundredths of a second.

A fork is a process of its own as any rank is: a child of the agent, in its own session, with the environment, the
arguments and the output that torchrun gives it, and with none of the agent's files, handlers of signals or modules of
the worker. `/proc` shows it with the agent's command line and environment, where the marker of a run stands too.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from sitecustomize import STARTS_RANKS

HANDLED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


class ForkedRank(subprocess.Popen[Any]):
    """What torchrun starts with `python -u PROGRAM`."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        _, unbuffered, program = args
        assert unbuffered == "-u", args
        env, output, errors = rest[5], rest[12], rest[14]
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                _become(env, output, errors)
                code = _run(program)
            finally:
                os._exit(code)
        self._child_created = True


def _become(env: dict[str, str], output: int, errors: int) -> None:
    """All that a new process has of its own."""
    os.setsid()
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for source, target in ((output, 1), (errors, 2)):
        if source >= 0:
            os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(env)
    multiprocessing.util._finalizer_registry.clear()
    multiprocessing.util._run_after_forkers()
    sys.modules[STARTS_RANKS].Popen = subprocess.Popen


def _run(program: str) -> int:
    """Runs a program as the main one, to its end; its exit code."""
    package = Path(program).absolute().parent.name
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    sys.argv = [program]
    code: Any = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0
