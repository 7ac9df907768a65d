"""The thirteenth set of mistakes of Google Cloud, with the tenth of clusters, and what is right beside their rules.

Told at first sight: 86 of 96 that are refused, 42 of 46 that are taken and never work; eight more the settings refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_gcp_thirteenth as gcp
from tests.rehearsal.works import mistakes_k8s_tenth as k8s
from tests.rehearsal.works.mistakes import DROP, Change, Mistake, context_of, edit, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_twelfth import ALERT, BUDGET, DEMO, EU, LARGE, METRIC, SMALL
from tests.rehearsal.works.test_gcp_twelfth_set import says
from trainyard.rehearsal.rehearse import Rehearsal

EVERY: Final = (*gcp.REFUSED, *gcp.SILENT, *k8s.REFUSED, *k8s.SILENT)


@pytest.mark.parametrize("mistake", EVERY, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed: Callable[[str], Rehearsal], mistake: Mistake) -> None:
    assert says(rehearsed(mistake.stack), mistake.change, str(mistake.rule))


@pytest.mark.parametrize("right", (*gcp.HEALTHY, *k8s.HEALTHY), ids=lambda right: right.name)
def test_what_is_uncommon_and_right_passes(rehearsed: Callable[[str], Rehearsal], right: Mistake) -> None:
    rehearsal = rehearsed(right.stack)
    changed = right.change(list(rehearsal.known.resources))
    told = one_by_one(changed, replace(context_of(rehearsal), ours=True), values=True)
    assert not [finding for findings in told for finding in findings if finding.level == "error"]


def board(**body: Any) -> Change:
    """The dashboard as something else."""
    return edit(gcp.BOARD, "managed-jobs-dashboard", put("dashboardJson", json.dumps(body)))


def current(inputs: dict[str, Any]) -> None:
    """Leaves the thresholds of what is spent."""
    inputs["thresholdRules"] = [one for one in inputs["thresholdRules"] if one["spendBasis"] == "CURRENT_SPEND"]


def lasting(inputs: dict[str, Any]) -> None:
    """The amount of the period before."""
    inputs["amount"] = {"lastPeriodAmount": True}


TEXT: Final = {"text": {"content": "a", "format": "MARKDOWN"}}
SINK: Final = "gcp:logging/projectSink:ProjectSink"
LINES: Final = "conditions[0].conditionMatchedLog.filter"
BESIDE: Final = {
    "year-without-forecast": (DEMO, gcp.of_year(current), "gcp-budget", False),
    "year-as-the-last": (DEMO, gcp.of_year(current, lasting), "gcp-budget", True),
    "month-as-the-last": (DEMO, edit(BUDGET, "budget-budget", lasting), "gcp-budget", False),
    "moment-on-the-left": (DEMO, gcp.until(f'"{gcp.UNTIL}" > request.time'), "gcp-condition", True),
    "hours-as-a-text": (DEMO, gcp.until('request.time.getHours("Europe/Berlin") < "20"'), "gcp-condition", True),
    "a-name-and-a-moment": (
        DEMO, gcp.until(f'resource.name == "a" && request.time < timestamp("{gcp.UNTIL}")'), "gcp-condition", False,
    ),
    "t2d-together": (DEMO, gcp.together("cluster-cpu", "t2d-standard-8"), "gke-compact", True),
    "n2-together": (DEMO, gcp.together("cluster-cpu", "n2-standard-8"), "gke-compact", False),
    "delta-of-a-count": (DEMO, gcp.aligned("alert-policies-alerts", "ALIGN_DELTA"), "programs-aligner", False),
    "percentile-of-a-count": (
        DEMO, gcp.aligned("alert-policies-alerts", "ALIGN_PERCENTILE_99"), "programs-aligner", True,
    ),
    "metric-by-default": (
        DEMO, edit(METRIC, "alert-metrics-watchdog", put("metricDescriptor", DROP)), "programs-aligner", False,
    ),
    "sink-left-open": (LARGE, edit(SINK, "record-sink", put("filter", '(severity>="ERROR"')), "gcp-log-filter", True),
    "sink-excludes-badly": (
        LARGE,
        edit(SINK, "record-sink", put("exclusions", [{"name": "a", "filter": "severity=ERROR and x"}])),
        "gcp-log-filter",
        True,
    ),
    "alert-in-small-letters": (
        EU, edit(ALERT, "record-alarms-keys", put(LINES, 'log_id("a") and severity=ERROR')), "gcp-log-filter", True,
    ),
    "comment-in-small-letters": (
        EU,
        edit(ALERT, "record-alarms-keys", put(LINES, 'log_id("a") -- this and "that\nAND severity=ERROR')),
        "gcp-log-filter",
        False,
    ),
    "dashes-in-a-name": (
        EU,
        edit(ALERT, "record-alarms-keys", put(LINES, "(resource.labels.cluster_name=my--cluster) AND severity=ERROR")),
        "gcp-log-filter",
        False,
    ),
    "no-json": (
        SMALL,
        edit(gcp.BOARD, "managed-jobs-dashboard", put("dashboardJson", "{displayName: a}")),
        "gcp-dashboard",
        True,
    ),
    "two-layouts": (
        SMALL,
        board(displayName="a", gridLayout={"widgets": []}, mosaicLayout={"columns": 12, "tiles": []}),
        "gcp-dashboard",
        True,
    ),
    "sixty-columns": (SMALL, board(displayName="a", mosaicLayout={"columns": 60, "tiles": []}), "gcp-dashboard", True),
    "two-contents": (
        SMALL, board(displayName="a", gridLayout={"widgets": [{**TEXT, "blank": {}}]}), "gcp-dashboard", True,
    ),
    "rows": (
        SMALL, board(displayName="a", rowLayout={"rows": [{"weight": "1", "widgets": [TEXT]}]}), "gcp-dashboard", False,
    ),
    "jobs-without-a-role": (k8s.AWS, edit(k8s.RUNTIME, "runtimes-torch", k8s.run_as("default")), "rights-volume", True),
    "files-of-root-to-read": (
        DEMO, k8s.owned("uid=0", "gid=0", "file-mode=644", "dir-mode=755"), "programs-mount-owner", True,
    ),
    "files-for-all": (
        DEMO, k8s.owned("uid=0", "gid=0", "file-mode=666", "dir-mode=777"), "programs-mount-owner", False,
    ),
    "files-of-fs-group": (
        DEMO, k8s.owned("uid=0", "gid=10001", "file-mode=660", "dir-mode=770"), "programs-mount-owner", False,
    ),
    "modes-of-the-driver": (DEMO, k8s.owned("uid=0"), "programs-mount-owner", False),
    "modes-that-are-none": (DEMO, k8s.owned("uid=0", "file-mode=888"), "programs-mount-owner", False),
    "days-of-images": (SMALL, gcp.cleaned("30d"), "gcp-form", False),
    "whole-quota": (LARGE, k8s.first_quota("64"), "kueue-quota", False),
    "a-figure-of-others": (DEMO, k8s.idle("expr", "DCGM_FI_DEV_SOMETHING_NEW == 0"), "watching-metric", False),
    "a-figure-cut-short": (DEMO, k8s.idle("expr", "DCGM_FI_DEV_POW_USAGE == 0"), "watching-metric", True),
    "a-service-of-google": (
        EU,
        edit("gcp:projects/service:Service", "services-container", put("service", "gkebackup.googleapis.com")),
        "gcp-service",
        False,
    ),
    "jobs-as-others": (DEMO, edit(k8s.RUNTIME, "runtimes-torch", k8s.run_as("ingest")), "rights-volume", True),
}  # fmt: skip
"""What is done otherwise, with its stack, the rule that it is judged by, and whether that tells it."""


@pytest.mark.parametrize("name", BESIDE)
def test_beside_the_rules(rehearsed: Callable[[str], Rehearsal], name: str) -> None:
    stack, change, rule, is_wrong = BESIDE[name]
    assert says(rehearsed(stack), change, rule) is is_wrong
