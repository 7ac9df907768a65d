"""Layouts of a dashboard of Cloud Monitoring: tiles lie within its columns, and one layout and one content are given.

Source: Cloud Monitoring API v1, `MosaicLayout` and `Tile` ("must be contained within the specified number of columns";
1 to 48 columns; no position is negative, no tile is narrower than 1), the unions `Dashboard.layout` and
`Widget.content`: discovery document of google-api-python-client 2.202.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from trainyard.recorded.types import GCP_DASHBOARD
from trainyard.rehearsal.context import View, expand, listed
from trainyard.rehearsal.refusals.rules import Rules

_BODY: Final = "dashboardJson"
_RULE: Final = "gcp-dashboard"
_LAYOUTS: Final = ("gridLayout", "mosaicLayout", "rowLayout", "columnLayout")
_CONTENTS: Final = (
    "xyChart", "scorecard", "text", "blank", "alertChart", "timeSeriesTable", "collapsibleGroup", "logsPanel",
    "incidentList", "pieChart", "errorReportingPanel", "sectionHeader", "singleViewGroup", "treemap",
)  # fmt: skip
_WIDGETS: Final = (
    "gridLayout.widgets[]", "mosaicLayout.tiles[].widget", "rowLayout.rows[].widgets[]",
    "columnLayout.columns[].widgets[]",
)  # fmt: skip
_MOST_COLUMNS: Final = 48


def board(view: View) -> None:
    """A layout that fits in its columns."""
    text = view.text(_BODY)
    try:
        body = json.loads(text) if text is not None else None
    except ValueError:
        view.error(_RULE, _BODY, "is no JSON", allowed="a dashboard as JSON")
        return
    if not isinstance(body, Mapping):
        return
    _one_of(view, _BODY, body, _LAYOUTS, "layout")
    mosaic = body.get("mosaicLayout")
    if isinstance(mosaic, Mapping):
        _tiles(view, f"{_BODY}.mosaicLayout", mosaic)
    for path, widget in _widgets(body):
        _one_of(view, path, widget, _CONTENTS, "content")


def _one_of(view: View, path: str, given: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    there = [key for key in keys if given.get(key) is not None]
    if len(there) > 1:
        view.error(_RULE, f"{path}.{there[1]}", f"beside {there[0]}", allowed=f"one {what}")


def _tiles(view: View, path: str, mosaic: Mapping[str, Any]) -> None:
    columns = mosaic.get("columns")
    if not _is_whole(columns):
        return
    if not 1 <= columns <= _MOST_COLUMNS:
        view.error(_RULE, f"{path}.columns", str(columns), allowed=f"1 to {_MOST_COLUMNS}")
        return
    for index, tile in enumerate(listed(mosaic.get("tiles"))):
        if isinstance(tile, Mapping):
            _tile(view, f"{path}.tiles[{index}]", tile, columns)


def _tile(view: View, path: str, tile: Mapping[str, Any], columns: int) -> None:
    for key in ("xPos", "yPos"):
        if _is_whole(tile.get(key)) and tile[key] < 0:
            view.error(_RULE, f"{path}.{key}", str(tile[key]), allowed="0 or more")
    across, wide = tile.get("xPos", 0), tile.get("width")
    if _is_whole(across) and _is_whole(wide) and across >= 0 and across + wide > columns:
        words = f"begins at {across} and is {wide} wide"
        view.error(_RULE, f"{path}.width", words, allowed=f"within {columns} columns")


def _widgets(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every widget of any layout, with its path."""
    for where in _WIDGETS:
        for path, widget in expand(body, where):
            if isinstance(widget, Mapping):
                yield f"{_BODY}.{path}", widget


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


RULES: Rules = {board: (GCP_DASHBOARD,)}
