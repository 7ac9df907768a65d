"""What a recording cannot say, as named figures with their sources (`assumptions.yaml`), each replaceable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from trainyard.catalog.tables import tree
from trainyard.cost.model import Amounts
from trainyard.plan.profiles import PROFILE_NAMES
from trainyard.problems import Problem, SettingsError, nearest

REPLACED = "given on the command line"


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure with the range that floor and ceiling take."""

    key: str
    value: float
    minimum: float
    maximum: float
    unit: str
    source: str
    date: str

    @property
    def amounts(self) -> Amounts:
        """The assumption at the floor, as expected and at the ceiling."""
        return Amounts(self.minimum, self.value, self.maximum)

    @property
    def replaced(self) -> bool:
        """Whether the figure was given on the command line."""
        return self.source == REPLACED

    def as_json(self) -> dict[str, Any]:
        """The assumption without its key, as the JSON of a rehearsal has it."""
        return {key: value for key, value in asdict(self).items() if key != "key"}


class Assumptions:
    """The assumptions of one profile, with those that were replaced."""

    def __init__(self, figures: Mapping[str, Assumption]) -> None:
        self._figures = dict(figures)

    def __getitem__(self, key: str) -> Assumption:
        """The assumption of that name; KeyError where there is none."""
        return self._figures[key]

    def as_json(self) -> dict[str, dict[str, Any]]:
        """All assumptions by their keys, as the JSON of a rehearsal has them."""
        return {key: figure.as_json() for key, figure in self._figures.items()}

    def with_values(self, values: Mapping[str, float]) -> Assumptions:
        """These assumptions with some values replaced. What is below the new value follows it.

        Raises:
            SettingsError: a name that there is not, a negative value, or a percentage above 100; all at once.
        """
        problems = []
        figures = dict(self._figures)
        for key, value in values.items():
            known = figures.get(key)
            if known is None:
                names = ", ".join(sorted(figures))
                problems.append(Problem(key, f"{value:g}", f"must be one of {names}", nearest(key, figures)))
            elif value < 0 or (key.endswith("_percent") and value > 100):
                bound = "between 0 and 100" if key.endswith("_percent") else "0 or more"
                problems.append(Problem(key, f"{value:g}", f"must be {bound} ({known.unit})"))
            elif key == "spot_saving_percent":
                figures[key] = replace(known, value=value, minimum=value, maximum=value, source=REPLACED)
            else:
                low, high = min(known.minimum, value), max(known.maximum, value)
                figures[key] = replace(known, value=value, minimum=low, maximum=high, source=REPLACED)
        if problems:
            raise SettingsError(problems)
        return Assumptions(figures)


@lru_cache(maxsize=len(PROFILE_NAMES))
def assumptions_for(profile: str) -> Assumptions:
    """The assumptions of a team-size profile.

    Raises:
        ValueError: there is no such profile, or an entry of the file lacks a value, a unit, a source or a date.
    """
    if profile not in PROFILE_NAMES:
        raise ValueError(f"profile {profile!r}; {', '.join(PROFILE_NAMES)}")
    figures = {}
    for key, leaf in tree(files("trainyard.cost").joinpath("assumptions.yaml")).items():
        missing = [name for name in ("value", "unit", "source", "date") if leaf.get(name) in (None, "")]
        if missing:
            raise ValueError(f"{key}: an assumption needs {', '.join(missing)}")
        value = _of(leaf["value"], profile)
        figures[key] = Assumption(
            key=key,
            value=value,
            minimum=_of(leaf.get("minimum", 0), profile),
            maximum=_of(leaf.get("maximum", value), profile),
            unit=leaf["unit"],
            source=leaf["source"],
            date=str(leaf["date"]),
        )
    return Assumptions(figures)


def _of(value: Any, profile: str) -> float:
    return float(value[profile] if isinstance(value, Mapping) else value)
