"""A month's figures from Prometheus: what our own rules recorded, and Kueue's and the GPUs' own series."""

from __future__ import annotations

import calendar
import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trainyard.monitoring import names as n
from trainyard.monitoring.recordings import LEDGER_MINUTES
from trainyard.review.chargeback.model import Figures, Idle, Wait

_HOUR_SECONDS = 3600


class NoFigures(Exception):  # noqa: N818 (what is told to people is its text)
    """Prometheus does not answer, or not with figures."""


def span_of(month: str) -> tuple[int, int]:
    """The first second of a month (`2026-12`) and of the next, in UTC.

    Raises:
        ValueError: it is no month.
    """
    start = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    days = calendar.monthrange(start.year, start.month)[1]
    first = int(start.timestamp())
    return first, first + days * 86_400


def figures_of(prometheus: str, month: str, now: float) -> Figures:
    """What Prometheus says of a month, of the running one until now.

    Raises:
        NoFigures: it does not answer, or not with figures.
        ValueError: it is no month, or one that has not begun.
    """
    start, end = span_of(month)
    last = min(end - 1, int(now))
    if last <= start:
        raise ValueError(f"{month} has not begun")
    seconds = last - start
    steps = f"{seconds}s:{LEDGER_MINUTES}m"
    an_hour = f"* {LEDGER_MINUTES} / 60"
    per_team = f'{n.TEAM_USD_PER_HOUR}{{month="{int(month[-2:])}"}}'

    def ask(expression: str) -> list[tuple[Mapping[str, str], float]]:
        rows = _get(prometheus, "query", {"query": expression, "time": last})
        values = [(row["metric"], float(row["value"][1])) for row in rows]
        return [(labels, value) for labels, value in values if math.isfinite(value)]

    def counted_in_steps(series: str, by: str, each: str) -> str:
        """What a counter of the manager's has counted: two replicas export it, and each starts anew by itself."""
        of_one = f"max by (cluster_queue, {each}) (increase({series}[{LEDGER_MINUTES}m]))"
        return f"sum by (cluster_queue{by}) (sum_over_time(({of_one})[{steps}]))"

    def by_queue(expression: str) -> dict[str, float]:
        return {labels["cluster_queue"]: value for labels, value in ask(expression)}

    wait, each = "kueue_admission_wait_time_seconds", "priority_class"
    jobs = by_queue(counted_in_steps(f"{wait}_count", "", each))
    seconds_waited = by_queue(counted_in_steps(f"{wait}_sum", "", each))
    buckets = counted_in_steps(f"{wait}_bucket", ", le", f"{each}, le")
    median, late = (by_queue(f"histogram_quantile({share}, {buckets})") for share in (0.5, 0.95))
    evicted = ask(counted_in_steps("kueue_evicted_workloads_total", ", reason", f"{each}, reason, underlying_cause"))

    def usd(record: str, by: str = "") -> list[tuple[Mapping[str, str], float]]:
        return ask(f"sum {by}(sum_over_time({record}[{steps}])) {an_hour}")

    idle: dict[Idle, float] = {}
    for _, value in usd(n.IDLE_GPU_USD_PER_HOUR):
        idle["GPU nodes"] = value
    for _, value in usd(n.IDLE_CHIP_USD_PER_HOUR):
        idle["TPU nodes"] = value
    for _, value in usd(n.IDLE_CPU_USD_PER_HOUR):
        idle["CPU nodes"] = value

    finished = 'kueue_workload_condition_time{type="Finished", reason=~"Succeeded|Failed"}'
    ended = f"max by (namespace, name, reason) (last_over_time({finished}[{seconds}s]))"
    active = f'max by (namespace, UUID, GPU_I_ID) ({n.BUSY}{{pod!=""}})'
    course = _get(
        prometheus,
        "query_range",
        {"query": f"max by (team) ({n.TEAM_SPENT_USD})", "start": start + 600, "end": last, "step": _HOUR_SECONDS},
    )
    counted = ask(f"max(count_over_time({per_team}[{seconds}s]))")
    spent = ask(f"max by (team) (sum_over_time({per_team}[{seconds}s])) {an_hour}")

    def hours_of(held: str) -> dict[tuple[str, str], float]:
        # A step sees the last figure for five minutes more, where figures break off: the ledger counts it no more.
        fresh = f"({held} and time() - timestamp({held}) < {LEDGER_MINUTES * 60})"
        rows = ask(f"sum by (cluster_queue, flavor) (sum_over_time({fresh}[{steps}])) {an_hour}")
        return {(labels["cluster_queue"], labels["flavor"]): value for labels, value in rows if value}

    prices = [row for series in (n.GPU_HOUR_USD, n.CHIP_HOUR_USD) for row in ask(f"max by (flavor) ({series})")]
    computed = ask(f"sum by (namespace) (sum_over_time(({active})[{steps}])) {an_hour}")
    return Figures(
        spent_usd={labels["team"]: value for labels, value in spent},
        held_hours=hours_of(n.GPUS_HELD),
        held_chip_hours=hours_of(n.CHIPS_HELD),
        active_hours={labels["namespace"]: value for labels, value in computed if "namespace" in labels},
        ended={
            (labels["namespace"], labels["reason"]): int(value)
            for labels, value in ask(f"count by (namespace, reason) ({ended} >= {start})")
        },
        waits={
            queue: Wait(round(count), seconds_waited.get(queue, 0.0) / count, median[queue], late[queue])
            for queue, count in jobs.items()
            if round(count) and queue in median and queue in late
        },
        evicted={(labels["cluster_queue"], labels["reason"]): round(value) for labels, value in evicted},
        cpu_usd={labels["namespace"]: value for labels, value in usd(n.CPU_USD_PER_HOUR, "by (namespace) ")},
        volume_usd={labels["namespace"]: value for labels, value in usd(n.VOLUME_USD_PER_HOUR, "by (namespace) ")},
        idle_usd=idle,
        course={
            row["metric"]["team"]: tuple((float(at), float(value)) for at, value in row["values"]) for row in course
        },
        budgets_usd={labels["team"]: value for labels, value in ask(f"max by (team) ({n.TEAM_BUDGET_USD})")},
        prices_usd={labels["flavor"]: value for labels, value in prices},
        coverage=min(1.0, counted[0][1] * LEDGER_MINUTES * 60 / seconds) if counted else 0.0,
    )


def _get(prometheus: str, what: str, arguments: Mapping[str, Any]) -> list[Any]:
    url = f"{prometheus.rstrip('/')}/api/v1/{what}?{urllib.parse.urlencode(arguments)}"
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:  # noqa: S310 - http or https, which the command checks
            found: list[Any] = json.load(answer)["data"]["result"]
            return found
    except urllib.error.HTTPError as error:
        raise NoFigures(f"it answers {error.code} {error.reason}") from error
    except OSError as error:
        opens = "`kubectl -n monitoring port-forward svc/monitoring-prometheus 9090` opens it"
        raise NoFigures(f"{getattr(error, 'reason', error)}; {opens}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise NoFigures("it answers something else than a Prometheus does") from error
