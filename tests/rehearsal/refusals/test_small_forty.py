"""Forty wrong values in managed training of each cloud: how many are told, and that the sound stack has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pulumi_aws.sagemaker import Domain, UserProfile
from pulumi_gcp.colab import RuntimeTemplate
from pulumi_gcp.compute import Subnetwork

from tests.rehearsal.refusals import small_forty, small_gcp_forty
from tests.rehearsal.refusals.test_gcp_mistakes import changed, label
from trainyard.recorded.model import Finding
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.works.check import check_works

CONTEXTS = {"small-aws": ValueContext("1.35", "us-east-1"), "small-gcp": ValueContext("1.35", "us-central1")}
LISTS = {"small-aws": small_forty, "small-gcp": small_gcp_forty}
CLASSES = {
    "aws:sagemaker/userProfile:UserProfile": UserProfile,
    "aws:sagemaker/domain:Domain": Domain,
    "gcp:colab/runtimeTemplate:RuntimeTemplate": RuntimeTemplate,
    "gcp:compute/subnetwork:Subnetwork": Subnetwork,
}
"""Of the resources that lack an input which their kind has to have, or have one of another kind."""
ROWS = [(stack, row) for stack, listed in LISTS.items() for row in listed.FORTY]


def findings(stack: str, resources: list[Any]) -> Iterator[Finding]:
    yield from check_schema(resources, CLASSES)
    yield from check_values(resources, CONTEXTS[stack])
    yield from check_works(resources, CONTEXTS[stack])


@pytest.mark.parametrize("stack", LISTS)
def test_the_stack_is_right(rehearsed: Any, stack: str) -> None:
    assert [str(finding) for finding in findings(stack, list(rehearsed(stack).resources))] == []


@pytest.mark.parametrize(("stack", "row"), ROWS, ids=[f"{stack}-{label(row)}" for stack, row in ROWS])
def test_a_wrong_value_is_told_where_anybody_can_know(rehearsed: Any, stack: str, row: tuple[str, str, Any]) -> None:
    told = next(findings(stack, changed(list(rehearsed(stack).resources), *row)), None)
    assert (told is not None) != (row[:2] in LISTS[stack].WHY), str(told)


@pytest.mark.parametrize("stack", LISTS)
def test_most_of_forty_are_told(stack: str) -> None:
    forty = LISTS[stack].FORTY
    assert len({(row[0], row[1], str(row[2])) for row in forty}) == 40
    assert len(forty) - len(LISTS[stack].WHY) >= 34
