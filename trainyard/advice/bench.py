"""How long a recommendation takes, after import: `python -m trainyard.advice.bench`, part of `make bench`."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime

from trainyard.advice import Request, recommend


def main() -> None:
    """Prints the median, the fastest and the slowest of several questions; the bar is 100 ms."""
    today = datetime.now(UTC).date()
    seconds = []
    for params in (1.1e9, 7.1e9, 29e9, 70e9):
        begin = time.perf_counter()
        recommend(Request(today=today, params=params, tokens=300e9, monthly_runs=1, deadline_hours=720))
        seconds.append(time.perf_counter() - begin)
    median = 1000 * statistics.median(seconds)
    print(f"recommendation   {median:.0f} ms   ({1000 * min(seconds):.0f} to {1000 * max(seconds):.0f}; bar: 100)")


if __name__ == "__main__":
    main()
