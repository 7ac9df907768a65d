"""Runs the worker as a container would: its files mounted flat as by a ConfigMap, with nothing else around.

No run is judged by its speed, which other work on the machine decides; a test that is about a gate names its metric.
"""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.smoke_jobs.ddp.forked_wrappers import Preloaded, started

PACKAGE = Path(__file__).resolve().parents[3] / "smoke_jobs" / "ddp"
WITHOUT_COMPILER = Path(__file__).with_name("without_compiler")
"""As `PYTHONPATH`: ranks have torch without its compiler (`sitecustomize.py` there), which spares each a second."""
TORCH_AS_IT_IS = {"PYTHONPATH": ""}
WITH_COMPILER = {"WITH_COMPILER": "1"}
"""Forks that have the compiler."""


@dataclass
class Ran:
    """What a run left behind."""

    code: int
    output: str
    result: dict[str, Any]
    folder: Path

    def check(self, name: str) -> dict[str, Any]:
        return next(c for c in self.result["checks"] if c["name"] == name)

    def verdicts(self) -> dict[str, str]:
        return {c["name"]: c["verdict"] for c in self.result["checks"]}


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Without anything that would let the worker find the project, and without settings of the outside."""
    names = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k in names} | dict(extra or {})


@pytest.fixture(scope="session")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a mounted ConfigMap: links to a folder with a date for a name."""
    root = tmp_path_factory.mktemp("configmap") / "ddp"
    data = root / "..2026_11_20"
    data.mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if path.is_file():
            (data / path.name).write_bytes(path.read_bytes())
    (root / "..data").symlink_to("..2026_11_20")
    for path in data.iterdir():
        (root / path.name).symlink_to(Path("..data") / path.name)
    return root


@pytest.fixture(scope="session")
def thresholds(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A copy of the worker's thresholds.csv with the records of some metrics only."""

    def only(*metrics: str) -> Path:
        with (PACKAGE / "thresholds.csv").open(newline="") as stream:
            reader = csv.DictReader(stream)
            # Those of machines with GPUs, which a run without any would not be held to.
            rows = [
                {**row, "instance": "cpu", "kind": "gate"}
                for row in reader
                if row["metric"] in metrics and row["instance"] == "*"
            ]
        path = tmp_path_factory.mktemp("thresholds") / "thresholds.csv"
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, reader.fieldnames or ())
            writer.writeheader()
            writer.writerows(rows)
        return path

    return only


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Preloaded]:
    """A process that has torch, without its compiler."""
    process = Preloaded(clean_environment({"PYTHONPATH": str(WITHOUT_COMPILER)}))
    yield process
    process.end()


@pytest.fixture(scope="session")
def preloaded_with_compiler() -> Iterator[Preloaded]:
    """A process that has torch with it."""
    process = Preloaded(clean_environment({"PYTHONPATH": str(WITHOUT_COMPILER), **WITH_COMPILER}))
    yield process
    process.end()


@pytest.fixture(scope="session")
def start(
    mounted: Path, thresholds: Callable[..., Path], preloaded: Preloaded, preloaded_with_compiler: Preloaded
) -> Callable[..., "subprocess.Popen[str]"]:
    """Starts the wrapper and returns at once; of the gates, those of `metrics` hold.

    It is a fork of a process that has torch, and so are its ranks, which have no compiler; unless `env` says
    `WITH_COMPILER`, or `TORCH_AS_IT_IS`: then they are new.
    """

    def begin(
        folder: Path, *flags: str, metrics: tuple[str, ...] = (), env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        gates = ("--thresholds", str(thresholds(*metrics)))
        command = [sys.executable, str(mounted / "__main__.py"), "--result-dir", str(folder), *gates, *flags]
        environment = clean_environment({"PYTHONPATH": str(WITHOUT_COMPILER), **(env or {})})
        if environment["PYTHONPATH"] == str(WITHOUT_COMPILER) and sys.platform == "linux":
            compiling = environment.keys() >= WITH_COMPILER.keys()
            return started(preloaded_with_compiler if compiling else preloaded, command, environment)
        return subprocess.Popen(
            command,
            env=environment,
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return begin


@pytest.fixture(scope="session")
def smoke(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Ran]:
    """Runs the wrapper to its end."""

    def run(
        *flags: str,
        checks: tuple[str, ...] = (),
        breaks: tuple[str, ...] = (),
        metrics: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
        timeout: float = 240,
    ) -> Ran:
        folder = tmp_path_factory.mktemp("result")
        flags += tuple(part for name in checks for part in ("--check", name))
        flags += tuple(part for name in breaks for part in ("--break", name))
        # What reads shards imports of the compiler itself; a whole level has torch as a user's run has it.
        torch = TORCH_AS_IT_IS if not checks else WITH_COMPILER if "sharded" in checks else {}
        process = start(folder, *flags, metrics=metrics, env={**torch, **(env or {})})
        output, _ = process.communicate(timeout=timeout)
        path = folder / "result.json"
        document = json.loads(path.read_text()) if path.exists() else {}
        return Ran(process.returncode, output, document, folder)

    return run
