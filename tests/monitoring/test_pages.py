"""Every alert has a runbook, which is linked, true and whole."""

from __future__ import annotations

import re

import pytest
import typer

from tests.monitoring.promtool import NAMESPACES, RULES
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.monitoring.alerts import all_alerts
from trainyard.monitoring.model import Alert, page_name
from trainyard.monitoring.pages import runbook_page
from trainyard.monitoring.thresholds import Thresholds

ALERTS = all_alerts(Thresholds(), NAMESPACES)
each = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)


@each
def test_an_alert_has_its_page_and_links_it(alert: Alert) -> None:
    page = ROOT / "docs" / "runbooks" / page_name(alert.name)
    assert page.is_file()
    rule = next(rule for group in RULES["groups"] for rule in group["rules"] if rule.get("alert") == alert.name)
    assert rule["annotations"]["runbook_url"] == f"https://example.com/runbooks/{page.name}"
    assert rule["annotations"]["summary"] and rule["annotations"]["description"]


@each
def test_a_runbook_says_what_it_means_how_to_see_and_what_to_do(alert: Alert) -> None:
    assert alert.runbook.means.endswith(".")
    assert alert.runbook.see and alert.runbook.act
    text = runbook_page(alert)
    assert "## How to see it" in text and "## What to do" in text and alert.expr in text


@each
def test_commands_of_ours_exist(alert: Alert) -> None:
    verbs = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    text = runbook_page(alert)
    assert set(re.findall(r"`trainyard ([a-z-]+)", text)) <= verbs


def test_names_of_files() -> None:
    assert page_name("GpuNvlinkError") == "gpu-nvlink-error.md"
