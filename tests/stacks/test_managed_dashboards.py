"""The dashboards of managed training show jobs that run, their GPUs and the money, of figures that there are."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.conftest import MANAGED, MANAGED_ON_GOOGLE

TRAINING = (
    "accelerator/memory/utilization", "accelerator/utilization", "cpu/utilization", "memory/utilization",
    "network/received_bytes_count", "network/sent_bytes_count",
)  # fmt: skip
"""What Cloud Monitoring has of training (its list of metrics, `ml`, 2026-11)."""


def the(rehearsed: Any, stack: str, type_: str) -> Any:
    (found,) = (item for item in rehearsed(stack).resources if item.type == type_)
    return found


def apart(places: list[tuple[int, int, int, int]], columns: int) -> bool:
    """Whether no two overlap and all are within the columns."""
    inside = all(x >= 0 and x + width <= columns for x, _, width, _ in places)
    return inside and not any(
        a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
        for a, b in itertools.combinations(places, 2)
    )


@pytest.mark.parametrize("stack", MANAGED)
def test_on_aws_it_shows_jobs_gpus_and_money(rehearsed: Any, stack: str) -> None:
    body = json.loads(the(rehearsed, stack, "aws:cloudwatch/dashboard:Dashboard").inputs["dashboardBody"])
    widgets = body["widgets"]
    assert apart([(one["x"], one["y"], one["width"], one["height"]) for one in widgets], 24)
    titles = {one["properties"]["title"]: one["properties"] for one in widgets if one["type"] == "metric"}
    assert {"Machines of running jobs", "GPU use of running jobs, percent"} <= titles.keys()
    spent = [one for title, one in titles.items() if title.startswith("Spent on SageMaker")]
    told = [one["properties"]["markdown"] for one in widgets if one["type"] == "text"]
    if stack == "uae-small":  # data is held to a region, and CloudWatch has the figure in another
        (budget,) = (item for item in rehearsed(stack).resources if item.type == "aws:budgets/budget:Budget")
        assert not spent and f"`{budget.inputs['name']}`" in told[0]
    else:
        assert spent[0]["region"] == "us-east-1" and "AWS/Billing" in spent[0]["metrics"][0][0]["expression"]
    # How jobs ended is counted by the filters of the stack itself.
    filters = [item for item in rehearsed(stack).resources if item.type.endswith(":LogMetricFilter")]
    counted = {(one["namespace"], one["name"]) for one in (item.inputs["metricTransformation"] for item in filters)}
    (ended,) = (one for title, one in titles.items() if title.startswith("Jobs that ended"))
    assert {tuple(metric[:2]) for metric in ended["metrics"]} <= counted


@pytest.mark.parametrize("stack", MANAGED_ON_GOOGLE)
def test_on_google_cloud_it_shows_jobs_and_gpus_and_says_where_the_money_is(rehearsed: Any, stack: str) -> None:
    board = json.loads(the(rehearsed, stack, "gcp:monitoring/dashboard:Dashboard").inputs["dashboardJson"])
    layout = board["mosaicLayout"]
    places = [(one["xPos"], one["yPos"], one["width"], one["height"]) for one in layout["tiles"]]
    assert apart(places, layout["columns"])
    asked = [
        series["timeSeriesQuery"]["timeSeriesFilter"]["filter"]
        for tile in layout["tiles"]
        for series in tile["widget"].get("xyChart", {}).get("dataSets", ())
    ]
    assert all('resource.type="cloudml_job"' in one for one in asked)
    metrics = {one.partition('metric.type="ml.googleapis.com/training/')[2].partition('"')[0] for one in asked}
    assert "accelerator/utilization" in metrics and metrics <= set(TRAINING)
    (money,) = (tile["widget"]["text"]["content"] for tile in layout["tiles"] if "text" in tile["widget"])
    budget = the(rehearsed, stack, "gcp:billing/budget:Budget")
    assert f"`{budget.inputs['displayName']}`" in money
