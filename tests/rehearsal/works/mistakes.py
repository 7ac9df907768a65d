"""What the rooms are tried with: one mistake at a time, as an engineer makes it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.policies.mutants import Change


@dataclass(frozen=True)
class Mistake:
    """A change of the demo stack that is accepted and does not work."""

    name: str
    what: str  # in words
    change: Change  # of the recorded resources
    rule: str | None  # that tells it; None: it cannot be known
    why: str = ""  # where it cannot be known
