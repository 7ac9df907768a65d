"""From when something is worth an alert. The defaults are the delivery guides' where they name a number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Figures that the alerts compare with; each can be set in a stack file."""

    gpu_utilisation_percent: int = 50
    idle_gpu_minutes: int = 45
    queue_hours: int = 2
    failed_jobs_percent: int = 5
    failed_jobs_of: int = 20
    checkpoint_hours: int = 24
    cost_spike_percent: int = 50
    cost_spike_usd_per_day: int = 200
    budget_percents: tuple[int, int, int] = (50, 80, 100)
    throttled_minutes: int = 15
    disk_free_percent: int = 10
    certificate_days: int = 30
    node_not_ready_minutes: int = 15
    controller_down_minutes: int = 10


GUIDE = "agency guide, monitoring"
SOURCES = {
    "gpu_utilisation_percent": f"{GUIDE}: alert on GPU utilisation below 50 percent for extended periods",
    "idle_gpu_minutes": f"{GUIDE}: idle for 30 to 60 minutes is reclaimed; the middle",
    "queue_hours": f"{GUIDE}: alert on queue times over 2 hours",
    "failed_jobs_percent": f"{GUIDE}: alert on a failure rate over 5 percent",
    "failed_jobs_of": "own choice: of fewer jobs in a day, one failure is 5 percent",
    "checkpoint_hours": "own choice: a day of a run is the most that one failure should take with it",
    "cost_spike_percent": f"{GUIDE}: alert on cost spikes; own choice: half more than the week before",
    "cost_spike_usd_per_day": "own choice: a smaller rise is no spike, whatever it is a share of",
    "budget_percents": "as the budget's own alerts: half-time, warning and limit",
    "throttled_minutes": "own choice: a GPU that is hot for a moment is nothing",
    "disk_free_percent": "own choice: a tenth is a day or two at what Prometheus writes",
    "certificate_days": "own choice: an `up` in a calm month renews them",
    "node_not_ready_minutes": "own choice: a large GPU node takes up to ten minutes to be ready",
    "controller_down_minutes": "own choice: longer than the loss of a node takes to be made good",
}
"""Where each default comes from."""
