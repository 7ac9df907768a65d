"""What was found out about a stack's cloud and kept beside its file, so that it is told later without asking anybody.

Drift is kept by `drift`, which asks for it; here are the last smoke verdict and what the month has cost so far.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from trainyard.problems import Problem, SettingsError, shown
from trainyard.user_files import read_json

HOMES: Final = ".pulumi-homes"
"""A folder for each stack, beside Pulumi.yaml: Pulumi's own files, and what is known of it."""

_FILE: Final = "known.json"
_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class Smoke:
    """The last verdict of a smoke job."""

    verdict: str  # "pass", "fail"…; "not waited for": advisory jobs, of which `pulumi up` tells nothing
    at: str  # ISO 8601 with the zone: when the job was made, or told its verdict
    by: str  # "pulumi up" or the target of `trainyard smoke`


@dataclass(frozen=True, slots=True)
class Spend:
    """What a month has cost so far, as the cloud's own budget counts it, in US dollars."""

    usd: float
    forecast_usd: float | None  # the whole month's; None: the cloud foresees nothing yet
    budget_usd: float
    asked: str  # ISO 8601 with the zone

    @property
    def month(self) -> str:
        """The month that the figure is of: `2026-11`."""
        return self.asked[:7]


@dataclass(frozen=True, slots=True)
class Known:
    """All that is kept; None is what nobody ever asked, or what could not be told."""

    smoke: Smoke | None = None
    spend: Spend | None = None

    def as_json(self) -> dict[str, Any]:
        """The contract of both in the JSON of `fleet list`."""
        return {
            "smoke": asdict(self.smoke) if self.smoke else None,
            "spend": {**asdict(self.spend), "month": self.spend.month} if self.spend else None,
        }


def now() -> str:
    """The time as it is kept, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def known_of(stack: str, homes: Path) -> Known:
    """What is kept of a stack; nothing where there is no file. Raises `SettingsError` where it is no such file."""
    path = homes / stack / _FILE
    return _read(path, f"{homes.name}/{stack}/{_FILE}") if path.exists() else Known()


def note(stack: str, homes: Path, *, smoke: Smoke | None = None, spend: Spend | None = None) -> None:
    """Keeps what was found out, beside what is kept already.

    Raises:
        SettingsError: what is there is no such file.
        OSError: it cannot be written.
    """
    folder = homes / stack
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{_FILE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # its own: an upgrade holds the folder's for as long as `pulumi up` takes
        before = known_of(stack, homes)
        after = replace(before, smoke=smoke or before.smoke, spend=spend or before.spend)
        draft = folder / f".{_FILE}"
        content = {
            "layout": _LAYOUT,
            "smoke": asdict(after.smoke) if after.smoke else None,
            "spend": asdict(after.spend) if after.spend else None,
        }
        draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        draft.replace(folder / _FILE)


def _read(path: Path, name: str) -> Known:
    content = read_json(path, name)
    try:
        if content["layout"] != _LAYOUT:
            raise ValueError(content["layout"])
        smoke, spend = content["smoke"], content["spend"]
        return Known(_smoke(smoke) if smoke else None, _spend(spend) if spend else None)
    except (KeyError, TypeError, ValueError) as error:
        allowed = "must be what `trainyard fleet list --live` writes; take it away to ask anew"
        raise SettingsError([Problem(name, shown(str(error)), allowed)]) from None


def _smoke(content: Mapping[str, Any]) -> Smoke:
    found = Smoke(str(content["verdict"]), str(content["at"]), str(content["by"]))
    _moment(found.at)
    return found


def _spend(content: Mapping[str, Any]) -> Spend:
    forecast = content["forecast_usd"]
    found = Spend(
        float(content["usd"]),
        None if forecast is None else float(forecast),
        float(content["budget_usd"]),
        str(content["asked"]),
    )
    _moment(found.asked)
    return found


def _moment(text: str) -> None:
    """Raises `ValueError` where a text is no time with its zone."""
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(f"{text} without a zone")
