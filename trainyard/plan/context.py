"""What every part of the planner looks at: the settings, the profile's figures for this team, and the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.plan.ledger import Ledger, spell
from trainyard.plan.lock import NOTHING, Lock
from trainyard.plan.profiles import Profile
from trainyard.settings.common import Settings

T = TypeVar("T")

LOCKED = "the stack's lock, where it was decided once"
"""Where a value comes from that the lock keeps."""


@dataclass(frozen=True, slots=True)
class Context:
    """One plan in the making. `region` is the settings', or a stand-in for one that the catalogue does not know."""

    settings: Settings
    profile: Profile
    team_size: int
    region: str
    ledger: Ledger
    lock: Lock = NOTHING

    def figure(self, path: str) -> Any:
        """The profile's figure at a dotted path, as it stands there."""
        return self.profile.figure(path).value

    def grown(self, path: str) -> int:
        """The profile's figure at a dotted path for a team of this size, rounded up."""
        return self.profile.figure(path).at(self.team_size)

    def source(self, path: str) -> str:
        """Where the profile's figure comes from, for people."""
        return self.profile.source(path)

    def take(self, path: str, setting: str, given: T | None, key: str = "") -> T:
        """The setting where it is given, else the profile's figure at `path`; decided as `key`, or as `path`."""
        if given is not None:
            return self.ledger.decide(key or path, given, f"setting {setting}")
        value: T = self.figure(path)
        return self.ledger.decide(key or path, value, self.source(path))

    def keep(self, path: str, setting: str, given: T | None, kept: T | None, relock: str, key: str = "") -> T:
        """As `take`, unless the lock keeps a value, which another one of the stack file contradicts.

        Args:
            path: of the profile's figure.
            setting: the key in a stack file.
            given: what the stack file says, if it does.
            kept: what the lock says, if it does.
            relock: the key of the lock.
            key: of the decision, `path` by default.
        """
        if kept is None:
            return self.take(path, setting, given, key)
        if given is not None and given != kept:
            self.contradiction(setting, given, kept, relock)
        return self.ledger.decide(key or path, kept, LOCKED)

    def contradiction(self, setting: str, given: object, kept: object, relock: str, instead: str = "") -> None:
        """Records that the stack file wants something else than what the lock keeps; `instead`: a way without loss."""
        way = f"{instead}; or " if instead else ""
        hint = f"{way}`trainyard plan STACK --relock {relock}` says what it would replace, and writes it"
        self.ledger.problem(setting, given, f"the stack's lock keeps {spell(kept)}", hint)

    def listed(self, path: str) -> tuple[Any, ...]:
        """The profile's list at `path`, decided."""
        return self.ledger.decide(path, tuple(self.figure(path)), self.source(path))
