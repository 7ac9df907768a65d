"""Other programs that a verb runs: `pulumi`, `aws` and `kubectl`, each told by name where it is missing or fails."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from trainyard.cli.project import fail

WHERE: Final[Mapping[str, str]] = {
    "pulumi": "https://www.pulumi.com/docs/install/",
    "aws": "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    "session-manager-plugin": (
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
    ),
    "kubectl": "https://kubernetes.io/docs/tasks/tools/",
}
"""Where each is installed from."""


def is_there(program: str) -> bool:
    """Whether a program is on the path."""
    return shutil.which(program) is not None


def need(*programs: str, why: str) -> None:
    """Ends the command where a program is not on the path."""
    for program in programs:
        if not is_there(program):
            fail(f"{program} is not on the path, and {why}: {WHERE[program]}")


def answer(*command: str, cwd: Path | None = None) -> str:
    """What a program writes; ends the command with its own words where it fails."""
    done = asked(*command, cwd=cwd)
    if done.returncode != 0:
        fail(f"{_short(command)} failed: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def asked(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program that has ended, however it did; ends the command where it cannot be run, or does not answer."""
    from trainyard.fleet.asking import NoAnswerError, ask

    try:
        return ask(command, _short(command), cwd=cwd)
    except NoAnswerError as error:
        fail(str(error))


def run(command: Sequence[str]) -> int:
    """The exit code of a program that talks to whoever called; it ends with Ctrl-C as we do."""
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        fail(f"{command[0]} cannot be run: {error.strerror}")


def _short(command: Sequence[str]) -> str:
    """The program and what it was told to do, without what may be long."""
    return " ".join(part for part in command[:3] if not part.startswith("-"))
