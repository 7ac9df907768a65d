"""Dashboards that Grafana does not take or whose panels stay empty: variables of nobody, and a uid of two.

Source: Grafana documentation, "Variables" (what begins with `__` is global), "Provision Grafana" (a dashboard that is
provided has no inputs that somebody fills in) and its API, "Dashboard" (a uid has at most 40 characters), as generally
known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching.dashboards import dashboards, read

_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::\w+)?\}|([A-Za-z_]\w*))|\[\[([A-Za-z_]\w*)(?::\w+)?\]\]")
_INFLUXQL: Final = re.compile(r"^\s*SELECT\b.*\$timeFilter\b", re.I | re.S)
_OF_INFLUXQL: Final = frozenset({"timeFilter", "interval"})
"""What Grafana fills in itself where it asks InfluxDB."""
_WITH_GRAFANA: Final = ("grafana", "kube-prometheus-stack")
"""How the charts' names end that bring one."""
_LONGEST_UID: Final = 40
_QUERIES: Final = ("expr", "query", "definition", "rawSql", "target")


def check_panels(cluster: Cluster) -> None:
    """Every dashboard of the stack."""
    owners: dict[str, tuple[View, str]] = {}
    alone = len([one for one in cluster.releases if (one.text("chart") or "").endswith(_WITH_GRAFANA)]) < 2
    for view, path, text in dashboards(cluster):
        board = read(text)
        if isinstance(board, dict) and isinstance(board.get("panels"), list):
            _uid(view, path, board, owners, alone=alone)
            _variables(view, path, board)


def _uid(view: View, path: str, board: Mapping[str, Any], owners: dict[str, tuple[View, str]], *, alone: bool) -> None:
    """A uid that Grafana takes, of one dashboard; where there are several Grafanas, each may have its own of it."""
    uid = board.get("uid")
    if not isinstance(uid, str) or not uid:
        return
    if len(uid) > _LONGEST_UID:
        view.error("watching-dashboard", path, f"has the uid {show(uid)}", allowed=f"at most {_LONGEST_UID} characters")
    other, where = owners.setdefault(uid, (view, path))
    if (other, where) != (view, path):
        tell = view.error if alone else view.warning
        tell(
            "watching-dashboard", path, f"has the uid {show(uid)} of {other.name}: Grafana keeps one of the two, and "
            "refuses the other at each turn", allowed="a uid of its own",
        )  # fmt: skip


def _variables(view: View, path: str, board: Mapping[str, Any]) -> None:
    templating = board.get("templating")
    entries = listed(templating.get("list")) if isinstance(templating, Mapping) else []
    names = {str(one.get("name")) for one in entries if isinstance(one, Mapping)}
    told: set[str] = set()
    for text in _asked(board):
        known = set(re.findall(r"\?P?<(\w+)>", text)) | (_OF_INFLUXQL if _INFLUXQL.search(text) else set())
        for found in _VARIABLE.finditer(text):
            name = next(filter(None, found.groups()))
            if name.startswith("__") or name in names | known | told:
                continue
            told.add(name)
            view.error(
                "watching-dashboard", path, f"asks by the variable {show(name)}, which the dashboard has not: it is "
                "asked for these very characters", allowed=f"one of {', '.join(sorted(names))}" if names else "",
                hint=nearest(name, names),
            )  # fmt: skip


def _asked(value: Any) -> Iterator[str]:
    """What panels and variables ask, and of which source."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and key in _QUERIES:
                yield item
            elif key == "datasource" and isinstance(item, (str, Mapping)):
                uid = item.get("uid") if isinstance(item, Mapping) else item
                if isinstance(uid, str):
                    yield uid
            else:
                yield from _asked(item)
    elif isinstance(value, list):
        for item in value:
            yield from _asked(item)
