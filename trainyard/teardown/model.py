"""What is left of an environment, and what that proves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

FoundBy = Literal["tag", "name"]
"""By the environment's own tags; or by a trace that controllers and services leave: a cluster's name, a prefix."""


@dataclass(frozen=True, slots=True)
class Left:
    """One thing that is there."""

    kind: str  # "volume"
    id: str
    found_by: FoundBy
    usd: float | None  # a month; 0: it costs nothing; None: nobody knows here
    told: str = ""  # size and state
    arn: str = ""
    command: str = ""  # that takes it away
    made_of: str = ""  # id of what it is a copy of
    kept: bool = False

    @property
    def is_billable(self) -> bool:
        """Whether it is paid for, as far as anybody knows here."""
        return self.usd is None or self.usd > 0

    def as_json(self) -> dict[str, Any]:
        """All fields, in a fixed order."""
        return {
            "kind": self.kind,
            "id": self.id,
            "arn": self.arn,
            "found_by": self.found_by,
            "kept": self.kept,
            "usd_a_month": None if self.usd is None else round(self.usd, 2),
            "told": self.told,
            "command": self.command,
        }


@dataclass(frozen=True, slots=True)
class Unseen:
    """A kind that could not be looked for, so that nothing is proven of it."""

    kind: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What was meant to stay: any of its names is enough to know it by."""

    kind: str
    names: tuple[str, ...]  # id, ARN, name; of a copy, the id of what it is made of
    why: str

    def is_of(self, left: Left) -> bool:
        """Whether something that is left is this."""
        return bool({left.id, left.arn, left.made_of} & set(self.names))


@dataclass(frozen=True, slots=True)
class Proof:
    """All that was found."""

    left: tuple[Left, ...]
    unseen: tuple[Unseen, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing that is paid for is left but what was kept, and everything was looked for."""
        return not self.unseen and not self.owed

    @property
    def owed(self) -> list[Left]:
        """What is paid for and should be gone."""
        return [each for each in self.left if each.is_billable and not each.kept]

    @property
    def free(self) -> list[Left]:
        """What costs nothing and is there still."""
        return [each for each in self.left if not each.is_billable and not each.kept]

    @property
    def kept(self) -> list[Left]:
        """What stays because it was to stay."""
        return [each for each in self.left if each.kept]

    def as_json(self) -> dict[str, Any]:
        """The contract of the proof in `trainyard destroy --json`."""
        return {
            "holds": self.holds,
            "usd_a_month": round(usd_of(self.owed), 2),
            "usd_a_month_kept": round(usd_of(self.kept), 2),
            "left": [each.as_json() for each in self.left],
            "unseen": [{"kind": each.kind, "why": each.why, "remedy": each.remedy} for each in self.unseen],
        }


def usd_of(left: Iterable[Left]) -> float:
    """What it costs a month, as far as it is known."""
    return sum(each.usd or 0.0 for each in left)


def less(left: Iterable[Left], kept: Iterable[Kept]) -> tuple[Left, ...]:
    """What is left, with that marked which was to stay; what is paid for first, the dearest of it."""
    stays = list(kept)
    told = [replace(each, kept=True) if any(one.is_of(each) for one in stays) else each for each in left]
    return tuple(
        sorted(told, key=lambda each: (each.kept, -(each.usd or 0.0), each.usd is not None, each.kind, each.id))
    )
