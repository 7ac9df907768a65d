"""Hours of every day, by the clock of a place: from when to when, across midnight and across a change of its time.

Rules of time zones are those of the image that this runs in (`zoneinfo`): the Debian images of Python, and what is made
from them, have the package `tzdata` (docker-library/python, Dockerfile-linux.template, 2026-11).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Hours:
    """From when to when, each day; where the end is no later than the beginning it is that of the next day."""

    start: time
    end: time
    zone: ZoneInfo


def hours_of(configuration: Mapping[str, Any]) -> Hours:
    """The hours of a configuration: `from` and `to` as HH:MM, `time_zone` by its name.

    Raises KeyError (`ZoneInfoNotFoundError`) for a zone that the image does not know, ValueError for what is no time.
    """
    start, end = (time.fromisoformat(configuration[name]) for name in ("from", "to"))
    return Hours(start, end, ZoneInfo(configuration["time_zone"]))


def span_of(hours: Hours, day: date) -> tuple[float, float]:
    """When the hours that begin on a day begin and end, seconds since the epoch.

    A time that the clock has twice is meant the first time. One that it leaves out is as much later as it leaves out.
    """
    last = day if hours.start < hours.end else day + timedelta(days=1)
    return (
        datetime.combine(day, hours.start, hours.zone).timestamp(),
        datetime.combine(last, hours.end, hours.zone).timestamp(),
    )


def within(hours: Hours, now: float) -> bool:
    """Whether a moment (seconds since the epoch) is in the hours of some day."""
    today = datetime.fromtimestamp(now, UTC).astimezone(hours.zone).date()
    spans = (span_of(hours, today + timedelta(days=ahead)) for ahead in (-1, 0))
    return any(start <= now < end for start, end in spans)
