"""The list of fields that DCGM's exporter is given: a line that it does not read ends it on every node.

Sources: NVIDIA/dcgm-exporter `internal/pkg/counters` (three values a line, a field of DCGM or one of its own, a type of
Prometheus) and the fields of NVIDIA/go-dcgm (`works/inventories/dcgm_fields.json`), 2026-11.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show

_AT: Final = {"dcgm-exporter": "values.customMetrics", "gpu-operator": "values.dcgmExporter.config.data"}
_OWN: Final = ("DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_GPU_HEALTH_STATUS",
               "DCGM_EXP_P2P_STATUS")  # fmt: skip
_KINDS: Final = ("gauge", "counter", "histogram", "summary", "label")


@cache
def _fields() -> frozenset[str]:
    text = files("trainyard.rehearsal.works.inventories").joinpath("dcgm_fields.json").read_text()
    return frozenset(json.loads(text)["fields"])


def check_counters(release: View, chart: str) -> None:
    """Every line of the list that a release gives the exporter."""
    path = _AT.get(chart)
    text = release.text(path) if path is not None else None
    if path is None or not text:
        return
    lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    try:
        rows = list(csv.reader(lines))
    except csv.Error:  # a value beyond what Python reads
        return
    for line, row in zip(lines, rows, strict=False):
        values = [value.strip(" ") for value in row]
        if len(values) != 3:
            release.error(
                "charts-counters", path, f"{show(line[:60])} has {len(values)} values: the exporter ends",
                allowed="three: a field, a type, and a text, in quotation marks where it holds a comma",
            )  # fmt: skip
            return  # each further line may follow from a quotation mark
        field, kind, _ = values
        if kind not in _KINDS and field not in _OWN:
            release.error(
                "charts-counters", path, f"{field} is of type {show(kind)}: the exporter ends",
                allowed=f"one of {', '.join(_KINDS)}", hint=nearest(kind, _KINDS),
            )  # fmt: skip
        if field not in _fields() and field not in _OWN:
            hint = nearest(field, [*_OWN, *_fields()], cutoff=0.85)
            # A newer DCGM has newer fields.
            note = release.error if hint else release.warning
            note("charts-counters", path, f"DCGM has no field {field}: the exporter ends", hint=hint)
