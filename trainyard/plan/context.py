"""What every part of the planner looks at: the settings, the profile's figures for this team, and the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.plan.ledger import Ledger
from trainyard.plan.profiles import Profile
from trainyard.settings.common import Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """One plan in the making. `region` is the settings', or a stand-in for one that the catalogue does not know."""

    settings: Settings
    profile: Profile
    team_size: int
    region: str
    ledger: Ledger

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

    def listed(self, path: str) -> tuple[Any, ...]:
        """The profile's list at `path`, decided."""
        return self.ledger.decide(path, tuple(self.figure(path)), self.source(path))
