"""Team-size profiles: the figures that decide what a stack file leaves open (`profiles/*.yaml`).

A leaf of a profile is a figure: `value` with `source`, and where it grows with the team `per_member`,
`from_members`, `minimum` and `maximum`:

    at(team_size) = value + per_member * max(0, team_size - from_members), kept within minimum and maximum,
                    rounded up to a whole number

Under `assurance: high` a figure is what its `high` says, with a source of its own: what a scanner asks for, or what
survives the loss of a zone, where the profile otherwise chooses for the customer's money.

`extends: medium` takes the figures of another profile first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from trainyard.catalog.tables import tree

PROFILE_NAMES = ("small", "medium", "large")
Assurance = Literal["standard", "high"]
"""`standard` chooses for the customer's money, `high` for what scanners ask and what survives the loss of a zone."""
_FIELDS = {"value", "unit", "source", "per_member", "from_members", "minimum", "maximum", "high"}


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
    high: Figure | None = None  # what it is under high assurance, where that is something else

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

    def under(self, assurance: Assurance) -> Profile:
        """The profile with the figures of that assurance."""
        if assurance == "standard":
            return self
        return Profile(self.name, {path: figure.high or figure for path, figure in self.figures.items()})

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
            yield _figure(here, node)


def _figure(path: str, node: Mapping[str, Any]) -> Figure:
    """A leaf as a figure. What `high` says takes the place of what it names; the rest stays."""
    fields = {key: value for key, value in node.items() if key != "high"}
    high = node.get("high")
    if high is None:
        return Figure(path=path, **{**fields, "source": str(fields["source"])})
    if not isinstance(high, Mapping) or set(high) - (_FIELDS - {"high"}) or not {"value", "source"} <= set(high):
        raise ValueError(f"{path}.high: a figure of high assurance needs a value and a source of its own")
    return Figure(path=path, **{**fields, "source": str(fields["source"])}, high=_figure(path, {**fields, **high}))
