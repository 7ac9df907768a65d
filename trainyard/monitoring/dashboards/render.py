"""A dashboard as Grafana's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.monitoring.dashboards.model import COLUMNS, Dashboard, Panel, Variable

SCHEMA_VERSION = 41
DATASOURCE = {"type": "prometheus", "uid": "prometheus"}
"""The data source that kube-prometheus-stack gives Grafana."""
FOLDER = "Training"
_GREEN, _RED, _NEUTRAL = "green", "red", "blue"


@lru_cache(maxsize=64)
def as_json(dashboard: Dashboard) -> str:
    """The text of the file that Grafana's sidecar reads, written once a process: clients alike have the same."""
    return json.dumps(as_dict(dashboard), ensure_ascii=False, indent=1) + "\n"


def as_dict(dashboard: Dashboard) -> dict[str, Any]:
    """The same as data."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.what,
        "tags": ["trainyard"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": f"now-{dashboard.days}d", "to": "now"},
        "templating": {"list": [_variable(variable) for variable in dashboard.variables]},
        "links": [
            {
                "type": "dashboards",
                "title": "Trainyard",
                "tags": ["trainyard"],
                "asDropdown": True,
                "keepTime": True,
                "includeVars": True,
            }
        ],
        "panels": list(_panels(dashboard)),
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    """Panels from left to right, a new line where a panel does not fit any more."""
    number, top = 0, 0
    for row in dashboard.rows:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": top},
            "panels": [],
        }
        top, left, tallest = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            yield _panel(panel, number, {"h": panel.height, "w": panel.width, "x": left, "y": top})
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    instant = panel.kind != "timeseries"
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.what,
        "gridPos": place,
        "datasource": DATASOURCE,
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
                "instant": instant,
                "range": not instant,
                **({"format": "table"} if panel.kind == "table" else {}),
            }
            for index, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _field(panel), "overrides": []},
        "options": _options(panel),
    }


def _field(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": _NEUTRAL, "value": None}]
    if panel.target is not None:
        below, above = (_RED, _GREEN) if panel.more_is_better else (_GREEN, _RED)
        steps = [{"color": below, "value": None}, {"color": above, "value": panel.target}]
    field: dict[str, Any] = {
        "unit": panel.unit,
        "thresholds": {"mode": "absolute", "steps": steps},
        "color": {"mode": "palette-classic" if panel.kind == "timeseries" else "thresholds"},
        "noValue": "no figure",
    }
    if panel.unit != "none" or panel.highest is not None:
        field["min"] = 0
    if panel.highest is not None:
        field["max"] = panel.highest
    if panel.kind == "timeseries":
        field["custom"] = {
            "drawStyle": "line",
            "lineWidth": 2,
            "fillOpacity": 30 if panel.stacked else 8,
            "showPoints": "never",
            "spanNulls": False,
            "stacking": {"mode": "normal" if panel.stacked else "none"},
            "thresholdsStyle": {"mode": "dashed" if panel.target is not None else "off"},
        }
    return field


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind == "timeseries":
        return {
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "mean"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    if panel.kind == "table":
        return {"showHeader": True, "cellHeight": "sm"}
    shown: dict[str, Any] = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
    if panel.kind == "bargauge":
        return {**shown, "displayMode": "gradient", "orientation": "horizontal", "showUnfilled": True}
    return {**shown, "colorMode": "background", "graphMode": "area", "textMode": "auto"}


def _variable(variable: Variable) -> dict[str, Any]:
    query = f"label_values({variable.series}, {variable.label})"
    return {
        "name": variable.name,
        "label": variable.title,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": "variable"},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": False,
        "includeAll": False,
    }
