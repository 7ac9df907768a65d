"""The Pulumi command, for one stack: under a keeper where it changes something."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainyard.fleet.asking import NoAnswerError, ask
from trainyard.fleet.clients import Client
from trainyard.fleet.keeper import kept
from trainyard.fleet.upgrade import environment_of, last_lines, ways_to
from trainyard.user_files import LARGEST_OUTCOME_BYTES, read_json

_REACH_THE_CLUSTER: Final = ("up", "destroy", "preview", "refresh")
"""The verbs of Pulumi that ask a stack's cluster: the way to a private one is open while they run."""


class PulumiError(Exception):
    """Pulumi failed at something; the text has its last lines."""


@dataclass(frozen=True, slots=True)
class Pulumi:
    """The Pulumi command, for one stack."""

    program: str
    client: Client
    folder: Path
    home: Path | None = None  # Pulumi's own folder; None: the caller's

    def run(self, name: str, command: Sequence[str], lock: int) -> None:
        """Runs a command to its end; what it says goes to the folder. Raises `PulumiError`."""
        ways = ways_to(self.client) if command[0] in _REACH_THE_CLUSTER else ()
        code = kept(self.folder, name, self._whole(command), self._environment(), lock, ways=ways)
        if code:
            told = last_lines(self.folder, name)
            hint = "; `pulumi cancel` ends what a killed command left locked" if "lock" in told.lower() else ""
            raise PulumiError(f"pulumi {' '.join(command[:2])} ended with {code}{hint}:\n{told}")

    def output(self, name: str) -> str:
        """One output of the stack, in clear. Raises `PulumiError`."""
        return self._asked(["stack", "output", name, "--show-secrets"])

    def _asked(self, command: Sequence[str]) -> str:
        """What a command that changes nothing writes. Raises `PulumiError`."""
        asked = f"pulumi {' '.join(command[:2])}"
        try:
            done = ask(self._whole(command), asked, self._environment())
        except NoAnswerError as error:
            raise PulumiError(str(error)) from None
        if done.returncode != 0:
            told = done.stderr.strip() or "it did not say why"
            raise PulumiError(f"{asked} ended with {done.returncode}: {told}")
        return done.stdout

    def _whole(self, command: Sequence[str]) -> list[str]:
        return [self.program, *command, "--stack", self.client.stack, "--cwd", str(self.client.folder)]

    def _environment(self) -> dict[str, str]:
        return environment_of(self.client, self.home)

    def state(self) -> Any:
        """The stack's state, of which no copy stays. Raises `PulumiError`, `SettingsError`."""
        name = f"state-{os.getpid()}"
        try:
            return self.exported(name)
        finally:
            (self.folder / f"{name}.json").unlink(missing_ok=True)

    def exported(self, name: str) -> Any:
        """The stack's state as Pulumi exports it; a copy stays in the folder. Raises `PulumiError`, `SettingsError`."""
        path = self.folder / f"{name}.json"
        path.touch(mode=0o600)
        self._asked(["stack", "export", "--file", str(path)])
        return read_json(path, path.name, LARGEST_OUTCOME_BYTES)
