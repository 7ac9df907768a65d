"""`explain STACK rights`: needs with what decides, and roles with who takes them."""

from __future__ import annotations

import pytest

from tests.conftest import EKS, GKE, MANAGED
from trainyard.recorded.resources import Resources
from trainyard.review.works.topics import tables_of


@pytest.mark.parametrize("stack", (*EKS, *MANAGED))
def test_every_need_of_an_example_is_met(rehearsed, stack):
    needs, _ = tables_of("rights", Resources(rehearsed(stack).resources))
    answers = {row[4] for row in needs.rows}
    assert "no" not in answers
    assert len([row for row in needs.rows if row[4] == "yes"]) > (50 if stack in EKS else 20)


def test_a_need_says_who_what_and_which_statement(rehearsed):
    needs, _ = tables_of("rights", Resources(rehearsed("demo").resources))
    row = next(row for row in needs.about("mlflow/mlflow").rows if row[2] == "s3:PutObject")
    assert row[0] == "Deployment mlflow/mlflow, as mlflow/mlflow"
    assert row[4] == "yes"
    assert "statement Artifacts of the policy mlflow-role-policy" in row[5]


def test_a_role_says_who_takes_it(rehearsed):
    _, roles = tables_of("rights", Resources(rehearsed("demo").resources))
    rows = roles.about("team-vision-role").rows
    assert {row[1:3] for row in rows} == {("pods.eks.amazonaws.com", "team-vision/trainer")}
    assert any("s3:PutObject" in row[4] for row in rows)


@pytest.mark.parametrize("stack", GKE)
def test_every_need_on_google_cloud_is_met_and_every_grant_is_told(rehearsed, stack):
    needs, grants = tables_of("rights", Resources(rehearsed(stack).resources))
    assert {row[4] for row in needs.rows} == {"yes"}
    assert len(needs.rows) > 30
    assert ("pods of mlflow/mlflow", "roles/storage.objectUser") in {row[:2] for row in grants.rows}
