"""What is told of flows: every need with its answer, and who reaches whom."""

from __future__ import annotations

from tests.conftest import WHOLE
from tests.rehearsal.works.mistakes_flows import MISTAKES
from trainyard.recorded.resources import Resources
from trainyard.review.works.flows import tables


def test_every_needed_flow_of_an_example_is_open_and_says_by_what(rehearsed):
    needed, reached = tables(Resources(rehearsed(WHOLE).resources))
    assert {row[4] for row in needed.rows} == {"yes"}
    assert all(row[5] for row in needed.rows)
    assert {"names", "api", "webhooks", "database", "ranks", "lustre", "identity"} <= {row[0] for row in needed.rows}
    (row,) = [row for row in reached.rows if row[:2] == ("pods of team vision", "mlflow/mlflow")]
    assert row[2] == "TCP 5000"
    assert "team-vision/allow-mlflow" in row[3]


def test_a_flow_that_is_shut_is_told_as_such(rehearsed):
    (mistake,) = [one for one in MISTAKES if one.name == "database-port-typo"]
    needed, _ = tables(Resources(mistake.change(rehearsed("demo").resources)))
    assert [row[:5] for row in needed.rows if row[4] == "no"] == [
        ("database", "mlflow/mlflow", "database acme-demo-mlflow", "TCP 5432", "no")
    ]


def test_teams_are_not_told_to_reach_each_other(rehearsed):
    _, reached = tables(Resources(rehearsed("demo").resources))
    assert not [row for row in reached.rows if row[0].startswith("pods of team") and row[1].startswith("pods of team")]
