"""Where what is there comes from: a commit of the project's repository, a file, or another release of Trainyard.

A commit is laid out in a temporary folder and rehearsed there by its own code, in a process of its own: its program,
its stack file and its lock, and its Trainyard where the repository holds one; else the one that is installed here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainyard.problems import Problem, SettingsError, in_one_line
from trainyard.rehearsal.change.earlier import Earlier, from_json
from trainyard.rehearsal.engine.other_stacks import as_written
from trainyard.rehearsal.engine.project import stack_of
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json

SECONDS: Final = 300.0
"""A rehearsal of a commit that takes longer is given up."""

COMMAND: Final = """\
try:
    from trainyard.cli.__main__ import main
except ModuleNotFoundError:  # a release from before there was one
    from trainyard.cli.main import main
main()
"""
"""What another Python runs to be our command, begun as quickly as its release can."""

_ALLOWED: Final = "must be a git reference, or a file that `trainyard rehearse --json` or `pulumi stack export` wrote"


@dataclass(frozen=True, slots=True)
class Source:
    """Something that a stack can be compared with, found and not yet read. Plain: it goes to other processes."""

    text: str  # as it was given
    file: Path | None = None
    repository: Path | None = None
    commit: str = ""
    interpreter: Path | None = None  # of an environment with another release, by which the same stack is rehearsed
    outcomes: Path | None = None  # the folder of what that release made already, of as many stacks as it could at once

    @property
    def words(self) -> str:
        """What it is called in reports."""
        if self.file is not None or self.interpreter is not None:
            return self.text
        return self.text if self.commit.startswith(self.text) else f"{self.text} ({self.commit[:7]})"

    def read(
        self, project: Path, stack_file: Path, stack_outputs: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Earlier:
        """What is there of a stack, to whose program the outputs of other stacks are known, as they are to the one that
        it is compared with. Raises `SettingsError` where it cannot be read.
        """
        told = stack_outputs or {}
        if self.file is not None:
            return from_json(read_json(self.file, f"--from {self.text}", LARGEST_OUTCOME_BYTES), self.words)
        if self.outcomes is not None and (made := outcome_in(self.outcomes, stack_file)).is_file():
            return from_json(_written(made, self.words), self.words)
        if self.interpreter is not None:
            with tempfile.TemporaryDirectory(prefix="trainyard-before-") as name:
                outcome = Path(name) / "rehearsal.json"
                others = _others(told, Path(name))
                _rehearse(stack_file, project, outcome, self.words, self.interpreter, others)
                return from_json(_written(outcome, self.words), self.words)
        return self._rehearsed(project, stack_file, told)

    def _rehearsed(self, project: Path, stack_file: Path, stack_outputs: Mapping[str, Mapping[str, Any]]) -> Earlier:
        if self.repository is None or not stack_file.is_relative_to(self.repository):
            place = f"{stack_file} lies outside the repository"
            raise SettingsError(
                [Problem(f"--from {self.text}", place, "needs a stack file of the project's repository")]
            )
        with tempfile.TemporaryDirectory(prefix="trainyard-from-") as name:
            tree = Path(name) / "tree"
            self._lay_out(tree)
            there = tree / stack_file.relative_to(self.repository)
            if not there.is_file():
                return Earlier(self.words, (), notes=(f"there is no stack {stack_of(stack_file)} in {self.words}",))
            outcome = Path(name) / "rehearsal.json"
            folder = tree / project.relative_to(self.repository)
            _rehearse(there, folder, outcome, self.words, others=_others(stack_outputs, Path(name)))
            return from_json(_written(outcome, self.words), self.words)

    def _lay_out(self, tree: Path) -> None:
        """Writes the commit's files into a folder."""
        archive = tree.with_suffix(".tar")
        made = _git(self.repository or Path(), "archive", "--format=tar", f"--output={archive}", self.commit)
        if made.returncode:
            raise SettingsError([Problem(f"--from {self.text}", _one_line(made.stderr), _ALLOWED)])
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(tree, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise SettingsError([Problem(f"--from {self.text}", in_one_line(error), _ALLOWED)]) from None


def _others(stack_outputs: Mapping[str, Mapping[str, Any]], folder: Path) -> list[str]:
    """Options that tell a command of other stacks, by files that are written to a folder of this process's own."""
    options: list[str] = []
    for number, (stack, outputs) in enumerate(stack_outputs.items()):
        file = folder / f"outputs-{number}.json"
        file.write_text(json.dumps(as_written(outputs)), encoding="utf-8")
        options += ("--stack-outputs", f"{stack}={file}")
    return options


def _written(outcome: Path, words: str) -> Any:
    """What a process of ours has just written. It is no user's file: its megabytes are not looked through for brackets
    and for keys that are there twice, unless it cannot be read. Raises `SettingsError` as `read_json` does."""
    with suppress(OSError, ValueError, RecursionError):
        if outcome.stat().st_size <= LARGEST_OUTCOME_BYTES:
            return json.loads(outcome.read_bytes())
    return read_json(outcome, words, LARGEST_OUTCOME_BYTES)


def outcome_in(folder: Path, stack_file: Path) -> Path:
    """Where a release that rehearsed many stacks wrote what it made of one."""
    return folder / f"{stack_of(stack_file)}.json"


def find_source(text: str, project: Path) -> Source:
    """What `--from` names: a file where there is one, else a commit. Raises `SettingsError` where there is neither."""
    path = Path(text)
    if path.is_file():
        return Source(text, file=path.resolve())
    top = _git(project, "rev-parse", "--show-toplevel")
    if top.returncode:
        raise SettingsError([Problem(f"--from {text}", "no file, and the project lies in no git repository", _ALLOWED)])
    commit = _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    if commit.returncode:
        raise SettingsError([Problem(f"--from {text}", "no file and no commit", _ALLOWED)])
    return Source(text, repository=Path(top.stdout.strip()).resolve(), commit=commit.stdout.strip())


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SECONDS,
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(arguments, 127, "", "git is not installed")


def rehearse_by(interpreter: Path, stack_file: Path, project: Path, outcome: Path, words: str) -> None:
    """Has another release, by its Python, rehearse a stack and write the JSON. Raises `SettingsError`."""
    _rehearse(stack_file, project, outcome, words, interpreter)


def _rehearse(
    stack_file: Path,
    project: Path,
    outcome: Path,
    words: str,
    interpreter: Path | None = None,
    others: Sequence[str] = (),
) -> None:
    """Rehearses a stack by the code that lies in its folder, else by the installed one or another; writes its JSON."""
    ours = without_ours(os.environ) if interpreter is not None else os.environ
    command = [
        str(interpreter or sys.executable),
        "-c",
        COMMAND,
        "rehearse",
        str(stack_file),
        "--project",
        str(project),
    ]
    try:
        run = subprocess.run(
            [*command, *others, "--json", str(outcome)],
            cwd=project,
            env=environment_of(ours, project),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SECONDS,
        )
    except OSError as error:
        got = f"{interpreter}: {error.strerror}"
        raise SettingsError([Problem(words, got, "must be a Python that has Trainyard")]) from None
    except subprocess.TimeoutExpired:
        got = f"no answer within {SECONDS:.0f} seconds"
        raise SettingsError([Problem(words, got, "must be rehearsed in that time")]) from None
    if not outcome.is_file():
        said = _one_line(run.stderr) or _one_line(run.stdout) or f"exit code {run.returncode}"
        raise SettingsError([Problem(words, f"no rehearsal: {said}", "must have a stack that can be rehearsed")])


def environment_of(ours: Mapping[str, str], project: Path) -> dict[str, str]:
    """Our environment, where the commit's own code comes before what is installed."""
    rest = ours.get("PYTHONPATH", "")
    return {**ours, "PYTHONPATH": os.pathsep.join(part for part in (str(project), rest) if part)}


def without_ours(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which another Python finds its own Trainyard, not one that `PYTHONPATH` leads to."""
    parts = environment.get("PYTHONPATH", "").split(os.pathsep)
    kept = os.pathsep.join(part for part in parts if part and not (Path(part) / "trainyard").is_dir())
    rest = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    return {**rest, "PYTHONPATH": kept} if kept else rest


_LONGEST: Final = 400


def _one_line(text: str) -> str:
    """What a command said, short."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"
