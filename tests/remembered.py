"""What is made once a session and read by every worker of it: a rehearsal takes seconds, to read it some hundredths.

The recording that a test gets equals the one that was made (`tests/test_remembered.py`). Nothing outlives the session.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import importlib
import os
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from tests.shared import ROOT
from trainyard.plan.lock import lock_path
from trainyard.recorded.model import Finding
from trainyard.rehearsal import judged
from trainyard.rehearsal import rehearse as rehearsing
from trainyard.rehearsal.context import Refused
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.shape.once import sound
from trainyard.settings.unseen import stand_in

T = TypeVar("T")


class _Reader(pickle.Unpickler):
    """Finds the classes of provider SDKs by their packages, as a program does.

    Pulumi imports those packages when they are first used. A module of one that is imported past it, as `pickle` would,
    leaves the package without its names in the rest of the process.
    """

    def find_class(self, module: str, name: str) -> Any:
        """The class of a name."""
        sdk, *path = module.split(".")
        if not sdk.startswith("pulumi_") or len(path) < 2:
            return super().find_class(module, name)
        return getattr(reduce(getattr, path[:-1], importlib.import_module(sdk)), name)


class Remembered:
    """Things by what they were made of, in a folder that all workers of a session share."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._kept: dict[str, Any] = {}

    def kept(self, key: str, make: Callable[[], T]) -> T:
        """As `of`, read once by this process: every caller has the same, which is nobody's to change.

        It stays to the end, so that no collection looks for garbage in it.
        """
        if key not in self._kept:
            self._kept[key] = self.of(key, make)
            gc.freeze()
        found: T = self._kept[key]
        return found

    def of(self, key: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first process that asks; whoever asks meanwhile waits for it."""
        path = self._folder / hashlib.sha256(key.encode()).hexdigest()
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # let go when the file is closed, also where the process is killed
            if path.exists():
                with path.open("rb") as file, piecewise_imports():
                    found: T = _Reader(file).load()
                return found
            made = make()
            part = path.with_suffix(".part")
            part.write_bytes(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
            part.replace(path)
        return made

    def folder(self, name: str) -> Path:
        """An empty folder for what `of` makes and is no object: its path is what is read by the others."""
        made = self._folder / name
        made.mkdir()
        return made


def remembered(factory: pytest.TempPathFactory) -> Remembered:
    """Those of this session: a worker's own folder lies in the session's."""
    own = factory.getbasetemp()
    _SESSIONS.append(Remembered((own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "remembered"))
    return _SESSIONS[-1]


def of_session() -> Remembered:
    """Those of the session that runs, for what is no fixture."""
    return _SESSIONS[-1]


_SESSIONS: list[Remembered] = []


def rehearsal_of(things: Remembered, stack: Path, make: Callable[[], Rehearsal]) -> Rehearsal:
    """The session's recording of a stack file as it is now, with the lock beside it."""
    return things.of(repr((str(stack.resolve()), *_with_lock(stack))), make)


def _with_lock(stack: Path) -> tuple[str, str | None]:
    lock = lock_path(stack)
    return stack.read_text(), lock.read_text() if lock.is_file() else None


PROGRAM = "from trainyard.stacks.program import main\n\nmain()\n"
"""The program of a client's project and of this one, but for what it says of itself."""


def told_by(project: Path, stack: Path) -> str | None:
    """All that the rehearsal of a stack reads in a client's project, wherever that lies; None where that is not sure.

    A program of its own may read what it likes.
    """
    described = project / "Pulumi.yaml"
    if not described.is_file():
        return None
    text = described.read_text()
    main = re.search(r"^main: *(\S+)$", text, flags=re.MULTILINE)
    program = project / (main[1] if main else ".") / "__main__.py"
    if not program.is_file() or re.sub(r'\A""".*?"""\n\n', "", program.read_text(), flags=re.DOTALL) != PROGRAM:
        return None
    where = stack.parent.relative_to(project).as_posix() if stack.is_relative_to(project) else "outside"
    return repr((text, where, stack.name, *_with_lock(stack)))


def rehearsing_once(things: Remembered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the session's recordings in the place of what commands and reports would rehearse of this project.

    Of a client's project too, where one with the same files was rehearsed before.
    """
    from trainyard.review import review
    from trainyard.upgrade import legs

    real = rehearsing.rehearse

    def rehearse(project: Path, stack: str | Path, **options: Any) -> Rehearsal:
        options.pop("elsewhere", None)  # with it policies are judged at the same time, and are what they are
        if not options.get("stack_outputs"):
            options.pop("stack_outputs", None)

        def make() -> Rehearsal:
            return real(project, stack, **options)

        folder = ROOT / "stacks" if project.resolve() == ROOT else project
        file = stack if isinstance(stack, Path) else folder / f"Pulumi.{stack}.yaml"
        # What stands in for encrypted values changes nothing where there are none.
        if options not in ({}, {"stand_in": stand_in}) or not file.is_file() or "secure" in file.read_text():
            return make()
        if project.resolve() == ROOT:
            return rehearsal_of(things, file, make)
        told = told_by(project, file)
        many = sound() is not None  # a recording has a shape then
        return things.of(repr((told, many)), make) if told is not None else make()

    for module in (rehearsing, review, legs):
        monkeypatch.setattr(module, "rehearse", rehearse)


@contextmanager
def unjudged() -> Iterator[None]:
    """Stacks that are rehearsed within it are recorded and not judged: that takes a third, and is not always asked."""

    def nothing(*_: Any) -> tuple[list[Finding], dict[str, float]]:
        return [], {}

    of_nothing = patch(f"{rehearsing.__name__}.refused", lambda *_: Refused((), ()))
    with of_nothing, patch(f"{judged.__name__}.judged_by_rules", nothing):
        yield
