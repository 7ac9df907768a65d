"""Every alert, by what it is about."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.monitoring.alerts.checkpoints import checkpoint_alerts
from trainyard.monitoring.alerts.gpu import gpu_alerts
from trainyard.monitoring.alerts.jobs import job_alerts
from trainyard.monitoring.alerts.money import money_alerts
from trainyard.monitoring.alerts.platform import platform_alerts
from trainyard.monitoring.model import Alert
from trainyard.monitoring.thresholds import Thresholds


def alerts_by_room(at: Thresholds, namespaces: Sequence[str], *, chips: bool = False) -> dict[str, tuple[Alert, ...]]:
    """The alerts; `namespaces` are those that the platform's own programs run in, `chips` tells of TPU slices."""
    return {
        "gpu": gpu_alerts(at),
        "jobs": job_alerts(at),
        "checkpoints": checkpoint_alerts(at),
        "money": money_alerts(at, chips=chips),
        "platform": platform_alerts(at, namespaces),
    }


def all_alerts(at: Thresholds, namespaces: Sequence[str]) -> tuple[Alert, ...]:
    """The same in one row."""
    return tuple(alert for room in alerts_by_room(at, namespaces).values() for alert in room)
