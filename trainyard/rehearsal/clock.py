"""Schedules of cron and zones of the IANA time zone database, wherever a recorded resource names one."""

from __future__ import annotations

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FIELD: Final = re.compile(r"[0-9A-Za-z*?/,#-]+")
_HIGHEST: Final = (59, 23, 31, 12, 7)
"""The highest number of each field: minute, hour, day, month, day of the week."""


def is_cron(text: str) -> bool:
    """Whether a text is five fields of cron with numbers that each may have."""
    fields = text.split()
    if len(fields) != len(_HIGHEST) or text.startswith("TZ="):
        return False
    return all(
        _FIELD.fullmatch(field) is not None and all(int(number) <= most for number in re.findall(r"(?<!/)\b\d+", field))
        for field, most in zip(fields, _HIGHEST, strict=True)
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
