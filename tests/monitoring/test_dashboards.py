"""Dashboards: what Grafana reads, and that every expression is one."""

from __future__ import annotations

import json
import re

import pytest

from tests.monitoring.promtool import NAMESPACES, RULES, check_rules, needs_promtool
from trainyard.monitoring import names
from trainyard.monitoring.alerts import all_alerts
from trainyard.monitoring.dashboards.boards import DASHBOARDS, UIDS, dashboards
from trainyard.monitoring.dashboards.model import COLUMNS, Dashboard
from trainyard.monitoring.dashboards.render import as_dict, as_json
from trainyard.monitoring.recordings import SUCCESS, Money
from trainyard.monitoring.rules import rules
from trainyard.monitoring.thresholds import Thresholds

OF_CHIPS = rules(Thresholds(), namespaces=NAMESPACES, members={}, runbooks="r", money=Money(chips=True))
WITH_CHIPS = [board for board in dashboards(chips=True) if board not in DASHBOARDS]
each = pytest.mark.parametrize(
    "board",
    (*DASHBOARDS, *WITH_CHIPS),
    ids=[*(board.uid for board in DASHBOARDS), *(f"{board.uid} with chips" for board in WITH_CHIPS)],
)


def expressions(board: Dashboard) -> list[str]:
    return [query.expr for row in board.rows for panel in row.panels for query in panel.queries]


@needs_promtool
@each
def test_promtool_takes_every_expression(board: Dashboard, tmp_path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": re.sub(r"\$\w+", "vision", expr)}
        for number, expr in enumerate(expressions(board))
    ]
    assert check_rules({"groups": [{"name": "panels", "rules": rules}]}, tmp_path) == ""


@each
def test_every_recorded_figure_is_recorded(board: Dashboard) -> None:
    made = OF_CHIPS if board in WITH_CHIPS else RULES
    recorded = {rule["record"] for group in made["groups"] for rule in group["rules"] if "record" in rule}
    used = {name for expr in expressions(board) for name in re.findall(r"trainyard:[\w:]+", expr)}
    assert used <= recorded


@each
def test_variables_are_those_of_the_page(board: Dashboard) -> None:
    used = {name for expr in expressions(board) for name in re.findall(r"\$(\w+)", expr)}
    assert used == {variable.name for variable in board.variables}


@each
def test_panels_lie_side_by_side_and_never_on_one_another(board: Dashboard) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in as_dict(board)["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= COLUMNS
        taken |= cells


@each
def test_grafana_reads_it(board: Dashboard) -> None:
    page = json.loads(as_json(board))
    assert len(page["uid"]) <= 40 and page["title"] and "id" not in page and "__inputs" not in page
    assert len(as_json(board).encode()) < 1 << 20
    identities = [panel["id"] for panel in page["panels"]]
    assert len(identities) == len(set(identities))
    for panel in page["panels"]:
        assert panel["type"] in ("row", "stat", "timeseries", "bargauge", "table")
        assert panel["title"] and all(target["expr"] and target["refId"] for target in panel.get("targets", ()))


def test_a_stack_without_slices_has_no_panel_of_chips() -> None:
    assert "chips" not in "".join(as_json(board).lower() for board in DASHBOARDS)
    assert [board.uid for board in WITH_CHIPS] == ["trainyard-team", "trainyard-pools", "trainyard-cost"]
    for board in WITH_CHIPS:
        assert "chips" in as_json(board)


def test_every_target_is_a_line() -> None:
    page = as_dict(DASHBOARDS[0])
    lines = {
        panel["title"]: panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"]
        for panel in page["panels"]
        if panel["type"] == "timeseries"
    }
    assert lines == {target.title: target.value for target in SUCCESS}


def test_the_colour_is_green_on_the_right_side() -> None:
    page = as_dict(DASHBOARDS[0])
    shown = {
        panel["title"]: [step["color"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]
        for panel in page["panels"]
        if panel["type"] == "stat"
    }
    assert shown["GPU utilisation"] == ["red", "green"]
    assert shown["Queue wait, production"] == ["green", "red"]


def test_uids_are_there_once_and_alerts_have_other_names() -> None:
    assert sorted(board.uid for board in DASHBOARDS) == sorted(UIDS)
    assert not {alert.name for alert in all_alerts(Thresholds(), NAMESPACES)} & set(UIDS)
    assert names.UTILISATION in expressions(DASHBOARDS[0])
