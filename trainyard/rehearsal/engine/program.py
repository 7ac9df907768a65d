"""Starts a project's program as Pulumi's language host does: its folder, its first import folder, its name."""

from __future__ import annotations

import os
import re
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trainyard.rehearsal.engine.project import StackConfig
from trainyard.rehearsal.engine.recorder import Deployment, Recording, record, record_both
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports

_one_at_a_time = threading.Lock()


def run_program(config: StackConfig, deployment: Deployment, *, preview: bool, timeout_seconds: float) -> Recording:
    """Records one run; runs in other threads wait, since working directory and imports are the process's."""
    with _program_of(config) as program:
        return record(program, preview=preview, deployment=deployment, timeout_seconds=timeout_seconds)


def run_program_once(
    config: StackConfig, deployment: Deployment, *, timeout_seconds: float
) -> tuple[Recording | None, Recording | None]:
    """What is recorded with everything known, and what a first preview would: `record_both`, as `run_program` runs.

    A program that may do something else each time runs for each: what exists in one run only is told.
    """
    before = set(sys.modules)
    with _program_of(config) as program:
        known, preview = record_both(program, deployment=deployment, timeout_seconds=timeout_seconds)
        return known, None if known is not None and _has_chance(config, before) else preview


_CHANCE = re.compile(
    r"^\s*(?:from|import)\b.*\b(?:random|uuid|secrets|time|datetime|date|tempfile|subprocess|socket)\b"
    r"|\burandom\b|\bgetpid\b|\.random\b",
    re.MULTILINE,
)
"""What gives something else each time: an import of it, or a use by way of a module that has more (`os`, NumPy).
`pulumi_random` does not: its values are kept in the state."""


_own_files: dict[Path, set[Path]] = {}
"""Files of the program's own, by the project's folder: a module is imported once in a process."""


def _has_chance(config: StackConfig, before: set[str]) -> bool:
    """Whether the program's own code, in its project's folder, may do something else each time."""
    files = _own_files.setdefault(config.root, set())
    files.add(config.main / "__main__.py" if config.main.is_dir() else config.main)
    for name in sys.modules.keys() - before:
        file = str(getattr(sys.modules[name], "__file__", None) or "")
        is_own = file.startswith(f"{config.root}{os.sep}") and file.endswith(".py")
        if is_own and name.split(".", 1)[0] != "trainyard" and "site-packages" not in file:
            files.add(Path(file))
    return any(_CHANCE.search(file.read_text(errors="replace")) for file in files if file.exists())


@contextmanager
def _program_of(config: StackConfig) -> Iterator[Callable[[], None]]:
    main = config.main if config.main.is_dir() else config.main.parent
    file = main / "__main__.py" if config.main.is_dir() else config.main

    def program() -> None:
        runpy.run_path(str(file), run_name="__main__")

    with _one_at_a_time, _as_the_engine_starts(main), piecewise_imports():
        yield program


@contextmanager
def _as_the_engine_starts(main: Path) -> Iterator[None]:
    """The working directory and first import folder that the language host gives a program; put back afterwards.

    Modules that the program imports by bare name from its folder are forgotten: the next project may have its own
    of the same name.
    """
    directory, path, before = Path.cwd(), list(sys.path), set(sys.modules)
    os.chdir(main)
    sys.path.insert(0, str(main))
    try:
        yield
    finally:
        sys.path[:] = path
        os.chdir(directory)
        for name in sys.modules.keys() - before:
            file = getattr(sys.modules[name], "__file__", None)
            top = main / name.split(".")[0]
            if file is not None and (file == f"{top}.py" or file.startswith(f"{top}{os.sep}")):
                del sys.modules[name]
