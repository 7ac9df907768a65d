"""What the comparison with owned hardware assumes: each figure an input with default, range and source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from trainyard.advice.ranges import Range
from trainyard.catalog.tables import rows
from trainyard.problems import Problem, SettingsError, nearest

SHARES = {
    "owned_utilisation",
    "network_storage_share",
    "idle_power_share",
    "support_share_per_year",
    "residual_share",
    "cluster_idle_share",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure of the comparison with its range; `given` where the caller set it."""

    key: str
    unit: str
    range: Range
    source: str
    date: str
    evidence: str
    given: bool = False

    @property
    def value(self) -> float:
        """The typical figure."""
        return self.range.typical


@lru_cache(maxsize=1)
def defaults() -> dict[str, Assumption]:
    """All assumptions by key."""
    return {
        row["key"]: Assumption(
            row["key"],
            row["unit"],
            Range(float(row["low"]), float(row["value"]), float(row["high"])),
            row["source"],
            row["date"],
            row["evidence"],
        )
        for row in rows("onprem.csv")
    }


def assumptions(given: Mapping[str, float]) -> dict[str, Assumption]:
    """The defaults with some replaced; a given figure has no spread.

    Raises:
        SettingsError: an unknown key, or a figure that cannot be.
    """
    known = dict(defaults())
    problems = []
    for key, value in given.items():
        if key not in known:
            allowed = "must be one of " + ", ".join(sorted(known))
            problems.append(Problem("--assume", key, allowed, nearest(key, known)))
        elif not math.isfinite(value) or value < 0 or (key in SHARES and value > 1):
            problems.append(
                Problem("--assume", f"{key}={value:g}", f"must be {'0 to 1' if key in SHARES else '0 or more'}")
            )
        elif value == 0 and key in {"owned_utilisation", "depreciation_months"}:
            problems.append(Problem("--assume", f"{key}=0", "must be above 0"))
        else:
            known[key] = replace(known[key], range=Range(value, value, value), source="--assume", given=True)
    if problems:
        raise SettingsError(problems)
    return known
