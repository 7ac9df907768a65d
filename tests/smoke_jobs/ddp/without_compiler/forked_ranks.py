"""Ranks as forks of their agent, which has torch already: a rank of a test is there in hundredths of a second.

Likewise the agent of a wrapper that is itself a fork of a process with torch (`preloaded.py`). A fork is a process of
its own as any rank is: a child of whoever started it, in its own session, with the environment, the arguments and the
output that it is given, and with none of the other's files, handlers of signals, functions for its end or modules of
the worker. `/proc` shows its own environment where there is room for it, else the agent's, where the marker of a run
stands too; the command line that it shows is never its own.
"""

from __future__ import annotations

import atexit
import ctypes
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
from typing import Any, NoReturn

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


def all_is_imported() -> None:
    """What modules have left until now for the end of a process belongs to every fork of it."""
    global _finalizers_of_modules
    _finalizers_of_modules = frozenset(weakref.finalize._registry)
    _at_agents_end.clear()


class ForkedRank(subprocess.Popen[Any]):
    """What torchrun starts with `python -u PROGRAM`."""

    def _execute_child(self, *given: Any) -> None:
        asked = _STARTS.bind(self, *given).arguments
        _, unbuffered, program = asked["args"]
        assert unbuffered == "-u", asked["args"]
        _fork(self, asked, [program], forks=False)


def _agents_too(started: subprocess.Popen[Any], *given: Any) -> None:
    """As `Popen._execute_child` of a process that has torch: an agent is a fork of it, all else is as it is."""
    asked = _STARTS.bind(started, *given).arguments
    args = asked["args"]
    if isinstance(args, list) and args[0] == sys.executable and args[2:3] == ["agent"]:
        assert asked["start_new_session"] and asked["cwd"] is None, asked
        _fork(started, asked, args[1:], forks=True)
    else:
        _starts(started, *given)


_starts = subprocess.Popen._execute_child


def _fork(started: subprocess.Popen[Any], asked: dict[str, Any], argv: list[str], *, forks: bool) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    parent, child = os.pipe()
    started.pid = os.fork()
    if not started.pid:

        def become() -> None:
            os.setsid()
            subprocess.Popen._execute_child = _starts  # what a rank starts is new: it is in the middle of its work
            _become(asked["env"], ((asked["c2pwrite"], 1), (asked["errwrite"], 2)), forks=forks)

        _ended_with(become, argv)
    started._child_created = True
    os.close(child)
    os.read(parent, 1)  # to its end: the rank has a session, to which torchrun may send signals from now on
    os.close(parent)


def as_wrapper(command: list[str], env: dict[str, str], folder: str, files: list[int]) -> NoReturn:
    """This fork of a process that has torch becomes `python PROGRAM ...`, whose agents are forks of it."""

    def become() -> None:
        subprocess.Popen._execute_child = _agents_too
        _become(env, tuple((file, number) for number, file in enumerate(files)), forks=True)
        os.chdir(folder)

    _ended_with(become, command[1:])


def _ended_with(become: Callable[[], None], argv: list[str]) -> NoReturn:
    code = 1
    try:
        become()
        code = _run(argv)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _become(env: dict[str, str], files: tuple[tuple[int, int], ...], *, forks: bool) -> None:
    """All that a new process has of its own. Whoever started it goes on as soon as the files are closed.

    `forks`: others are forks of it, which do not have what it leaves for its own end.
    """
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for source, target in files:
        if source >= 0:
            os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(env)
    _show(env)
    if "OMP_NUM_THREADS" in env and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(env["OMP_NUM_THREADS"]))  # which it read when it was imported
    for finalizer in weakref.finalize._registry.keys() - _finalizers_of_modules:
        finalizer.detach()
    for function in _at_agents_end:
        if function != weakref.finalize._exitfunc:  # it runs what the rank itself has to finalize
            atexit.unregister(function)
    _at_agents_end.clear()
    if not forks:
        atexit.register = _register
        sys.modules[STARTS_RANKS].Popen = subprocess.Popen
    multiprocessing.util._finalizer_registry.clear()
    multiprocessing.util._run_after_forkers()


def _show(env: dict[str, str]) -> None:
    """Writes the environment to where `/proc` reads it, if that process was started with room enough.

    Whoever kills all that carries a run's marker looks for it there.
    """
    if sys.platform != "linux":
        return
    begin, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[47:49])
    text = b"".join(f"{key}={value}".encode() + b"\0" for key, value in env.items())
    if len(text) <= end - begin:
        ctypes.memmove(begin, text.ljust(end - begin, b"\0"), end - begin)


def _run(argv: list[str]) -> int:
    """Runs a program as the main one, to its end; its exit code."""
    program, *_ = argv
    package = Path(program).absolute().parent.name
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    sys.argv = argv
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
