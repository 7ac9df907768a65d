"""Alarms whose threshold is in another unit than the metric: a fraction for per cent, gigabytes, milliseconds.

Source: each service's page of metrics, as generally known (2026-11): shares are in per cent, room in bytes, latencies
of databases, volumes and load balancers in seconds.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import METRIC_ALARM
from trainyard.rehearsal.context import Stack, View

_SHARES: Final = frozenset(
    {
        ("AWS/EC2", "CPUUtilization"), ("AWS/EFS", "PercentIOLimit"), ("AWS/ElastiCache", "CPUUtilization"),
        ("AWS/ElastiCache", "EngineCPUUtilization"), ("AWS/RDS", "BurstBalance"), ("AWS/RDS", "CPUUtilization"),
        ("AWS/ES", "JVMMemoryPressure"), ("AWS/FSx", "StorageCapacityUtilization"),
        ("AWS/ElastiCache", "DatabaseMemoryUsagePercentage"),
    }
)  # fmt: skip
"""Metrics of 0 to 100."""
_ROOM: Final = frozenset(
    {
        ("AWS/RDS", "FreeStorageSpace"), ("AWS/RDS", "FreeableMemory"), ("AWS/RDS", "FreeLocalStorage"),
        ("AWS/FSx", "FreeDataStorageCapacity"), ("AWS/FSx", "FreeStorageCapacity"),
        ("AWS/ElastiCache", "FreeableMemory"),
    }
)  # fmt: skip
"""Metrics in bytes of what is left, of which an alarm waits for little."""
_LATENCIES: Final = frozenset(
    {
        ("AWS/RDS", "CommitLatency"), ("AWS/RDS", "ReadLatency"),
        ("AWS/RDS", "WriteLatency"), ("AWS/ApplicationELB", "TargetResponseTime"),
    }
)  # fmt: skip
"""Metrics in seconds of what takes milliseconds."""
_LEAST_BYTES: Final = 1e6
_MOST_SECONDS: Final = 100.0
_WHOLE: Final = 100.0


def check(stack: Stack) -> None:
    """Every alarm on one metric with a threshold that is known."""
    for alarm in stack.of_type(METRIC_ALARM):
        metric = alarm.text("namespace") or "", alarm.text("metricName") or ""
        how, limit = alarm.text("comparisonOperator") or "", alarm.number("threshold")
        if limit is None or alarm.text("statistic") in ("SampleCount", "Sum"):
            continue
        above = how in ("GreaterThanThreshold", "GreaterThanOrEqualToThreshold")
        if metric in _SHARES and above and 0 < limit < 1:
            _off(alarm, f"{metric[1]} is in per cent: it is nearly always above {limit:g}", f"{limit * _WHOLE:g}")
        elif metric in _SHARES and above and limit > _WHOLE:
            _off(alarm, f"{metric[1]} is in per cent, and never above {_WHOLE:g}: the alarm never fires", "up to 100")
        elif metric in _ROOM and how.startswith("LessThan") and 0 < limit < _LEAST_BYTES:
            _off(alarm, f"{metric[1]} is in bytes: {limit:g} of them are left when it is too late", "bytes")
        elif metric in _LATENCIES and above and limit >= _MOST_SECONDS:
            _off(alarm, f"{metric[1]} is in seconds: the alarm waits for {limit:g} of them", f"{limit / 1000:g}")


def _off(alarm: View, message: str, allowed: str) -> None:
    alarm.error("programs-alarm", "threshold", message, allowed=allowed)
