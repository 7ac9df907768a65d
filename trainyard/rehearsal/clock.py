"""Schedules of cron, zones of the IANA time zone database and Google's durations, wherever a resource names one."""

from __future__ import annotations

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FIELD: Final = re.compile(r"[0-9A-Za-z*?/,#-]+")
_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12))
"""The least and the highest number of each field but the last: minute, hour, day, month."""


def is_cron(text: str, *, last_day: int = 7) -> bool:
    """Whether a text is five fields of cron with numbers that each may have; `last_day` is the highest day of the week,
    7 where that is Sunday besides 0.
    """
    fields, bounds = text.split(), (*_BOUNDS, (0, last_day))
    if len(fields) != len(bounds) or text.startswith("TZ="):
        return False
    return all(
        _FIELD.fullmatch(field) is not None
        and all(least <= int(number) <= most for number in re.findall(r"(?<!/)\b\d+", field))
        for field, (least, most) in zip(fields, bounds, strict=True)
    )


def is_zone(name: str) -> bool:
    """Whether there is a zone of that name; every name is one on a machine without the database."""
    return _has(name) or not _has("Etc/UTC")


def _has(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def seconds_of(duration: str | None) -> float | None:
    """Seconds of a duration as Google's APIs write it, such as `3.5s`; None for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s", duration or "")
    return float(match[1]) if match else None
