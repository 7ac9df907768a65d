"""What became of each stack of an upgrade: on the disk before and after every step, so that a kill loses nothing."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from trainyard.fleet.clients import WAVES, Wave
from trainyard.problems import Problem, SettingsError, shown
from trainyard.user_files import read_json

Step = Literal["waiting", "running", "done", "failed"]
_LAYOUT: Final = 1

BEGUN: Final = "%Y%m%dT%H%M%SZ"
"""How a ledger writes when its upgrade began, in UTC."""


@dataclass(slots=True)
class Turn:
    """One stack's turn. `running` after a kill: nobody knows how far it came, and `pulumi up` goes on from there."""

    stack: str
    wave: Wave
    step: Step = "waiting"
    told: str = ""  # the last of what Pulumi said where it failed
    tries: int = 0


def _turn(content: Mapping[str, Any]) -> Turn:
    """A turn of a file. Raises `TypeError` or `ValueError` where it is none."""
    turn = Turn(**content)
    if turn.wave not in WAVES:
        raise ValueError(f"wave {turn.wave}")
    if turn.step not in get_args(Step):
        raise ValueError(f"step {turn.step}")
    for key, wanted in (("stack", str), ("told", str), ("tries", int)):
        if not isinstance(getattr(turn, key), wanted):
            raise ValueError(f"{key} {getattr(turn, key)}")
    return turn


def _begun(text: Any) -> str:
    """When an upgrade began: a part of files' names too. Raises `TypeError`, `ValueError` where it is no time."""
    datetime.strptime(text, BEGUN)
    return str(text)


class Ledger:
    """The turns of one upgrade, in order, kept in a file."""

    def __init__(self, path: Path, release: str, turns: Sequence[Turn], begun: str) -> None:
        """A ledger; `begun` is when, and tells one upgrade from another."""
        self.path, self.release, self.turns, self.begun = path, release, list(turns), begun
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: Path) -> Ledger | None:
        """The ledger of an upgrade that began; None where there is none. Raises `SettingsError`."""
        if not path.exists():
            return None
        content = read_json(path, path.name)
        try:
            if content["layout"] != _LAYOUT:
                raise ValueError(content["layout"])
            turns = [_turn(turn) for turn in content["turns"]]
            return cls(path, str(content["release"]), turns, _begun(content["begun"]))
        except (KeyError, TypeError, ValueError) as error:
            allowed = "must be the ledger that `trainyard fleet upgrade` writes; take it away to begin anew"
            raise SettingsError([Problem(path.name, shown(str(error)), allowed)]) from None

    @property
    def left(self) -> list[Turn]:
        """The turns that are not done, in order."""
        return [turn for turn in self.turns if turn.step != "done"]

    def mark(self, turn: Turn, step: Step, told: str = "") -> None:
        """Notes a step of a turn, on the disk before this returns; turns may be taken in several threads."""
        with self._lock:  # else an older text could be written over a newer one
            turn.step, turn.told = step, told
            turn.tries += step == "running"
            self.write()

    def write(self) -> None:
        """Writes the file whole: whoever is killed meanwhile leaves the one before."""
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self.as_json(), file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(self.path)
        except BaseException:  # a full disk: each try would leave one more
            Path(temporary).unlink(missing_ok=True)
            raise

    def as_json(self) -> dict[str, Any]:
        """What the file holds."""
        return {
            "layout": _LAYOUT,
            "release": self.release,
            "begun": self.begun,
            "turns": [asdict(turn) for turn in self.turns],
        }
