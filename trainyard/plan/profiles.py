"""Team-size profiles: the figures that decide what a stack file leaves open (`profiles/*.yaml`).

A leaf of a profile is a figure: `value` with `source`, and where it grows with the team `per_member`,
`from_members`, `minimum` and `maximum`:

    at(team_size) = value + per_member * max(0, team_size - from_members), kept within minimum and maximum,
                    rounded up to a whole number

`extends: medium` takes the figures of another profile first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any

from trainyard.catalog.tables import tree

PROFILE_NAMES = ("small", "medium", "large")
_FIELDS = {"value", "unit", "source", "per_member", "from_members", "minimum", "maximum"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a profile. `value` is a number, a text, a flag or a list of texts or numbers."""

    path: str
    value: Any
    source: str
    unit: str = ""
    per_member: float = 0
    from_members: int = 0
    minimum: float | None = None
    maximum: float | None = None

    def at(self, team_size: int) -> int:
        """The figure for a team of that many people, rounded up."""
        # Decimal text, not binary floats: 0.1 a member for 10 members is 1, not 2.
        grown = max(0, team_size - self.from_members)
        number = Fraction(str(self.value)) + Fraction(str(self.per_member)) * grown
        if self.minimum is not None:
            number = max(number, Fraction(str(self.minimum)))
        if self.maximum is not None:
            number = min(number, Fraction(str(self.maximum)))
        return math.ceil(number)


@dataclass(frozen=True, slots=True)
class Profile:
    """A team-size profile."""

    name: str
    figures: Mapping[str, Figure]

    def figure(self, path: str) -> Figure:
        """The figure at a dotted path.

        Raises:
            KeyError: the profile has no such figure.
        """
        return self.figures[path]

    def names(self, group: str) -> tuple[str, ...]:
        """Names of the groups directly below a path, in the file's order."""
        prefix = f"{group}."
        below = (path[len(prefix) :] for path in self.figures if path.startswith(prefix))
        return tuple(dict.fromkeys(path.partition(".")[0] for path in below))

    def source(self, path: str) -> str:
        """Where a figure of the plan comes from, for people."""
        return f"profile {self.name}, {path}: {self.figures[path].source}"


@lru_cache(maxsize=len(PROFILE_NAMES))
def profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        FileNotFoundError: there is no such profile.
        ValueError: its file has a leaf that is not a figure with a source.
    """
    content = tree(files("trainyard.plan").joinpath("profiles", f"{name}.yaml"))
    base = content.pop("extends", None)
    figures = dict(profile(base).figures) if base else {}
    figures.update((figure.path, figure) for figure in _figures(content, ""))
    return Profile(name, figures)


def _figures(tree: Mapping[str, Any], path: str) -> Iterator[Figure]:
    for key, node in tree.items():
        here = f"{path}.{key}" if path else str(key)
        if not isinstance(node, Mapping):
            raise ValueError(f"{here}: a figure needs a value and a source, got {node!r}")
        if "value" not in node:
            yield from _figures(node, here)
        elif unknown := set(node) - _FIELDS:
            raise ValueError(f"{here}: a figure has no {', '.join(sorted(unknown))}")
        elif not node.get("source"):
            raise ValueError(f"{here}: a figure needs a source")
        else:
            yield Figure(path=here, **{**node, "source": str(node["source"])})
