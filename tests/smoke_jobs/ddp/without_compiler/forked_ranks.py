"""Ranks as forks of their agent, which has torch already: a rank of a test is there in hundredths of a second.

A fork is a process of its own as any rank is: a child of the agent, in its own session, with the environment, the
arguments and the output that torchrun gives it, and with none of the agent's files, handlers of signals, functions for
its end or modules of the worker. `/proc` shows it with the agent's command line and environment, where the marker of a
run stands too.
"""

from __future__ import annotations

import atexit
import inspect
import multiprocessing.util
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitecustomize import STARTS_RANKS

if os.environ.get("SMOKE_ROLE") == "interrupted":
    # Each rank of the job that is killed again and again imports what reads checkpoints, which takes most of a second:
    # for tensors of several machines, here once. The rest of it imports the module that imports this one.
    import torch.distributed.tensor  # noqa: F401

HANDLED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


_STARTS = inspect.signature(subprocess.Popen._execute_child)
_NAMES = ("args", "env", "c2pwrite", "errwrite")
if not set(_NAMES) <= set(_STARTS.parameters):
    raise RuntimeError(
        f"ranks as forks need subprocess.Popen._execute_child with {', '.join(_NAMES)}, as Python 3.11 has it; "
        f"{sys.version.split()[0]} has {_STARTS}"
    )

_finalizers_of_modules = frozenset(weakref.finalize._registry)
"""Those that torch leaves as it is imported, which this file is imported after: a rank has them too."""
_at_agents_end: list[Callable[..., object]] = []
_register = atexit.register


def _noted(function: Callable[..., object], *arguments: Any, **options: Any) -> Callable[..., object]:
    """`atexit.register`, which cannot be asked what it has: from here on, that is the agent's."""
    _at_agents_end.append(function)
    return _register(function, *arguments, **options)


atexit.register = _noted


class ForkedRank(subprocess.Popen[Any]):
    """What torchrun starts with `python -u PROGRAM`."""

    def _execute_child(self, *given: Any) -> None:
        asked = _STARTS.bind(self, *given).arguments
        _, unbuffered, program = asked["args"]
        assert unbuffered == "-u", asked["args"]
        sys.stdout.flush()
        sys.stderr.flush()
        parent, child = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                _become(asked["env"], asked["c2pwrite"], asked["errwrite"])
                code = _run(program)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(code)
        self._child_created = True
        os.close(child)
        os.read(parent, 1)  # to its end: the rank has a session, to which torchrun may send signals from now on
        os.close(parent)


def _become(env: dict[str, str], output: int, errors: int) -> None:
    """All that a new process has of its own. Whoever started it goes on as soon as the files are closed."""
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
    if "OMP_NUM_THREADS" in env and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(env["OMP_NUM_THREADS"]))  # which it read when it was imported
    for finalizer in weakref.finalize._registry.keys() - _finalizers_of_modules:
        finalizer.detach()
    for function in _at_agents_end:
        if function != weakref.finalize._exitfunc:  # it runs what the rank itself has to finalize
            atexit.unregister(function)
    atexit.register = _register
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
