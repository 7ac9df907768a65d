"""What the end of a stack needs of the cloud that it stands on, beside what Pulumi deletes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from trainyard.teardown.kinds import Group
from trainyard.teardown.state import State

Say = Callable[[str], None]


class LiftError(Exception):
    """Something does not let go, or was not written back: nothing is deleted."""


class Cloud(Protocol):
    """An account or a project, as who ends what stands in it. What it raises says what to do."""

    def check(self) -> None:
        """Raises where nobody would be answered: nothing is begun that could not be proven."""
        ...

    def before(self, state: State, keep: Sequence[Group], say: Say, /) -> None:
        """Stops what the engine does not know of, and writes back what would be lost. Raises LiftError."""
        ...

    def unprotect(self, state: State, keep: Sequence[Group], say: Say, /) -> None:
        """Takes the cloud's own protection off, which the state cannot, once the copies are made that are to stay.

        Raises LiftError.
        """
        ...

    def sweep(self, state: State, say: Say, /) -> int:
        """Deletes what controllers and services leave, and what holds up the rest; how much there was."""
        ...

    def afterwards(self, stood: Sequence[State], since: datetime, say: Say, /) -> int:
        """Deletes what services make again once the engine has deleted it; how much there was.

        `stood` is what there was when each run of this end began, and `since` when the first of them did: what is older
        was there beside the environment, and no service made it again.

        What cannot be asked for is told and left to the proof: by then everything else is gone.
        """
        ...
