"""The smoke job on this machine: gloo on CPU, NCCL where there are GPUs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from trainyard.smoke_jobs.ddp.options import Options, listed
from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch.extras import SMOKE, require
from trainyard.smoke_jobs.launch.follow import Ended, Follower, View
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec, check, document, worker_options
from trainyard.smoke_jobs.launch.payload import WORKER

LAST_SECONDS = 30
"""Beyond its own limit, for the worker to stop its ranks and write the result."""


def options(spec: SmokeSpec, result_dir: str = "smoke-result") -> Options:
    """The worker's options. Raises LaunchError for more than one node."""
    if spec.nodes != 1:
        raise LaunchError(f"nodes is {spec.nodes}: the local target has one; use --nproc for more processes")
    check(spec, "local", {})
    return worker_options(spec, "local", result_dir=result_dir)


def render(spec: SmokeSpec) -> str:
    """The shell command that does the same."""
    variables = {**dict(spec.environment), "SMOKE_OPTIONS": document(options(spec))}
    lines = [f"{name}={shlex.quote(value)} \\\n  " for name, value in variables.items()]
    return f"{''.join(lines)}{sys.executable} {WORKER / '__main__.py'}\n"


def run(spec: SmokeSpec, view: View, result_dir: Path | None = None) -> Ended:
    """Runs the job and shows its progress; result.json and the ranks' errors stay in `result_dir` where it is given.

    Raises LaunchError where a package of the worker is missing.
    """
    require(_packages(options(spec)), SMOKE, "the smoke job on this machine")
    if result_dir is not None:
        return _run(options(spec, str(result_dir.absolute())), spec.environment, view)
    with tempfile.TemporaryDirectory(prefix="smoke-result-") as folder:
        return _run(options(spec, folder), spec.environment, view)


def _packages(chosen: Options) -> Iterator[str]:
    """What the worker imports here with these options; in a container the image has it."""
    yield from ("torch", "numpy")
    if "tracking" in chosen.checks and chosen.tracking_uri == "local":
        yield "mlflow"  # a server of the job's own
    if chosen.checkpoint_uri.startswith("s3://"):
        yield "boto3"


def _run(chosen: Options, environment: Iterable[tuple[str, str]], view: View) -> Ended:
    follower = Follower(view)
    view.status(f"starting {chosen.nproc_per_node} processes")
    process = subprocess.Popen(
        [sys.executable, str(WORKER / "__main__.py")],
        env=os.environ | dict(environment) | {"SMOKE_OPTIONS": document(chosen), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C reaches us alone, and the worker by way of us
    )
    reader = threading.Thread(target=_read, args=(process, follower, view, listed(chosen)), daemon=True)
    reader.start()
    with _Forwarding(process, view):
        code = _wait(process, chosen.timeout_s + LAST_SECONDS)
    reader.join(timeout=5)
    path = Path(chosen.result_dir) / "result.json"
    if path.exists():
        follower.document = json.loads(path.read_text())
    return follower.end(code, "" if path.exists() else _without(path, code, follower.document))


def _without(path: Path, code: int, said: dict[str, Any] | None) -> str:
    """What there is to say where no result.json was left."""
    if said is None:
        return f"the worker ended with exit code {code} and left no result"
    return "" if said["verdict"] == "usage" else f"{path} was not written: what is shown is what the job's log says"


def _read(process: subprocess.Popen[str], follower: Follower, view: View, checks: Sequence[str]) -> None:
    assert process.stdout is not None
    first = True
    with process.stdout as stream:
        for line in stream:
            if first:
                view.status(f"check 1 of {len(checks)}: {checks[0]}")
                first = False
            follower.line(line)


def _wait(process: subprocess.Popen[str], seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            return process.wait(timeout=0.5)  # short, so that a signal handler gets its turn
        except subprocess.TimeoutExpired:
            continue
    _kill(process)
    return EXIT["timeout"]


def _kill(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


class _Forwarding:
    """While active, Ctrl-C and SIGTERM ask the worker to stop; the second Ctrl-C kills it."""

    def __init__(self, process: subprocess.Popen[str], view: View) -> None:
        self._process, self._view, self._asked = process, view, False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._on_signal)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            _kill(self._process)
            return
        self._asked = True
        self._view.status("asked to stop; once more kills it")
        if self._process.poll() is None:
            self._process.terminate()
