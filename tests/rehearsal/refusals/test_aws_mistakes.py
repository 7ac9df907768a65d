"""Every seeded mistake of an AWS value is caught with its rule and path; the good stack has no finding."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.aws_mistakes import GOOD_CHANGES, MISTAKES
from tests.rehearsal.refusals.builders import DROP, changed, findings
from tests.rehearsal.refusals.good_aws import AWS


def _label(row: tuple[str, str, Any, str, str]) -> str:
    value = "absent" if row[2] is DROP else str(row[2])[:30]
    return f"{row[0]}-{row[1]}-{value}"


def test_the_good_stack_has_no_finding() -> None:
    assert [str(finding) for finding in findings(AWS)] == []


@pytest.mark.parametrize("row", GOOD_CHANGES, ids=_label)
def test_a_good_change_has_no_finding(row: tuple[str, str, Any, str, str]) -> None:
    assert [str(finding) for finding in findings(changed(AWS, row[0], row[1], row[2]))] == []


@pytest.mark.parametrize("row", MISTAKES, ids=_label)
def test_a_mistake_is_caught(row: tuple[str, str, Any, str, str]) -> None:
    name, path, value, rule, where = row
    found = findings(changed(AWS, name, path, value))
    assert (rule, where or path) in [(finding.rule, finding.path) for finding in found], [str(item) for item in found]
    assert all(finding.allowed or finding.hint or finding.message for finding in found)


def test_a_placement_group_beside_a_reservation_is_a_risk_and_no_refusal() -> None:
    beside = changed(AWS, "train-template", "placement", {"groupName": "together-id"})
    assert [finding.level for finding in findings(beside)] == ["warning"]
    spread = changed(beside, "together", "strategy", "spread")
    assert "placement-reservation" not in {finding.rule for finding in findings(spread)}
