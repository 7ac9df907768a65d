"""What is told of a team: sections of rows, each a thing, what may be done with it, and what decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """Things that a team's pods or people meet, of which the same is to be said."""

    what: tuple[str, ...]  # "internet", "bucket acme-data"
    may: tuple[str, ...]  # "TCP 443", "read"; none: nothing
    why: str  # what decides, in words


def together(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows that say the same of several things as one, where the first of them stands."""
    things: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for row in rows:
        things.setdefault((row.may, row.why), []).extend(row.what)
    return tuple(Row(tuple(dict.fromkeys(names)), may, why) for (may, why), names in things.items())


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind."""

    name: str  # for machines: "network"
    title: str  # for people
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """All that is told of one team."""

    stack: str
    team: str
    namespace: str
    sections: tuple[Section, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values in a fixed order."""
        rows = {
            section.name: [{"what": list(row.what), "may": list(row.may), "why": row.why} for row in section.rows]
            for section in self.sections
        }
        return {"stack": self.stack, "team": self.team, "namespace": self.namespace, **rows}
