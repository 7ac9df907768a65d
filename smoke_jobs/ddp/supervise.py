"""Starting and stopping torchrun, for the job itself and for the job inside the interruption check.

Facts (measured on torch 2.13): restarts are unreliable with the shared rendezvous store, so it is switched off;
torchrun's exit code is 1 whatever the ranks returned; it kills ranks 30 s after SIGTERM unless told otherwise.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MARKER = "SMOKE_PROCESS_MARKER"
"""Environment variable that all processes of one run carry, so that none outlives it."""

TOLD_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
"""Signals by which a job is told to stop."""

_OF_TORCHRUN = ("PET_", "TORCHELASTIC_", "GROUP_", "ROLE_")
_OF_A_RANK = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}


@dataclass(frozen=True, slots=True)
class Launch:
    """One torchrun agent: this node's share of a job."""

    nodes: int
    nproc: int
    head: str  # "" on one node
    port: int  # 0 on one node: any free one
    is_head: bool
    run_id: str
    max_restarts: int
    shutdown_timeout_s: int
    join_timeout_s: float
    logs: str  # folder that torchrun makes folders in, also where it writes nothing; they stay
    address: str = ""  # of this node, for the others; empty: torchrun finds it
    failures: str = ""  # file for how the ranks that failed ended (`agent.py`)

    def command(self) -> list[str]:
        """torchrun on this package's `__main__.py`."""
        endpoint = f"{self.head}:{self.port}" if self.nodes > 1 else "localhost:0"
        program = str(Path(__file__).absolute().with_name("__main__.py"))
        return [
            sys.executable, program, "agent", self.failures,
            "--nnodes", str(self.nodes), "--nproc-per-node", str(self.nproc),
            "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint, "--rdzv-id", self.run_id,
            "--rdzv-conf", f"is_host={int(self.is_head)},join_timeout={int(self.join_timeout_s)}",
            "--max-restarts", str(self.max_restarts), "--log-dir", self.logs,
            *(["--local-addr", self.address] if self.address else []), program,
        ]  # fmt: skip

    def start(self, extra: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts the agent in a session of its own; `extra` goes into the environment of the ranks."""
        env = environment(self.nproc, extra)
        # Options that torchrun 2.13 knows and 2.7, in images with a fabric's plugin, does not: it would refuse them on
        # the command line, and ignores them here.
        env["PET_SHUTDOWN_TIMEOUT"] = str(self.shutdown_timeout_s)
        env["PET_SIGNALS_TO_HANDLE"] = ",".join(number.name for number in TOLD_BY)
        return subprocess.Popen(self.command(), env=env, start_new_session=True)


def environment(nproc: int, extra: Mapping[str, str]) -> dict[str, str]:
    """Our environment without what an outer torchrun or a platform's operator set for its own ranks."""
    env = {k: v for k, v in os.environ.items() if k not in _OF_A_RANK and not k.startswith(_OF_TORCHRUN)}
    env["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    env.setdefault("OMP_NUM_THREADS", str(max(1, len(os.sched_getaffinity(0)) // max(1, nproc))))
    # 2: the watchdog gives up the communicator and leaves the process, which then can say what it knows.
    env.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2")
    env.setdefault("TORCH_FR_BUFFER_SIZE", "2000")  # the flight recorder says where ranks stood at a timeout
    env.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic cuBLAS must be chosen before CUDA starts
    env["PYTHONUNBUFFERED"] = "1"
    env.update(extra)
    return env


def wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code, or None after `seconds`."""
    try:
        return process.wait(timeout=max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return None


def stop(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """SIGTERM, and SIGKILL to the whole session after `grace_s`."""
    if process.poll() is None:
        process.terminate()
        if wait(process, grace_s) is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return  # it ended between the two calls
            process.wait()


def sweep(marker: str) -> int:
    """Kills every process that carries the marker except ours; the number found. Linux."""
    wanted = f"{MARKER}={marker}".encode()
    found = 0
    for _ in range(20):
        alive = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                if wanted not in (folder / "environ").read_bytes().split(b"\0"):
                    continue
                # a zombie keeps no environment, so what is read here is alive
                os.kill(int(folder.name), signal.SIGKILL)
                alive.append(folder.name)
            except (OSError, ProcessLookupError):
                continue  # gone meanwhile, or of another user
        if not alive:
            break
        found = max(found, len(alive))
        time.sleep(0.05)
    return found


def run_as_init() -> int | None:
    """As PID 1 of a container: becomes a small init that forwards signals and reaps orphans, and runs us as its child.

    Returns None in the child (and where we are not PID 1), the child's exit code in the init.
    """
    if os.getpid() != 1:
        return None
    child = os.fork()
    if child == 0:
        return None
    for number in TOLD_BY:
        signal.signal(number, lambda received, _frame: os.kill(child, received))
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
