"""Programs as forks of a process that has MLflow (`preloaded.py`).

A fork has its own session, environment, arguments, files, folder and import path, and `/proc` shows its own environment
and command line. What such a program starts with this Python, or becomes, is a fork too: of a process that waits beside
it since before the program began, and so has nothing of it.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import inspect
import json
import multiprocessing.util
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

SPARE = 2
"""Programs that one of these starts: a migration its two halves, a server with several workers two of them."""
_EXECUTES = subprocess.Popen._execute_child
_STARTS = inspect.signature(_EXECUTES)
_BECOMES = os.execvpe
_SPAWNS = multiprocessing.util.spawnv_passfds
_IMPORT_PATH = [entry for entry in sys.path[1:] if entry not in os.environ.get("PYTHONPATH", "").split(os.pathsep)]


class _Spare:
    """A child that waits until a program is wanted of it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if not self.pid:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.closerange(3, theirs.fileno())
            os.closerange(theirs.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
            message, files, _, _ = socket.recv_fds(theirs, 1 << 20, 16)
            if not message:
                os._exit(0)
            begin(json.loads(message), files, told=theirs.fileno())
        theirs.close()

    def program(self, request: dict[str, Any], files: Sequence[int]) -> int:
        """Begins it; its process id, once it has a session."""
        socket.send_fds(self._ours, [json.dumps(request).encode()], files)
        self._ours.recv(1)
        self._ours.close()
        return self.pid

    def ends(self) -> None:
        """It is not wanted any more."""
        self._ours.close()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


_spares: list[_Spare] = []


def begin(request: dict[str, Any], files: Sequence[int], *, told: int = -1) -> NoReturn:
    """This process becomes what is asked for."""
    code = 1
    try:
        if request["session"]:
            os.setsid()
        numbers = request["numbers"]
        # Beside what is taken first, so that none is overwritten before it is copied.
        above = [os.dup2(file, 512 + at, inheritable=False) for at, file in enumerate(files)]
        if told >= 0:
            told = os.dup2(told, 511, inheritable=False)
        for source, number in zip(above, numbers, strict=True):
            os.dup2(source, number, inheritable=True)
        first = 3
        for number in [*sorted(number for number in numbers if number > 2), 511, os.sysconf("SC_OPEN_MAX")]:
            os.closerange(first, number)
            first = number + 1
        os.chdir(request["folder"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _has(request["env"], request["command"])
        gc.freeze()
        _spares[:] = [_Spare() for _ in range(SPARE)]
        if told >= 0:
            os.close(told)
        subprocess.Popen._execute_child = _child  # type: ignore[attr-defined]
        multiprocessing.util.spawnv_passfds = _spawned
        os.execvpe = _become
        code = _run(request["command"])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _python(command: Any) -> bool:
    return isinstance(command, list | tuple) and command[0] in ("python", sys.executable)


def _child(started: subprocess.Popen[Any], *given: Any) -> None:
    """As `Popen._execute_child`: a program of this Python is a fork."""
    asked = _STARTS.bind(started, *given).arguments
    plain = asked["preexec_fn"] is None and not asked["pass_fds"] and asked["executable"] is None
    if not (_python(asked["args"]) and plain and _spares):
        _EXECUTES(started, *given)
        return
    files = [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]]
    request = {
        "command": [str(part) for part in asked["args"]],
        "env": dict(os.environ if asked["env"] is None else asked["env"]),
        "folder": str(asked["cwd"] or Path.cwd()),
        "session": asked["start_new_session"],
        "numbers": [0, 1, 2],
    }
    started.pid = _spares.pop().program(request, [own if own >= 0 else at for at, own in enumerate(files)])
    started._child_created = True  # type: ignore[attr-defined]
    started._close_pipe_fds(*(asked[name] for name in _FILES))  # type: ignore[attr-defined]


_FILES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def _spawned(path: Any, args: Sequence[Any], passed: Sequence[int]) -> int:
    """As `multiprocessing` starts a worker."""
    command = [os.fsdecode(part) for part in args]
    if not (_spares and any("spawn_main" in part for part in command)):
        pid: int = _SPAWNS(path, args, passed)
        return pid
    request = {
        "command": command,
        "env": dict(os.environ),
        "folder": str(Path.cwd()),
        "session": False,
        "numbers": [0, 1, 2, *passed],
    }
    return _spares.pop().program(request, [0, 1, 2, *passed])


def _become(file: str, args: Sequence[str], env: dict[str, str]) -> NoReturn:
    """As `os.execvpe`: another program of this Python, in this process."""
    if not _python(args):
        _BECOMES(file, args, env)
    for spare in _spares:
        spare.ends()
    _spares.clear()
    request = {"command": list(args), "env": dict(env), "folder": str(Path.cwd()), "session": False, "numbers": []}
    begin({**request, "numbers": [0, 1, 2]}, [0, 1, 2])


def _has(env: dict[str, str], command: Sequence[str]) -> None:
    """Environment and command line, for the program and for whoever reads `/proc`."""
    os.environ.clear()
    os.environ.update(env)
    place = list(map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:49]))
    for start, end, parts in (
        (place[0], place[1], command),
        (place[2], place[3], [f"{key}={value}" for key, value in env.items()]),
    ):
        text = b"".join(part.encode() + b"\0" for part in parts)
        if len(text) > end - start:
            raise RuntimeError(f"no room for {len(text)} bytes in {end - start}")
        ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    own = env.get("PYTHONPATH", "")
    sys.path[:] = [*(own.split(os.pathsep) if own else ()), *_IMPORT_PATH]


def _run(command: Sequence[str]) -> int:
    """Runs `python ...` to its end; its exit code."""
    _, *arguments = command
    while arguments[0] in ("-u", "-P", "-I"):
        del arguments[0]
    code: Any = 0
    try:
        _main(arguments)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    with suppress(SystemExit):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    for spare in _spares:
        spare.ends()
    return code or 0


def _main(arguments: list[str]) -> None:
    kind, *rest = arguments
    if kind == "-m":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        sys.modules["__main__"] = main = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.path.insert(0, str(Path(kind).parent))
        sys.argv = arguments
        runpy.run_path(kind, run_name="__main__")


def serve(asked: socket.socket) -> None:
    """Forks a program for each request, until nobody asks any more. Whoever started this process gets it as a child."""
    while True:
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            return
        request = json.loads(message)
        between = os.fork()
        if not between:
            try:
                of_between = os.getpid()
                program = os.fork()
                if not program:
                    while os.getppid() == of_between:
                        time.sleep(0.001)
                    begin({**request, "session": True, "numbers": [0, 1, 2]}, files)
                asked.send(str(program).encode())
            finally:
                os._exit(0)
        os.waitpid(between, 0)  # the program is nobody's child now, and goes to the next of ours who takes such ones in
        for file in files:
            os.close(file)
        asked.send(b".")
