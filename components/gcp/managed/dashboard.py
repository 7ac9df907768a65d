"""The dashboard of managed training: jobs that run, what they make of their GPUs, and where the money is told."""

from __future__ import annotations

from typing import Any, Final

_JOBS: Final = "ml.googleapis.com/training"
"""Figures of custom training, of the monitored resource `cloudml_job` (Vertex AI, "Cloud Monitoring metrics", 2026-11:
the metrics of the service `ml` that begin with `training`)."""

_BY: Final = ["resource.labels.job_id", "resource.labels.task_name"]


def jobs_board(subject: str) -> dict[str, Any]:
    """The dashboard as Cloud Monitoring takes it. `subject`: whose it is, the environment's name.

    No figure of Cloud Monitoring is money: the budget tells, and the billing account's reports.
    """
    tiles = [
        _graph("GPU use of running jobs", "accelerator/utilization", "REDUCE_MEAN", _BY),
        _graph("GPU memory of running jobs", "accelerator/memory/utilization", "REDUCE_MEAN", _BY),
        _graph("Machines of running jobs", "cpu/utilization", "REDUCE_COUNT", []),
        _graph("CPU use of running jobs", "cpu/utilization", "REDUCE_MEAN", _BY),
        _graph("Memory of running jobs", "memory/utilization", "REDUCE_MEAN", _BY),
        {"title": "Money", "text": {"format": "MARKDOWN", "content": _money(subject)}},
    ]
    places = [
        {"xPos": 24 * (at % 2), "yPos": 16 * (at // 2), "width": 24, "height": 16, "widget": tile}
        for at, tile in enumerate(tiles)
    ]
    return {"displayName": f"{subject}: training jobs", "mosaicLayout": {"columns": 48, "tiles": places}}


def _graph(title: str, metric: str, reducer: str, by: list[str]) -> dict[str, Any]:
    aggregation = {
        "alignmentPeriod": "300s",
        "perSeriesAligner": "ALIGN_MEAN",
        "crossSeriesReducer": reducer,
        "groupByFields": by,
    }
    series = {"filter": f'metric.type="{_JOBS}/{metric}" AND resource.type="cloudml_job"', "aggregation": aggregation}
    return {
        "title": title,
        "xyChart": {"dataSets": [{"plotType": "LINE", "timeSeriesQuery": {"timeSeriesFilter": series}}]},
    }


def _money(subject: str) -> str:
    return (
        f"Cloud Monitoring knows no money. The budget `{subject}` tells by mail before it is spent; [reports of the "
        "billing account](https://console.cloud.google.com/billing) show each day, and what carries the label "
        f"`project` = `{subject}`."
    )
