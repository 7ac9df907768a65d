"""`python -m trainyard.review.bench`: a check of every example stack, and of a hundred clients with both verbs, in
fresh processes.

Then what another release, which differs in a database that would be replaced, changes for the hundred: the wave stops.

Wall time and CPU time of all processes together, and the most memory that they had at once (PSS: what processes share
is counted once). CPU time is what to compare where the machine has other work.
"""

from __future__ import annotations

import compileall
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.rehearsal.engine.project import stack_files
from trainyard.review.verdict import State

ROUNDS = 3
BAR_SECONDS = 10.0
CLIENTS = 100
BAR_CLIENTS_SECONDS, BAR_CLIENTS_MB = 30.0, 500
_COMMAND = "from trainyard.cli.__main__ import main; main()"
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
    """What one command took."""

    seconds: float
    cpu_seconds: float
    peak_mb: int

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, CPU {self.cpu_seconds:.1f} s, {self.peak_mb} MB"


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
        fleet = clients(project, Path(folder), CLIENTS)
        found = _check(fleet)
        print(
            f"check --all, {CLIENTS} clients: {found}; "
            f"bar {BAR_CLIENTS_SECONDS:.0f} s and {BAR_CLIENTS_MB} MB on two quiet cores"
        )
        as_fleet = _measured(
            ["fleet", "check", "--project", str(fleet)], State.VIOLATED.exit_code
        )  # they share an owner
        print(f"fleet check, {CLIENTS} clients: {as_fleet}; the same bar")
        stopped, why, compared = _diff(fleet, another_release(Path(folder) / "release"))
    print(f"fleet diff, {CLIENTS} clients: {compared}; the wave stops at {stopped}, as it should at {CLIENTS}: {why}")
    sys.exit(
        stopped != CLIENTS
        or median > BAR_SECONDS
        or max(found.seconds, as_fleet.seconds) > BAR_CLIENTS_SECONDS
        or max(found.peak_mb, as_fleet.peak_mb) > BAR_CLIENTS_MB
    )


def clients(project: Path, folder: Path, number_of_clients: int) -> Path:
    """A project of so many medium clients."""
    (folder / "stacks").mkdir()
    for name in ("Pulumi.yaml", "stacks/__main__.py"):
        (folder / name).write_text((project / name).read_text(encoding="utf-8"), encoding="utf-8")
    for number in range(number_of_clients):
        text = _CLIENT.format(number=number, size=5 + number % 14)
        (folder / "stacks" / f"Pulumi.c{number:03d}.yaml").write_text(text, encoding="utf-8")
    return folder


def another_release(folder: Path) -> Path:
    """A Python whose Trainyard names the tracking database otherwise, which no database can be changed to."""
    package = Path(__file__).resolve().parents[1]
    shutil.copytree(package, folder / "trainyard", ignore=shutil.ignore_patterns("__pycache__"))
    database, here = folder / "trainyard" / "components" / "aws" / "database.py", 'args.get("database_name", "mlflow")'
    text = database.read_text(encoding="utf-8")
    if here not in text:
        raise ValueError(f"{database}: no {here}")
    database.write_text(text.replace(here, 'args.get("database_name", "runs")'), encoding="utf-8")
    compileall.compile_dir(folder / "trainyard", quiet=2)  # as an installed release is: no process compiles it again
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python


def _diff(project: Path, before: Path) -> tuple[int, str, Measured]:
    """At how many clients the wave stops, since their database would be replaced, what is said of the first of them,
    and what the comparison took."""
    with tempfile.TemporaryDirectory() as outputs:
        told = Path(outputs) / "diff.json"
        options = ["--before", str(before), "--json", str(told), "--project", str(project)]
        took = _measured(["fleet", "diff", *options], State.UNSAFE.exit_code)
        rows = json.loads(told.read_text(encoding="utf-8"))["stacks"]
    found = ((row, each) for row in rows for each in row["change"]["findings"] if each["rule"] == "change-protected")
    stopped = {row["stack"]: each["message"] for row, each in found}
    return len(stopped), next(iter(stopped.values()), ""), took


def _check(project: Path) -> Measured:
    """Checks all stacks in every format. Raises `CalledProcessError` where one does not pass."""
    with tempfile.TemporaryDirectory() as outputs:
        formats = [
            part for name in ("json", "sarif", "junit", "markdown") for part in (f"--{name}", f"{outputs}/{name}")
        ]
        return _measured(["check", "--all", "--project", str(project), *formats])


def _measured(arguments: list[str], exit_code: int = 0) -> Measured:
    """Runs a command with all that it starts. Raises `CalledProcessError` where it ends with another exit code."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", _COMMAND, *arguments]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while running.poll() is None:
        peak = max(peak, sum(map(_pss_kb, _processes(running.pid))))
        time.sleep(0.2)
    if running.returncode != exit_code:
        raise subprocess.CalledProcessError(running.returncode, command)
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
