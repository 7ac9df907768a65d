"""Whether a stack's cloud is still what its program says: asked through Pulumi, and remembered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trainyard.fleet.clients import Client
from trainyard.fleet.keeper import alone_in, outcome
from trainyard.fleet.upgrade import home_of, last_lines, run

_NAME = "drift"
_VERB = ("preview", "--refresh", "--expect-no-changes")


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of the last question."""

    asked: datetime
    drifted: bool  # or it could not be asked
    told: str  # the last of what Pulumi said; empty where nothing has drifted

    def as_json(self) -> dict[str, Any]:
        """The contract of the question in the JSON of `fleet`."""
        return {"asked": self.asked.isoformat(timespec="seconds"), "drifted": self.drifted}


def ask(client: Client, program: str, homes: Path) -> Drift:
    """Asks now; nothing is changed."""
    home = home_of(client, homes)
    with alone_in(home) as lock:
        code = run(client, [program, *_VERB], home, _NAME, lock)
    return Drift(datetime.now(UTC), bool(code), last_lines(home, _NAME) if code else "")


def last(client: Client, homes: Path) -> Drift | None:
    """What was found when it was asked last from this folder; None where it never was."""
    home = homes / client.stack
    code = outcome(home, _NAME)
    if code is None:
        return None
    asked = datetime.fromtimestamp((home / f"{_NAME}.code").stat().st_mtime, UTC)
    return Drift(asked, bool(code), last_lines(home, _NAME) if code else "")
