"""Whether a keeper's last whole round is recent: it notes each, and its pod's readiness probe asks.

    python -m keepers.heartbeat

It ends with 0 where a round was whole within the last five minutes, else with 1. A keeper that runs but whose questions
are refused is so not ready, which the cluster's figures show and an alert tells
(`trainyard/monitoring/alerts/platform.py`).
"""

import sys
import tempfile
import time
from pathlib import Path

LAST = Path(tempfile.gettempdir()) / "last-whole-round"
"""What is touched after every round in which all was asked and done; in a pod, on its own volume."""
OLDEST_SECONDS = 300
"""Seconds since then after which a keeper is not ready: five rounds of the slowest."""


def beat() -> None:
    """Notes a whole round; one that starts notes one too, and has as long as one that fails for the first time."""
    LAST.touch()


def is_recent(now: float) -> bool:
    """Whether a round was whole within the time that it has; `now` in seconds since the epoch."""
    try:
        return now - LAST.stat().st_mtime <= OLDEST_SECONDS
    except FileNotFoundError:
        return False  # it has not started


if __name__ == "__main__":
    sys.exit(0 if is_recent(time.time()) else 1)
