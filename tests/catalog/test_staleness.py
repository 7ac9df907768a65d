from datetime import date

import pytest

from trainyard.catalog.staleness import STALE_DAYS, is_stale


def test_a_price_is_stale_after_180_days():
    assert STALE_DAYS == 180
    assert not is_stale("2026-01-01", date(2026, 6, 30))  # 180 days
    assert is_stale("2026-01-01", date(2026, 7, 1))
    assert not is_stale("2027-01-01", date(2026, 7, 1)), "a date to come is not old"


def test_a_date_that_is_none_is_refused():
    with pytest.raises(ValueError, match="Invalid isoformat"):
        is_stale("last summer", date(2026, 7, 1))
