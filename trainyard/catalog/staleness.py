"""How old a price may be."""

from __future__ import annotations

from datetime import date

STALE_DAYS = 180
"""A price older than this is flagged wherever it is used. Clouds have cut GPU prices twice a year."""


def is_stale(priced_on: str, today: date) -> bool:
    """Whether a price of that day (`2026-07-20`) is older than `STALE_DAYS` on `today`.

    Raises:
        ValueError: `priced_on` is not a date.
    """
    return (today - date.fromisoformat(priced_on)).days > STALE_DAYS
