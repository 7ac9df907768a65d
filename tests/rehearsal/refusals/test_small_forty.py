"""Forty wrong values in managed training: how many the rehearsal tells, and that the sound stack has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pulumi_aws.sagemaker import Domain, UserProfile

from tests.rehearsal.refusals.small_forty import FORTY, WHY, Row
from tests.rehearsal.refusals.test_gcp_mistakes import changed, label
from trainyard.recorded.model import Finding
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.works.check import check_works

CONTEXT = ValueContext("1.35", "us-east-1")
CLASSES = {"aws:sagemaker/userProfile:UserProfile": UserProfile, "aws:sagemaker/domain:Domain": Domain}
"""Of the resources that lack an input which their kind has to have."""


def findings(resources: list[Any]) -> Iterator[Finding]:
    yield from check_schema(resources, CLASSES)
    yield from check_values(resources, CONTEXT)
    yield from check_works(resources, CONTEXT)


def test_the_stack_is_right(rehearsed: Any) -> None:
    assert [str(finding) for finding in findings(list(rehearsed("small-aws").resources))] == []


@pytest.mark.parametrize("row", FORTY, ids=label)
def test_a_wrong_value_is_told_where_anybody_can_know(rehearsed: Any, row: Row) -> None:
    told = list(findings(changed(list(rehearsed("small-aws").resources), *row)))
    assert bool(told) != (row[:2] in WHY), [str(finding) for finding in told]


def test_most_of_forty_are_told() -> None:
    assert len({(row[0], row[1], str(row[2])) for row in FORTY}) == 40
    assert len(FORTY) - len(WHY) >= 34
