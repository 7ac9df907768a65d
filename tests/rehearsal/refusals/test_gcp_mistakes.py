"""Mistakes in values of Google Cloud's resources are told; what is right is not."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.components.gcp.environment import REGION, recorded
from tests.rehearsal.refusals.builders import DROP, _set
from tests.rehearsal.refusals.gcp_mistakes import MISTAKES, RIGHT, Row
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.read import steps
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.gcp.generate import DATA

CONTEXT = ValueContext("1.35", REGION)


@pytest.fixture(scope="module")
def environment() -> list[RecordedResource]:
    return recorded().resources


def changed(resources: list[RecordedResource], which: str, path: str, value: Any) -> list[RecordedResource]:
    """The same with one input of one resource set to `value`, or taken away (`DROP`)."""
    kind, _, name = which.partition(":")
    found = []
    for item in resources:
        if item.type.endswith(f":{kind}") and item.name == name:
            inputs = copy.deepcopy(dict(item.inputs))
            _set(inputs, steps(path), value)
            item = replace(item, inputs=inputs)
        found.append(item)
    assert found != resources, f"{which}: {path} has that value"
    return found


def label(row: Row) -> str:
    value = "absent" if row[2] is DROP else str(row[2])[:30]
    return f"{row[0]}-{row[1]}-{value}"


@pytest.mark.parametrize("preview", [False, True])
def test_the_environment_is_right(preview: bool) -> None:
    assert [str(finding) for finding in check_values(recorded(preview=preview).resources, CONTEXT)] == []


@pytest.mark.parametrize("row", MISTAKES, ids=label)
def test_a_mistake_is_told(row: Row, environment: list[RecordedResource]) -> None:
    which, path, value, rule = row
    found = check_values(changed(environment, which, path, value), CONTEXT)
    assert rule in {finding.rule for finding in found}, [str(finding) for finding in found]


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: f"{row[0]}-{row[1]}-{str(row[2])[:30]}")
def test_what_is_right_is_not_told(row: tuple[str, str, Any], environment: list[RecordedResource]) -> None:
    assert [str(finding) for finding in check_values(changed(environment, *row), CONTEXT)] == []


BY_BEING_THERE = (
    "nodeVersion",
    "ipAllocationPolicy.clusterIpv4CidrBlock",
    "maintenancePolicy.dailyMaintenanceWindow",
    "autoscaling.minNodeCount",
)
"""Inputs that are wrong beside others, whatever they hold."""


@pytest.mark.parametrize(
    "row", [row for row in MISTAKES if row[2] is not DROP and row[1] not in BY_BEING_THERE], ids=label
)
def test_what_is_not_known_is_not_told(row: Row, environment: list[RecordedResource]) -> None:
    which, path, _, rule = row
    found = check_values(changed(environment, which, path, UNKNOWN), CONTEXT)
    assert rule not in {finding.rule for finding in found}, [str(finding) for finding in found]


def test_a_database_waits_for_its_peering(environment: list[RecordedResource]) -> None:
    early = [replace(item, dependencies=()) if item.name == "acme-demo-mlflow" else item for item in environment]
    assert "gcp-sql-peering" in {finding.rule for finding in check_values(early, CONTEXT)}


def test_the_table_says_where_it_is_from() -> None:
    content = json.loads(DATA.read_text())
    assert content["source"].startswith("discovery documents of google-api-python-client 2.")
    assert sum(map(len, content["values"].values())) > 200
