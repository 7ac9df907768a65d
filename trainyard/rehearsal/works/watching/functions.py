"""Functions of PromQL over figures that they are not for: the rate of a gauge, a quantile without its bounds.

Source: Prometheus documentation, "Query functions" (`rate` "should only be used with counters"; `histogram_quantile`
needs the label `le`) and "Metric types"; which figures are gauges, from the projects' own documents: kube-state-metrics
(all but `_total`), DCGM (field identifiers), Kueue, node-exporter (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.watching.promql import closed, tokens

_RATES: Final = frozenset({"rate", "irate", "increase"})
_COUNTED: Final = ("_total", "_count", "_sum", "_bucket", "_created")
_GAUGES: Final = re.compile(
    r"up|kube_(?!state_metrics|job_status_|\w+_generation$|\w+_created$)\w+|kueue_(?:pending_workloads|admitted_active_workloads|reserving_active_workloads|"
    r"cluster_queue_\w+|local_queue_\w+|cohort_\w+)|node_(?:memory|filesystem|load|hwmon|uname|boot)\w*|"
    r"kubelet_volume_stats_\w+|container_memory_(?:usage|working_set)_bytes|container_memory_rss|machine_\w+|"
    r"DCGM_FI_DEV_(?:GPU_UTIL|MEM_COPY_UTIL|ENC_UTIL|DEC_UTIL|GPU_TEMP|MEMORY_TEMP|POWER_USAGE|FB_FREE|FB_USED|"
    r"FB_RESERVED|SM_CLOCK|MEM_CLOCK)|DCGM_FI_PROF_(?:GR_ENGINE_ACTIVE|SM_ACTIVE|SM_OCCUPANCY|PIPE_\w+_ACTIVE|"
    r"DRAM_ACTIVE)"
)
"""Figures that go up and down."""
_AGGREGATES: Final = frozenset({"sum", "avg", "max", "min"})


def misused(view: View, path: str, expression: str) -> None:
    """Notes functions whose answer means nothing."""
    if not any(name in expression for name in (*_RATES, "histogram_quantile")):
        return
    words = tokens(expression)
    for index, word in enumerate(words[:-1]):
        if words[index + 1] != "(":
            continue
        end = closed(words, index + 1)
        inner = words[index + 2 : end]
        if word in _RATES and inner and _is_gauge(inner[0]):
            view.error(
                "watching-function", path, f"asks for {word} of {inner[0]}, which goes up and down: a fall counts as "
                "a new start", allowed="delta or deriv, or avg_over_time",
            )  # fmt: skip
        elif word == "histogram_quantile" and (name := _without_bounds(inner)):
            view.error(
                "watching-function", path, f"asks for a quantile of {name}, which has no label le left: there is never "
                "an answer", allowed="by (le, …)",
            )  # fmt: skip


def _is_gauge(name: str) -> bool:
    return not name.endswith(_COUNTED) and _GAUGES.fullmatch(name) is not None


def _without_bounds(words: tuple[str, ...]) -> str:
    """The aggregation of buckets that drops their bounds; empty where they are kept or nothing is seen.

    Aggregations and their `by` are read in capitals too.
    """
    if "," not in words:
        return ""
    asked = words[words.index(",") + 1 :]
    if not asked or asked[0].lower() not in _AGGREGATES or not any(word.endswith("_bucket") for word in asked):
        return ""
    start, kind, labels = 1, "", tuple[str, ...]()
    if start < len(asked) and asked[start].lower() in ("by", "without"):
        end = closed(asked, start + 1)
        kind, labels, start = asked[start].lower(), asked[start + 2 : end], end + 1
    if start < len(asked) and asked[start] == "(":
        after = closed(asked, start) + 1
        if not kind and after < len(asked) and asked[after].lower() in ("by", "without"):
            kind, labels = asked[after].lower(), asked[after + 2 : closed(asked, after + 1)]
    kept = (kind == "by" and "le" in labels) or (kind == "without" and "le" not in labels)
    return "" if kept else f"{asked[0]}{f' {kind} ({chr(44).join(w for w in labels if w != chr(44))})' if kind else ''}"
