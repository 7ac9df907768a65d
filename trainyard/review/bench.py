"""`python -m trainyard.review.bench`: a check of every example stack, and of a hundred clients, in fresh processes.

Wall time and CPU time of all processes together, and the most memory that they had at once (PSS: what processes share
is counted once). CPU time is what to compare where the machine has other work.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.rehearsal.engine.project import stack_files

ROUNDS = 3
BAR_SECONDS = 10.0
CLIENTS = 100
BAR_CLIENTS_SECONDS, BAR_CLIENTS_MB = 30.0, 500
_CHECK = "from trainyard.cli.main import main; main()"
_CLIENT = """config:
  trainyard:client: c{number:03d}
  trainyard:cloud: aws
  trainyard:region: us-east-1
  trainyard:teamSize: {size}
  trainyard:alertEmails: [ml@acme.example]
  trainyard:monthlyBudgetUsd: 90000
  trainyard:owner: ml@acme.example
  trainyard:costCentre: ml-1
  pulumi:disable-default-providers: ["*"]
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One check."""

    seconds: float
    cpu_seconds: float
    peak_mb: int


def main() -> None:
    """Prints the figures; exit 1 above a bar, or when a stack breaks a mandatory policy."""
    project = Path(__file__).resolve().parents[2]
    seconds = [_check(project).seconds for _ in range(ROUNDS)]
    median = statistics.median(seconds)
    stacks = len(stack_files(project / "stacks"))
    print(
        f"check --all, {stacks} stacks: {median:.1f} s ({min(seconds):.1f}-{max(seconds):.1f}); bar {BAR_SECONDS:.0f} s"
    )
    with tempfile.TemporaryDirectory() as folder:
        found = _check(_clients(project, Path(folder)))
    print(
        f"check --all, {CLIENTS} clients: {found.seconds:.1f} s, CPU {found.cpu_seconds:.1f} s, {found.peak_mb} MB; "
        f"bar {BAR_CLIENTS_SECONDS:.0f} s and {BAR_CLIENTS_MB} MB on two quiet cores"
    )
    sys.exit(median > BAR_SECONDS or found.seconds > BAR_CLIENTS_SECONDS or found.peak_mb > BAR_CLIENTS_MB)


def _clients(project: Path, folder: Path) -> Path:
    """A project of a hundred medium clients."""
    (folder / "stacks").mkdir()
    for name in ("Pulumi.yaml", "stacks/__main__.py"):
        (folder / name).write_text((project / name).read_text(encoding="utf-8"), encoding="utf-8")
    for number in range(CLIENTS):
        text = _CLIENT.format(number=number, size=5 + number % 14)
        (folder / "stacks" / f"Pulumi.c{number:03d}.yaml").write_text(text, encoding="utf-8")
    return folder


def _check(project: Path) -> Measured:
    """Checks all stacks in every format. Raises `CalledProcessError` where one does not pass."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as outputs:
        formats = [
            part for name in ("json", "sarif", "junit", "markdown") for part in (f"--{name}", f"{outputs}/{name}")
        ]
        command = [sys.executable, "-c", _CHECK, "check", "--all", "--project", str(project), *formats]
        checking = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peak = 0
        while checking.poll() is None:
            peak = max(peak, sum(map(_pss_kb, _processes(checking.pid))))
            time.sleep(0.2)
        if checking.returncode:
            raise subprocess.CalledProcessError(checking.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(time.perf_counter() - started, cpu, peak // 1000)


def _processes(pid: int) -> Iterator[int]:
    """A process with all below it; none where the system has no `/proc`."""
    yield pid
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = tasks.read_text().split()
        except OSError:  # it has ended
            continue
        for child in children:
            yield from _processes(int(child))


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
