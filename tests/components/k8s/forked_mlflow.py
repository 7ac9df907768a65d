"""Programs with MLflow as forks of one process: to import it takes each of them six seconds, and a pod starts five."""

from __future__ import annotations

import atexit
import inspect
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.smoke_jobs.ddp.forked_wrappers import Preloaded

PROGRAM = Path(__file__).with_name("forks_of_mlflow") / "preloaded.py"
OURS = {"MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet", "PYTHONUNBUFFERED": "1"}
"""What every pod has and MLflow reads as it is imported (`mlflow_pod`)."""
_STARTS = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]
_FILES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


@cache
def _preloaded() -> Preloaded:
    """The process, for as long as this one lasts."""
    outer = {name: text for name, text in os.environ.items() if not name.startswith(("MLFLOW", "AWS", "PYTHON"))}
    process = Preloaded({**outer, **OURS}, PROGRAM)
    atexit.register(process.end)
    return process


def started(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """`python ...` in a session of its own, with what it writes in `stdout`, as `subprocess` would start it."""
    files = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    if sys.platform != "linux" or command[0] not in ("python", sys.executable):
        return subprocess.Popen(command, env=environment, cwd=folder, start_new_session=True, **files)  # type: ignore[call-overload]

    class Started(subprocess.Popen[bytes]):
        def _execute_child(self, *given: Any) -> None:
            asked = _STARTS.bind(self, *given).arguments
            own = [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]]
            self.pid = _preloaded().start(list(command), environment, str(folder), own)
            self._child_created = True
            self._close_pipe_fds(*(asked[name] for name in _FILES))  # type: ignore[attr-defined]

    return Started(command, stdin=subprocess.DEVNULL, **files)  # type: ignore[call-overload]
